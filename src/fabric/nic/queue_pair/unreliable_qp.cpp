#include "fabric/nic/queue_pair/unreliable_qp.h"

#include <algorithm>
#include <array>

#include "base/racy_copy.h"
#include "fabric/nic/queue_pair/address.h"
#include "fabric/nic/queue_pair/pieces.h"
#include "fabric/nic/queue_pair/shared_queue.h"

namespace remora::fabric::nic {
namespace {

Completions* completions_of(CompletionQueue* queue) {
  return static_cast<Completions*>(queue);
}

// By the request, and whether the packet is its first and its last.
PacketOpcode opcode_of(Opcode opcode, bool first, bool last) {
  using enum PacketOpcode;
  const bool is_write = names_memory(opcode);
  const bool imm = has_immediate(opcode);
  constexpr std::array by_place = {
      uc_send_middle,  uc_send_middle,    uc_send_first,  uc_send_first,
      uc_send_last,    uc_send_last_imm,  uc_send_only,   uc_send_only_imm,
      uc_write_middle, uc_write_middle,   uc_write_first, uc_write_first,
      uc_write_last,   uc_write_last_imm, uc_write_only,  uc_write_only_imm,
  };
  return by_place[(is_write ? 8U : 0U) | (last ? 4U : 0U) | (first ? 2U : 0U) | (imm ? 1U : 0U)];
}

}  // namespace

UnreliableQp::UnreliableQp(Owner& owner, Engine& engine, DomainId domain,
                           const QueuePairOptions& options)
    : owner_(owner),
      engine_(engine),
      connection_{.engine = engine,
                  .domain = domain,
                  .send_completions = completions_of(options.send_queue),
                  .receive_completions = completions_of(options.receive_queue),
                  .max_pieces = options.max_pieces,
                  .max_inline_bytes = options.max_inline_bytes},
      options_(options),
      first_packet_(engine.keys.next() & sequence_mask),
      sends_(options),
      receives_(receive_queue_of(options)),
      mover_(options.log == nullptr
                 ? nullptr
                 : std::make_unique<MessageMover>(connection_, *options.log, options)),
      persist_(connection_, mover_.get(), options.max_receives),
      receiver_(connection_, receives_, persist_),
      untold_(options.told_when_persistent ? options.max_sends : 0) {}

UnreliableQp::~UnreliableQp() {
  reset();
  owner_.forget(*this);
}

QueuePairAddress UnreliableQp::address() const {
  return {connection_.number, first_packet_, engine_.wire.traits().gid};
}

// --- States ---

Status UnreliableQp::initialise() {
  if (state_ != QpState::reset) {
    return Status(Code::invalid_argument, "the queue pair is in use; reset it first");
  }
  state_ = QpState::init;
  return {};
}

Status UnreliableQp::connect(const QueuePairAddress& peer, const ConnectOptions& options) {
  if (state_ != QpState::init) {
    return Status(Code::invalid_argument, "a queue pair is connected once, after initialise");
  }
  if (!is_datagram()) {
    const std::optional<LinkId> link = engine_.wire.link_to(peer.gid);
    if (!link) {
      return Status(Code::not_found, "the wire does not reach this peer");
    }
    connection_.link = *link;
    connection_.traits = engine_.wire.traits(*link);
    connection_.max_message_bytes = message_bytes_max(connection_.traits.mtu_bytes);
    connection_.peer = peer.number;
    link_is_up_ = true;
  }
  connection_.options = options;
  next_packet_ = first_packet_;
  offset_ = 0;
  receiver_.start(peer.first_packet & sequence_mask);
  state_ = QpState::ready_to_send;
  return {};
}

void UnreliableQp::fail() {
  if (state_ != QpState::error) {
    enter_error();
  }
}

void UnreliableQp::reset() {
  later_.disarm();
  if (state_ >= QpState::ready_to_receive) {
    engine_.dma.drop(connection_.number);
  }
  sends_.clear();
  persist_.clear();
  receives_.clear();
  std::ranges::fill(untold_, Untold{});
  offset_ = 0;
  link_is_up_ = false;
  first_packet_ = engine_.keys.next() & sequence_mask;
  state_ = QpState::reset;
}

void UnreliableQp::enter_error() {
  state_ = QpState::error;
  later_.disarm();
  engine_.dma.drop(connection_.number);
  for (; !sends_.empty(); sends_.pop()) {
    push_flushed(*connection_.send_completions, sends_.front().id, sends_.front().opcode);
  }
  persist_.stop();
  for (; !receives_.empty(); receives_.pop()) {
    push_flushed(*connection_.receive_completions, receives_.front_id(), Opcode::receive);
  }
}

void UnreliableQp::push_flushed(Completions& completions, std::uint64_t id, Opcode opcode) {
  completions.push(
      {.id = id, .status = WorkStatus::flushed, .opcode = opcode, .qp = connection_.number});
}

// --- Packets ---

void UnreliableQp::handle(LinkId from, const Packet& packet, ConstBytes payload) {
  const bool is_mine = is_datagram() || from == connection_.link;
  if (state_ != QpState::ready_to_send || !is_mine) {
    ++engine_.counters.packets_dropped;
    return;
  }
  if (packet.opcode == PacketOpcode::persisted) {
    hear_persisted(from, packet.sequence);
    return;
  }
  using enum UnreliableReceiver::Verdict;
  switch (is_datagram() ? receiver_.take_datagram(from, packet, payload, options_.queue_key)
                        : receiver_.take(packet, payload)) {
    case well:
      break;
    case violated:
      owner_.violated(from);
      break;
    case failed:
      enter_error();
      break;
  }
}

// --- Posting ---

const char* UnreliableQp::why_not(const SendWork& work) const {
  if (!is_datagram()) {
    return why_not_post(work, options_);
  }
  const std::uint32_t most = std::min(datagram_bytes_max, engine_.wire.traits().links.mtu_bytes);
  if (const char* reason = why_not_post_datagram(work, options_, most)) {
    return reason;
  }
  const Address* to = engine_.addresses.find(handle_of(work.remote));
  return to == nullptr || to->domain() != connection_.domain
             ? "the domain has no such address handle; see AddressHandle::to"
             : nullptr;
}

Status UnreliableQp::post_sends(std::span<const SendWork> works) {
  if (state_ == QpState::reset || state_ == QpState::init) {
    return Status(Code::closed, "the queue pair is not connected");
  }
  Status status;
  for (const SendWork& work : works) {
    if (const char* reason = why_not(work)) {
      status = Status(Code::invalid_argument, reason);
      break;
    }
    if (state_ == QpState::error) {
      push_flushed(*connection_.send_completions, work.id, work.opcode);
      continue;
    }
    if (sends_.full()) {
      status = Status(Code::no_space, "the send queue is full; poll its completions");
      break;
    }
    ++engine_.counters.requests_by_wire;
    const std::uint64_t size = total_bytes(work.pieces);
    sends_.push(work, static_cast<std::uint32_t>(std::min<std::uint64_t>(size, UINT32_MAX)));
  }
  if (!later_.armed()) {
    transmit();
  }
  return status;
}

Status UnreliableQp::post_receive(std::span<const ReceiveWork> works) {
  if (state_ == QpState::reset) {
    return Status(Code::closed, "the queue pair is reset; initialise it first");
  }
  for (const ReceiveWork& work : works) {
    if (const char* reason = why_not_receive(work, options_)) {
      return Status(Code::invalid_argument, reason);
    }
    if (state_ == QpState::error) {
      push_flushed(*connection_.receive_completions, work.id, Opcode::receive);
    } else if (receives_.full()) {
      return Status(Code::no_space, "the receive queue is full");
    } else {
      receives_.push(work);
    }
  }
  return {};
}

// --- Sending ---

void UnreliableQp::transmit() {
  for (std::uint32_t sent = 0; state_ == QpState::ready_to_send && !sends_.empty(); ++sent) {
    if (sent == limits::unreliable_packets_per_turn) {
      engine_.runtime.run_soon(later_);
      return;
    }
    switch (send_packet()) {
      case Sent::yes:
        break;
      case Sent::no_room:
        engine_.runtime.arm(later_, engine_.now_ns() + limits::no_room_pause_ns);
        return;
      case Sent::not_now:
        engine_.runtime.arm(later_, engine_.now_ns() + limits::not_now_pause_ns);
        return;
      case Sent::ended:
        return;
    }
  }
}

// The next packet of the oldest request, which completes with its last one. Where nobody can be
// reached any more, the message is lost, as it would be on the way.
UnreliableQp::Sent UnreliableQp::send_packet() {
  const SendEntry& entry = sends_.front();
  LinkId link = connection_.link;
  std::uint32_t mtu = connection_.traits.mtu_bytes;
  bool is_reachable = link_is_up_;
  if (is_datagram()) {
    Address* const to = engine_.addresses.find(handle_of(entry.remote));
    const auto found = to == nullptr ? std::nullopt : to->link(engine_.wire);
    is_reachable = found.has_value();
    link = found.value_or(0);
    mtu = is_reachable ? engine_.wire.traits(link).mtu_bytes : 0;
  }
  // What is too long for one peer's link is lost there, and no mistake of this side.
  is_reachable = is_reachable && (!is_datagram() || entry.size_bytes <= mtu);
  if (offset_ == 0) {
    if (!is_datagram() && entry.size_bytes > connection_.max_message_bytes) {
      return fail_front(WorkStatus::local_length_error);
    }
    if (!allows_all(connection_, sends_.pieces(sends_.head()), local_read)) {
      return fail_front(WorkStatus::local_protection_error);
    }
  }
  if (!is_reachable) {
    complete_front();
    return Sent::yes;
  }
  const Packet packet = next_packet(entry, mtu);
  if (!entry.inline_data) {
    const Whereabouts answer = find_parts(connection_, sends_.pieces(sends_.head()), offset_,
                                          packet.payload_bytes, local_read, parts_);
    if (answer == Whereabouts::not_now) {
      return Sent::not_now;
    }
    if (answer == Whereabouts::refused) {
      return fail_front(WorkStatus::local_protection_error);
    }
  }
  if (!begin_data(link, entry, packet)) {
    return wait_for_room();
  }
  no_room_until_ns_ = 0;
  if (offset_ == 0) {
    engine_.wire.charge(Wire::Cost::work_request, 1);
  }
  engine_.commit(packet);
  next_packet_ = psn_add(next_packet_, 1);
  offset_ += packet.payload_bytes;
  if (row_of(packet.opcode).ends) {
    if (!untold_.empty()) {
      remember(link, packet.sequence, entry.compare);
    }
    complete_front();
  }
  return Sent::yes;
}

// A peer that takes nothing for a while loses its datagram: others wait behind it.
UnreliableQp::Sent UnreliableQp::wait_for_room() {
  if (no_room_until_ns_ == 0) {
    no_room_until_ns_ = engine_.now_ns() + limits::no_room_patience_ns;
  }
  if (!is_datagram() || engine_.now_ns() < no_room_until_ns_) {
    return Sent::no_room;
  }
  no_room_until_ns_ = 0;
  complete_front();
  return Sent::yes;
}

Packet UnreliableQp::next_packet(const SendEntry& entry, std::uint32_t mtu_bytes) const {
  const bool first = offset_ == 0;
  const bool last = entry.size_bytes - offset_ <= mtu_bytes;
  const bool imm = has_immediate(entry.opcode);
  const bool is_write = names_memory(entry.opcode);
  Packet packet;
  packet.solicited = entry.solicited && last && (imm || !is_write);
  packet.sequence = next_packet_;
  packet.immediate = imm && last ? entry.immediate : 0;
  packet.payload_bytes = std::min(mtu_bytes, entry.size_bytes - offset_);
  if (is_datagram()) {
    packet.opcode = imm ? PacketOpcode::ud_send_only_imm : PacketOpcode::ud_send_only;
    packet.queue_pair = queue_pair_of(entry.remote);
    packet.key = entry.remote.key;
    packet.message_count = connection_.number;
    return packet;
  }
  packet.opcode = opcode_of(entry.opcode, first, last);
  packet.queue_pair = connection_.peer;
  if (is_write && first) {
    packet.address = entry.remote.address;
    packet.key = entry.remote.key;
    packet.length = entry.size_bytes;
  }
  return packet;
}

// Room for this packet, with its payload from the queue, or from the parts that were found.
bool UnreliableQp::begin_data(LinkId link, const SendEntry& entry, const Packet& packet) {
  const std::span<const Bytes> found = parts_.all();
  if (!entry.inline_data && found.size() == 1 && packet.payload_bytes % 4 == 0) {
    return engine_.begin_around(link, packet, found.front());
  }
  Bytes payload;
  if (!engine_.begin(link, packet, payload)) {
    return false;
  }
  if (entry.inline_data) {
    racy_copy(payload, sends_.inline_bytes(sends_.head()).subspan(offset_, payload.size()));
  } else {
    gather(parts_, payload);
  }
  return true;
}

// The oldest that nobody has told of is forgotten.
void UnreliableQp::remember(LinkId link, PacketSequence sequence, std::uint64_t id) {
  untold_[next_untold_] = {link, sequence, id, true};
  next_untold_ = static_cast<std::uint32_t>((next_untold_ + 1) % untold_.size());
}

void UnreliableQp::hear_persisted(LinkId from, PacketSequence sequence) {
  for (Untold& untold : untold_) {
    if (untold.waits && untold.sequence == sequence && untold.link == from) {
      untold.waits = false;
      connection_.send_completions->push(
          {.id = untold.id, .opcode = Opcode::persisted, .qp = connection_.number});
      return;
    }
  }
  ++engine_.counters.packets_dropped;
}

void UnreliableQp::complete_front() {
  const SendEntry& entry = sends_.front();
  if (entry.signalled) {
    connection_.send_completions->push(
        {.id = entry.id, .opcode = entry.opcode, .qp = connection_.number});
  }
  sends_.pop();
  offset_ = 0;
}

UnreliableQp::Sent UnreliableQp::fail_front(WorkStatus status) {
  const SendEntry& entry = sends_.front();
  connection_.send_completions->push(
      {.id = entry.id, .status = status, .opcode = entry.opcode, .qp = connection_.number});
  sends_.pop();
  enter_error();
  return Sent::ended;
}

}  // namespace remora::fabric::nic
