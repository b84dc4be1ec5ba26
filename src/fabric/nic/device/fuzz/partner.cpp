#include "fabric/nic/device/fuzz/partner.h"

#include <algorithm>

#include "base/check.h"

namespace remora::fabric::nic::fuzz {

using enum PacketOpcode;

namespace {

// Numbers begin close to where they wrap.
constexpr PacketSequence first_sequence = 0xfffffc;
constexpr std::uint8_t syndrome_kind = 0xe0;

bool is_read_response(PacketOpcode opcode) {
  return opcode == read_response_first || opcode == read_response_middle ||
         opcode == read_response_last || opcode == read_response_only;
}
bool is_first(PacketOpcode opcode) {
  return opcode == send_first || opcode == send_only || opcode == send_only_imm ||
         opcode == write_first || opcode == write_only || opcode == write_only_imm;
}
bool is_last(PacketOpcode opcode) {
  return opcode == send_last || opcode == send_last_imm || opcode == send_only ||
         opcode == send_only_imm || opcode == write_last || opcode == write_last_imm ||
         opcode == write_only || opcode == write_only_imm;
}
bool is_atomic_request(PacketOpcode opcode) {
  return opcode == compare_swap || opcode == fetch_add;
}

}  // namespace

bool is_request(PacketOpcode opcode) {
  return !is_read_response(opcode) && opcode != acknowledge && opcode != atomic_acknowledge &&
         opcode != place_acknowledge;
}
bool is_send(PacketOpcode opcode) {
  return opcode == send_first || opcode == send_middle || opcode == send_last ||
         opcode == send_last_imm || opcode == send_only || opcode == send_only_imm;
}
bool is_write(PacketOpcode opcode) {
  return opcode == write_first || opcode == write_middle || opcode == write_last ||
         opcode == write_last_imm || opcode == write_only || opcode == write_only_imm;
}
bool has_immediate(PacketOpcode opcode) {
  return opcode == send_last_imm || opcode == send_only_imm || opcode == write_last_imm ||
         opcode == write_only_imm || opcode == flush_imm;
}

Partner::Partner(Ground& ground, std::unique_ptr<QueuePair> qp, const Asker& asker, QpNumber number,
                 const Gid& gid, std::uint32_t mtu_bytes)
    : ground_(ground),
      qp_(std::move(qp)),
      asker_(asker),
      number_(number),
      gid_(gid),
      mtu_bytes_(mtu_bytes) {
  reconnect();
}

void Partner::reconnect() {
  qp_->reset();
  REMORA_CHECK(qp_->initialise().ok(), "a queue pair that was reset can be initialised");
  const ConnectOptions options = {.reads_in_flight = 4, .remote_access = asker_.rights};
  REMORA_CHECK(qp_->connect({number_, first_sequence, gid_}, options).ok(), "and connected");
  before_ = expected_ = first_sequence;
  failed_ = finished_ = false;
  open_ = Open::none;
  done_ = 0;
  receives_.clear();
  answered_.clear();
}

void Partner::post_receive(std::size_t offset, std::uint32_t size_bytes, bool usable) {
  if (failed_) {
    return;
  }
  const Plot plot = usable ? plot_receiving : plot_constant;
  // In two pieces, where there is enough for two.
  const std::uint32_t first = size_bytes / 2;
  const Sge pieces[] = {ground_.piece(plot, offset, first),
                        ground_.piece(plot, offset + first, size_bytes - first)};
  const ReceiveWork work = {++posted_, pieces};
  REMORA_CHECK(qp_->post_receive(std::span(&work, 1)).ok(), "there is room for a receive");
  receives_.push_back({posted_, offset, size_bytes, usable});
}

void Partner::lose_receives() {
  for (Receive& receive : receives_) {
    receive.usable = false;
  }
}

bool Partner::learn(const std::vector<Said>& all) {
  bool learned = false;
  for (const Said& said : all) {
    Parsed parsed;
    REMORA_CHECK(parse(said, parsed), "a device says packets only");
    const Packet& packet = parsed.packet;
    if (packet.queue_pair != number_ || is_request(packet.opcode) ||
        packet.opcode == read_response_first || packet.opcode == read_response_middle) {
      continue;
    }
    const bool is_nak = packet.opcode == acknowledge && (packet.syndrome & syndrome_kind) != 0;
    const PacketSequence next = psn_add(packet.sequence, is_nak ? 0 : 1);
    const std::int32_t ahead = psn_distance(expected_, next);
    // What is answered once more tells of what has been.
    learned |= ahead >= 0;
    expected_ = ahead > 0 ? next : expected_;
  }
  return learned;
}

// --- The rules ---

// Of nothing, no region is asked for; the queue pair's right is all the same.
bool Partner::is_granted(const Packet& packet, std::uint64_t size_bytes, AccessFlags needed) const {
  return size_bytes == 0 ? (asker_.rights & needed) == needed
                         : ground_.grants(asker_, packet.key, packet.address, size_bytes, needed);
}

bool Partner::is_granted_flush(const Packet& packet) const {
  const auto asks_for = [&](FlushPlacement placement) {
    return (packet.flush_placement & static_cast<std::uint8_t>(placement)) != 0;
  };
  const AccessFlags needed =
      (asks_for(FlushPlacement::persistence) ? AccessFlags{flush_persistence} : 0) |
      (asks_for(FlushPlacement::visibility) ? AccessFlags{flush_visibility} : 0);
  return packet.flush_select == static_cast<std::uint8_t>(FlushSelect::region)
             ? ground_.grants_region(asker_, packet.key, needed)
             : is_granted(packet, packet.length, needed);
}

bool Partner::means_flush(const Packet& packet) {
  return packet.flush_placement != 0 && packet.flush_placement <= 3 && packet.flush_select <= 1;
}

// Its word needs what a WRITE and a FLUSH of it would.
bool Partner::is_granted_word(const Packet& packet, ConstBytes payload) const {
  const PlacedWord word = decode_placed_word(payload);
  return (packet.flush_placement & 2) != 0 && word.address % word_bytes == 0 &&
         ground_.grants(asker_, word.key, word.address, word_bytes,
                        AccessFlags{remote_write} | flush_persistence);
}

bool Partner::is_right(const Packet& packet, ConstBytes payload) const {
  if (open_ != Open::none || failed_ || packet.sequence != before_) {
    return false;
  }
  const bool is_aligned = packet.address % word_bytes == 0;
  switch (packet.opcode) {
    case write_only:
      return payload.size() == packet.length && packet.length <= mtu_bytes_ &&
             is_granted(packet, packet.length, remote_write);
    case read_request:
      return is_granted(packet, packet.length, remote_read);
    case compare_swap:
    case fetch_add:
      return is_aligned && is_granted(packet, word_bytes, remote_atomic);
    case atomic_write:
      return is_aligned && is_granted(packet, word_bytes, remote_write);
    case flush:
      return means_flush(packet) && is_granted_flush(packet);
    case flush_imm:
      return means_flush(packet) && is_granted_flush(packet) && !receives_.empty();
    case flush_payload:
      return means_flush(packet) && is_granted_flush(packet) && is_granted_word(packet, payload);
    default:
      return false;
  }
}

void Partner::judge(const Packet& packet, ConstBytes payload, const std::vector<Said>& all) {
  const bool right = is_right(packet, payload);
  const bool executed = expected_ != before_;
  if (executed) {
    REMORA_CHECK(!failed_ && packet.sequence == before_, "executed out of order, or after all");
    REMORA_CHECK(psn_distance(before_, expected_) == static_cast<std::int32_t>(packets_of(packet)),
                 "a request has the numbers of its packets");
    execute(packet, payload);
  } else {
    REMORA_CHECK(!right, "what is right is executed");
    const bool waits =
        (is_send(packet.opcode) || has_immediate(packet.opcode)) && receives_.empty() && !failed_;
    const unsigned transport = static_cast<unsigned>(packet.opcode) >> 5;
    const bool is_for_others =
        transport == 1 || transport == 3 || packet.opcode == PacketOpcode::persisted;
    REMORA_CHECK(failed_ || packet.sequence != before_ || waits || is_for_others ||
                     qp_->state() == QpState::error,
                 "what is refused is the end of the queue pair");
  }
  before_ = expected_;
  for (const Said& said : all) {
    Parsed parsed;
    if (parse(said, parsed) && parsed.packet.queue_pair == number_) {
      check_answer(parsed.packet, parsed.payload);
    }
  }
}

void Partner::check_answer(const Packet& packet, ConstBytes payload) {
  if (!is_read_response(packet.opcode) && packet.opcode != atomic_acknowledge) {
    REMORA_CHECK(packet.opcode == acknowledge, "nobody has asked for more than answers");
    return;
  }
  const Done* const done = find(packet.sequence);
  REMORA_CHECK(done != nullptr, "an answer to nothing that was executed");
  if (packet.opcode == atomic_acknowledge) {
    REMORA_CHECK(
        is_atomic_request(done->packet.opcode) && packet.value_before == done->value_before,
        "an atomic returns what was there before");
    return;
  }
  if (done->packet.opcode != read_request) {
    REMORA_CHECK(payload.empty(), "only a READ brings bytes");
    return;
  }
  const auto index =
      static_cast<std::uint32_t>(psn_distance(done->packet.sequence, packet.sequence));
  const std::uint32_t offset = index * mtu_bytes_;
  const std::uint32_t size_bytes = std::min(mtu_bytes_, done->packet.length - offset);
  REMORA_CHECK(payload.size() == size_bytes, "an answer is as long as was asked");
  if (size_bytes == 0) {
    return;
  }
  const std::uint64_t address = done->packet.address + offset;
  REMORA_CHECK(ground_.grants(asker_, done->packet.key, address, size_bytes, remote_read),
               "bytes were read without the right");
  REMORA_CHECK(std::ranges::equal(payload, ground_.expected(address, size_bytes)),
               "a READ brings what is there");
}

const Partner::Done* Partner::find(PacketSequence sequence) const {
  for (std::size_t i = answered_.size(); i-- > 0;) {
    const std::int32_t into = psn_distance(answered_[i].packet.sequence, sequence);
    if (into >= 0 && into < static_cast<std::int32_t>(answered_[i].packets)) {
      return &answered_[i];
    }
  }
  return nullptr;
}

std::uint32_t Partner::packets_of(const Packet& packet) const {
  return packet.opcode == read_request && packet.length != 0 ? (packet.length - 1) / mtu_bytes_ + 1
                                                             : 1;
}

// --- What was executed ---

void Partner::execute(const Packet& packet, ConstBytes payload) {
  if (is_send(packet.opcode)) {
    execute_send(packet, payload);
    return;
  }
  if (is_write(packet.opcode)) {
    execute_write(packet, payload);
    return;
  }
  REMORA_CHECK(open_ == Open::none, "a message is not interrupted");
  answered_.push_back({.packet = packet, .packets = packets_of(packet)});
  switch (packet.opcode) {
    case read_request:
      REMORA_CHECK(is_granted(packet, packet.length, remote_read), "a READ without the right");
      break;
    case flush:
    case flush_imm:
    case flush_payload:
      REMORA_CHECK(means_flush(packet), "a FLUSH that means nothing");
      REMORA_CHECK(is_granted_flush(packet), "a FLUSH without the right");
      execute_behind_flush(packet, payload);
      break;
    case compare_swap:
    case fetch_add:
    case atomic_write:
      execute_word(packet, payload);
      break;
    default:
      REMORA_CHECK(false, "nobody executes that");
  }
}

void Partner::execute_behind_flush(const Packet& packet, ConstBytes payload) {
  if (packet.opcode == flush_imm) {
    REMORA_CHECK(!receives_.empty(), "immediate data takes a receive");
    finished_ = true;
    done_ = 0;
  } else if (packet.opcode == flush_payload) {
    REMORA_CHECK(is_granted_word(packet, payload), "the word of a FLUSH without the right");
    const PlacedWord word = decode_placed_word(payload);
    store(ground_.expected(word.address, word_bytes).data(), word.value);
  }
}

void Partner::execute_send(const Packet& packet, ConstBytes payload) {
  const bool first = is_first(packet.opcode);
  REMORA_CHECK(open_ == (first ? Open::none : Open::send), "a SEND in its order");
  REMORA_CHECK(!receives_.empty(), "a SEND takes a receive");
  done_ = first ? 0 : done_;
  const Receive& receive = receives_.front();
  REMORA_CHECK(within(done_, payload.size(), receive.size_bytes), "a SEND within its receive");
  if (!payload.empty()) {
    REMORA_CHECK(receive.usable, "a SEND into memory that the device may not write");
    const std::uint64_t to = ground_.address(plot_receiving) + receive.offset + done_;
    std::ranges::copy(payload, ground_.expected(to, payload.size()).begin());
  }
  done_ += static_cast<std::uint32_t>(payload.size());
  open_ = Open::send;
  if (is_last(packet.opcode)) {
    finished_ = true;
    open_ = Open::none;
  }
}

void Partner::execute_write(const Packet& packet, ConstBytes payload) {
  const bool first = is_first(packet.opcode);
  REMORA_CHECK(open_ == (first ? Open::none : Open::write), "a WRITE in its order");
  if (first) {
    REMORA_CHECK(is_granted(packet, packet.length, remote_write), "a WRITE without the right");
    key_ = packet.key;
    address_ = packet.address;
    length_ = packet.length;
    done_ = 0;
  }
  REMORA_CHECK(within(done_, payload.size(), length_), "a WRITE within what it has named");
  if (!payload.empty()) {
    const std::uint64_t to = address_ + done_;
    REMORA_CHECK(ground_.grants(asker_, key_, to, payload.size(), remote_write),
                 "a part of a WRITE without the right");
    std::ranges::copy(payload, ground_.expected(to, payload.size()).begin());
  }
  done_ += static_cast<std::uint32_t>(payload.size());
  open_ = Open::write;
  if (is_last(packet.opcode)) {
    REMORA_CHECK(done_ == length_, "a WRITE brings all that it has named");
    if (has_immediate(packet.opcode)) {
      REMORA_CHECK(!receives_.empty(), "immediate data takes a receive");
      finished_ = true;
    }
    open_ = Open::none;
  }
}

void Partner::execute_word(const Packet& packet, ConstBytes payload) {
  const bool is_plain = packet.opcode == atomic_write;
  REMORA_CHECK(packet.address % word_bytes == 0, "an atomic on an aligned word");
  REMORA_CHECK(is_granted(packet, word_bytes, is_plain ? remote_write : remote_atomic),
               "an atomic without the right");
  std::byte* const word = ground_.expected(packet.address, word_bytes).data();
  const auto before = load<std::uint64_t>(word);
  answered_.back().value_before = before;
  if (is_plain) {
    store(word, load<std::uint64_t>(payload.data()));
  } else if (packet.opcode == fetch_add) {
    store(word, before + packet.swap_or_add);
  } else if (before == packet.compare) {
    store(word, packet.swap_or_add);
  }
}

// --- Completions ---

void Partner::take(const WorkCompletion& completion) {
  REMORA_CHECK(!receives_.empty() && receives_.front().id == completion.id,
               "receives complete in the order posted, and once");
  if (completion.status == WorkStatus::success) {
    REMORA_CHECK(std::exchange(finished_, false), "a receive without a message");
    REMORA_CHECK(completion.size_bytes == done_, "a receive tells how much came");
  } else {
    REMORA_CHECK(qp_->state() == QpState::error, "a receive that fails ends the queue pair");
  }
  receives_.pop_front();
}

void Partner::check_state() {
  REMORA_CHECK(!finished_, "a message completes its receive");
  failed_ |= qp_->state() == QpState::error;
  REMORA_CHECK(!failed_ || (qp_->state() == QpState::error && receives_.empty()),
               "a failure flushes what is queued, and lasts");
}

}  // namespace remora::fabric::nic::fuzz
