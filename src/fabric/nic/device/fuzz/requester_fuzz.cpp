// A device with requests on their way, and a peer that answers what it likes. The bytes of the
// fuzzer choose what is posted, from pieces that may be used and others; each answer begins as the
// right one, of which they then change the number, the kind, the size or the syndrome.
//
// Whatever comes, requests complete in order and once, none before it was sent, and a READ not
// before all its bytes came; memory changes only where a READ or an atomic that has not completed
// is to bring something; and only what was posted, and may be read, leaves.
#include <algorithm>
#include <deque>
#include <vector>

#include "fabric/nic/device/fuzz/ground.h"
#include "fabric/nic/device/fuzz/input.h"
#include "fabric/nic/device/fuzz/nic_fuzz.h"
#include "fabric/nic/device/fuzz/said.h"
#include "fabric/nic/device/testing/two_nics.h"
#include "fabric/posting.h"

namespace remora::fabric::nic::fuzz {
namespace {

constexpr std::uint32_t link_mtu_bytes = 32;
constexpr std::uint64_t moment_ns = 1'000;
constexpr std::uint64_t timeout_ns = 100'000;
constexpr std::size_t steps_at_most = 96;
constexpr std::uint32_t inline_bytes_at_most = 64;
constexpr std::size_t pieces_at_most = 4;
constexpr QpNumber peer_number = 0x000b01;
constexpr PacketSequence peer_first = 0x000100;

constexpr Opcode posted_opcodes[] = {Opcode::read,      Opcode::write,        Opcode::send,
                                     Opcode::fetch_add, Opcode::compare_swap, Opcode::atomic_write,
                                     Opcode::flush,     Opcode::write_imm,    Opcode::send_imm,
                                     Opcode::flush_imm, Opcode::sflush};

constexpr PacketOpcode answer_opcodes[] = {
    PacketOpcode::acknowledge,
    PacketOpcode::atomic_acknowledge,
    PacketOpcode::read_response_first,
    PacketOpcode::read_response_middle,
    PacketOpcode::read_response_last,
    PacketOpcode::read_response_only,
    PacketOpcode::send_only_invalidate,
    PacketOpcode::place_acknowledge,
    PacketOpcode::persisted,
};

// What was posted and has not completed.
struct Posted {
  std::uint64_t id = 0;
  SendWork work;
  std::vector<Sge> pieces;
  PacketSequence end = 0;
  std::uint32_t size_bytes = 0;
  bool allowed = true;  // all its pieces may be used so

  bool brings_bytes() const {
    return work.opcode == Opcode::read || work.opcode == Opcode::fetch_add ||
           work.opcode == Opcode::compare_swap || work.opcode == Opcode::sflush;
  }
};

// Whether its answer is one word.
bool brings_word(Opcode opcode) {
  return is_atomic(opcode) || opcode == Opcode::sflush;
}

// A request that the peer has got, and what it has answered of it.
struct Pending {
  Packet packet;
  PacketSequence next = 0;
  std::uint32_t packets = 1;
};

class Exchange {
 public:
  explicit Exchange(Input& input)
      : input_(input),
        traits_(input.byte()),
        options_{.mtu_bytes = link_mtu_bytes,
                 .lossless = (traits_ & 1) != 0,
                 .window_packets = (traits_ & 2) != 0 ? 8U : 0U,
                 .memory_bytes = word_bytes,
                 .pin_down_entries = limits::cache_ways},
        near_(loop_, 1, options_),
        far_(loop_, 0, link_mtu_bytes, options_.lossless),
        foreign_(near_.nic.create_domain()),
        ground_(*near_.domain, *foreign_, Granularity::cache_line),
        qp_(near_.create({.max_sends = 8,
                          .max_receives = 1,
                          .max_pieces = pieces_at_most,
                          .max_inline_bytes = inline_bytes_at_most})) {
    TestWire::join(near_.wire, far_);
    near_.wire.hold();
    connect();
  }

  void run() {
    for (std::size_t step = 0; !input_.empty() && step < steps_at_most; ++step) {
      const std::uint8_t what = input_.byte();
      const std::uint8_t choice = what >> 3;
      switch (what & 7) {
        case 0:
        case 1:
          post(choice);
          break;
        case 2:
          loop_.run_for(timeout_ns / 8 * (choice + 1U));
          break;
        case 3:
          near_.wire.set_credits((choice & 1) != 0 ? 0 : SIZE_MAX);
          break;
        case 4:
          restart(choice);
          break;
        default:
          answer(choice);
      }
      loop_.run_for(moment_ns);
      listen();
      check();
    }
  }

 private:
  void connect() {
    first_ = next_posted_ = sent_end_ = qp_->address().first_packet;
    const ConnectOptions options = {.timeout_ns = timeout_ns,
                                    .retry_count = 3,
                                    .rnr_retry = 2,
                                    .rnr_delay_ns = moment_ns,
                                    .reads_in_flight = 2};
    REMORA_CHECK(qp_->connect({peer_number, peer_first, far_.gid()}, options).ok(), "it connects");
  }

  void restart(std::uint8_t choice) {
    if ((choice & 1) != 0) {
      qp_->fail();
      return;
    }
    qp_->reset();
    posted_.clear();
    pending_.clear();
    near_.wire.drop_held();
    REMORA_CHECK(qp_->initialise().ok(), "a queue pair that was reset can be initialised");
    connect();
  }

  // --- What is posted ---

  void post(std::uint8_t choice) {
    Posted posted;
    SendWork& work = posted.work;
    const std::uint8_t flags = input_.byte();
    work.opcode = posted_opcodes[choice % std::size(posted_opcodes)];
    work.signalled = (flags & 1) == 0;
    work.fence = (flags & 2) != 0;
    work.solicited = (flags & 4) != 0;
    work.inline_data = (flags & 8) != 0;
    work.remote = {ground_.address(plot_open), ground_.key(plot_open)};
    work.flush_bytes = word_bytes;
    work.id = posted.id = ++ids_;
    // ATOMIC_WRITE and FLUSH look at none; an atomic has one.
    const bool has_many = may_span_packets(work.opcode);
    const std::size_t pieces = has_many ? 1U + (flags >> 5 & 3) : brings_word(work.opcode) ? 1 : 0;
    while (posted.pieces.size() < pieces) {
      add_piece(posted);
    }
    work.pieces = posted.pieces;
    const bool failed = qp_->state() == QpState::error;
    if (!qp_->post_send(std::span(&work, 1)).ok()) {
      return;
    }
    const bool is_one = !may_span_packets(work.opcode) || posted.size_bytes == 0;
    const std::uint32_t packets = is_one ? 1 : (posted.size_bytes - 1) / link_mtu_bytes + 1;
    if (!failed) {
      next_posted_ = psn_add(next_posted_, packets);
    }
    posted.end = next_posted_;
    posted_.push_back(std::move(posted));
  }

  void add_piece(Posted& posted) {
    const std::uint8_t where = input_.byte();
    const std::uint32_t size_bytes = brings_word(posted.work.opcode) ? word_bytes : input_.byte();
    // Without a key any memory of the process may be taken, so it is taken from here.
    const int kind = posted.work.inline_data ? 0 : where & 7;
    Sge piece;
    if (kind == 7) {
      piece = ground_.piece(plot_foreign, 0, size_bytes);
    } else if (kind == 6) {  // one byte too many, at the end
      piece =
          ground_.piece(plot_open, plot_bytes - size_bytes + (size_bytes == 0 ? 0 : 1), size_bytes);
    } else if (posted.brings_bytes() && kind != 5) {
      // Each has its place, as long as there are places.
      const bool fits = next_place_ + size_bytes <= plot_bytes;
      piece = ground_.piece(plot_receiving, fits ? next_place_ : 0, fits ? size_bytes : 0);
      next_place_ += fits ? size_bytes : 0;
    } else {
      piece = ground_.piece(plot_constant, where & 0xf8, size_bytes);
    }
    posted.allowed &= piece.size_bytes == 0 || kind < 5 || (kind == 5 && !posted.brings_bytes());
    posted.size_bytes += piece.size_bytes;
    posted.pieces.push_back(piece);
  }

  // --- What the peer answers ---

  // The right answer to the oldest request, and what becomes of it.
  void answer(std::uint8_t choice) {
    Packet packet;
    packet.opcode = PacketOpcode::acknowledge;
    packet.queue_pair = qp_->number();
    packet.sequence = first_;
    packet.syndrome = syndrome_acknowledge;
    packet.value_before = ids_ & written_mask;
    std::uint32_t size_bytes = 0;
    if (!pending_.empty()) {
      size_bytes = answer_oldest(packet, (choice & 1) != 0);
    }
    if ((choice & 2) != 0) {
      packet.sequence = psn_add(packet.sequence, static_cast<std::uint32_t>(input_.byte() - 0x80));
    }
    if ((choice & 4) != 0) {
      packet.opcode = answer_opcodes[input_.byte() % std::size(answer_opcodes)];
    }
    if ((choice & 8) != 0) {
      size_bytes = input_.byte() % (2 * link_mtu_bytes);
    }
    if ((choice & 16) != 0) {
      change(packet, input_.byte(), input_.byte());
    }
    const bool has_payload =
        packet_rows[static_cast<std::size_t>(packet.opcode)].payload != PacketPayload::none;
    std::vector<std::byte> payload(has_payload ? size_bytes : 0);
    for (std::size_t i = 0; i < payload.size(); ++i) {
      payload[i] = static_cast<std::byte>((i + ids_) & written_mask);
    }
    near_.wire.inject(encoded(packet, payload));
  }

  // How many bytes come with it.
  std::uint32_t answer_oldest(Packet& packet, bool stays) {
    using enum PacketOpcode;
    Pending& oldest = pending_.front();
    const auto index =
        static_cast<std::uint32_t>(psn_distance(oldest.packet.sequence, oldest.next));
    const bool first = index == 0;
    const bool last = index + 1 == oldest.packets;
    std::uint32_t size_bytes = 0;
    packet.sequence = oldest.next;
    switch (oldest.packet.opcode) {
      case read_request:
        packet.opcode = last ? (first ? read_response_only : read_response_last)
                             : (first ? read_response_first : read_response_middle);
        size_bytes = std::min(link_mtu_bytes, oldest.packet.length - index * link_mtu_bytes);
        break;
      case compare_swap:
      case fetch_add:
        packet.opcode = atomic_acknowledge;
        break;
      case sflush:
        packet.opcode = place_acknowledge;
        break;
      case atomic_write:
      case flush:
      case flush_imm:
        packet.opcode = read_response_only;
        break;
      default:
        break;
    }
    if (!stays) {
      oldest.next = psn_add(oldest.next, 1);
      if (last) {
        pending_.pop_front();
      }
    }
    return size_bytes;
  }

  static void change(Packet& packet, std::uint8_t how, std::uint8_t syndrome) {
    constexpr std::uint8_t syndromes[] = {
        syndrome_nak_sequence,  syndrome_nak_access, syndrome_nak_invalid_request,
        syndrome_nak_operation, syndrome_rnr | 1,    syndrome_gone,
        syndrome_asks,          syndrome_alive};
    packet.syndrome = (how & 8) != 0 ? syndrome : syndromes[how & 7];
    if ((how & 0xc0) == 0xc0) {
      packet.syndrome = syndrome_waits | 1;
    }
    if ((how & 16) != 0) {
      packet.opcode = PacketOpcode::acknowledge;
      packet.queue_pair = notice_number;
      packet.message_count = peer_number;
      packet.sequence = (how & 32) != 0 ? peer_first : packet.sequence;
    }
  }

  // --- What the device says ---

  void listen() {
    for (const Said& said : near_.wire.take_held()) {
      Parsed parsed;
      REMORA_CHECK(parse(said, parsed), "a device says packets only");
      const Packet& packet = parsed.packet;
      for (const std::byte byte : parsed.payload) {
        REMORA_CHECK(std::to_integer<std::uint8_t>(byte) < secret, "a secret got out");
      }
      if (packet.queue_pair != peer_number || packet.opcode == PacketOpcode::acknowledge) {
        continue;
      }
      const bool is_long = packet.opcode == PacketOpcode::read_request && packet.length != 0;
      const std::uint32_t packets = is_long ? (packet.length - 1) / link_mtu_bytes + 1 : 1;
      pending_.push_back({packet, packet.sequence, packets});
      const PacketSequence end = psn_add(packet.sequence, packets);
      sent_end_ = psn_distance(sent_end_, end) > 0 ? end : sent_end_;
      REMORA_CHECK(psn_distance(sent_end_, next_posted_) >= 0, "more was sent than posted");
    }
  }

  // --- What comes of it ---

  void check() {
    for (const Posted& posted : posted_) {
      if (posted.brings_bytes() && posted.allowed) {
        for (const Sge& piece : posted.pieces) {
          ground_.adopt(reinterpret_cast<std::uintptr_t>(piece.address), piece.size_bytes);
        }
      }
    }
    for (const WorkCompletion& completion : near_.sent()) {
      complete(completion);
    }
    REMORA_CHECK(near_.received().empty(), "a receive that nobody has posted");
    if (qp_->state() == QpState::error) {
      succeed_until(0);
      REMORA_CHECK(posted_.empty(), "a failure flushes all");
    }
    ground_.check();
  }

  void complete(const WorkCompletion& completion) {
    succeed_until(completion.id);
    REMORA_CHECK(!posted_.empty(), "a completion of what was not posted, or once more");
    const Posted& posted = posted_.front();
    if (completion.status == WorkStatus::success) {
      REMORA_CHECK(posted.work.signalled, "a completion that nobody asked for");
      REMORA_CHECK(completion.size_bytes == (posted.brings_bytes() ? posted.size_bytes : 0),
                   "a completion tells how much came");
      check_success(posted);
    } else {
      REMORA_CHECK(qp_->state() == QpState::error, "a failure ends the queue pair");
    }
    posted_.pop_front();
  }

  // Those before this one that nobody asked about have succeeded.
  void succeed_until(std::uint64_t id) {
    while (!posted_.empty() && posted_.front().id != id) {
      REMORA_CHECK(!posted_.front().work.signalled, "completions come in the order posted");
      check_success(posted_.front());
      posted_.pop_front();
    }
  }

  void check_success(const Posted& posted) {
    REMORA_CHECK(posted.allowed, "pieces that may not be used were used");
    REMORA_CHECK(psn_distance(posted.end, sent_end_) >= 0, "a success of what was not sent");
    for (const Sge& piece : posted.brings_bytes() ? posted.pieces : std::vector<Sge>()) {
      for (const std::byte byte : ConstBytes(piece.address, piece.size_bytes)) {
        REMORA_CHECK(std::to_integer<std::uint8_t>(byte) < secret, "a success without its bytes");
      }
    }
  }

  Input& input_;
  const std::uint8_t traits_;
  const TestOptions options_;
  VirtualLoop loop_;
  Side near_;
  TestWire far_;
  std::unique_ptr<ProtectionDomain> foreign_;
  Ground ground_;
  std::unique_ptr<QueuePair> qp_;
  PacketSequence first_ = 0;
  PacketSequence next_posted_ = 0;  // behind all that was posted
  PacketSequence sent_end_ = 0;     // behind all that was sent
  std::uint64_t ids_ = 0;
  std::size_t next_place_ = 0;
  std::deque<Posted> posted_;
  std::deque<Pending> pending_;
};

}  // namespace

int try_requester(const std::uint8_t* data, std::size_t size) {
  Input input(std::as_bytes(std::span(data, size)));
  Exchange(input).run();
  return 0;
}

}  // namespace remora::fabric::nic::fuzz

#ifdef REMORA_FUZZER
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return remora::fabric::nic::fuzz::try_requester(data, size);
}
#endif
