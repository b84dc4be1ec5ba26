#include "fabric/nic/queue_pair/requester.h"

#include "fabric/nic/queue_pair/rnr_timer.h"

namespace remora::fabric::nic {
namespace {

WorkStatus status_of(std::uint8_t syndrome) {
  switch (syndrome) {
    case syndrome_nak_invalid_request:
      return WorkStatus::remote_invalid_request;
    case syndrome_nak_access:
      return WorkStatus::remote_access_error;
    case syndrome_nak_operation:
      return WorkStatus::remote_operation_error;
    default:
      return WorkStatus::bad_response;
  }
}

// The kinds of syndrome, in its top three bits.
constexpr std::uint8_t kind_mask = 0xe0;
constexpr std::uint8_t kind_acknowledge = 0x00;
constexpr std::uint8_t code_mask = 0x1f;

}  // namespace

void Requester::start(PacketSequence first) {
  posted_ = oldest_ = next_ = newest_ = first;
  cursor_ = queue_.head();
  reads_ = unasked_ = 0;
  window_.start(connection_.traits.window_packets);
  retries_ = rnr_retries_ = 0;
  went_back_ = waits_for_flush_ = peer_gone_ = failed_ = held_ = heard_ = false;
  running_ = true;
}

void Requester::stop() {
  running_ = false;
  timeout_.disarm();
  pause_.disarm();
}

// --- Answers ---

// All packets before this one have arrived. False when an answer before it is missing.
bool Requester::acknowledge_before(PacketSequence sequence) {
  PacketSequence oldest = oldest_;
  bool complete = true;
  while (psn_distance(oldest, sequence) > 0 && !queue_.empty()) {
    const SendEntry& entry = queue_.front();
    if (entry.is_answered()) {
      complete = false;
      break;
    }
    const PacketSequence end = entry.end();
    if (psn_distance(sequence, end) > 0) {
      oldest = sequence;
      break;
    }
    oldest = end;
    complete_front(0);
  }
  if (oldest != oldest_) {
    progressed(oldest);
  }
  return complete;
}

void Requester::progressed(PacketSequence oldest) {
  window_.acknowledged(static_cast<std::uint32_t>(psn_distance(oldest_, oldest)));
  oldest_ = oldest;
  if (psn_distance(next_, oldest_) > 0) {
    next_ = oldest_;
    cursor_ = queue_.head();
  }
  retries_ = rnr_retries_ = 0;
  went_back_ = false;
  if (waits_for_flush_) [[unlikely]] {
    waits_for_flush_ = false;
    pause_.disarm();
  }
  if (!connection_.traits.lossless) {
    deadline_ns_ = engine_.now_ns() + connection_.options.timeout_ns;
  }
}

void Requester::complete_front(std::uint32_t size_bytes) {
  const SendEntry& entry = queue_.front();
  if (entry.signalled) {
    const WorkCompletion completion = {.status = WorkStatus::success,
                                       .opcode = entry.opcode,
                                       .size_bytes = size_bytes,
                                       .qp = connection_.number};
    connection_.send_completions->push_words(entry.id, Completions::second_word(completion),
                                             Completions::third_word(completion));
  }
  queue_.pop();
}

void Requester::fail_front(WorkStatus status) {
  const SendEntry& entry = queue_.front();
  engine_.recall();  // whoever sees the completion may use the buffer
  connection_.send_completions->push(
      {.id = entry.id, .status = status, .opcode = entry.opcode, .qp = connection_.number});
  queue_.pop();
  failed_ = true;
  stop();
}

void Requester::give_up() {
  if (running_ && !queue_.empty()) {
    fail_front(WorkStatus::retry_exceeded);
  }
}

void Requester::handle_acknowledge(const Packet& packet) {
  if (!running_ || !is_outstanding(packet.sequence)) {
    return;
  }
  const std::uint8_t kind = packet.syndrome & kind_mask;
  const bool positive = kind == kind_acknowledge;
  if (!acknowledge_before(positive ? psn_add(packet.sequence, 1) : packet.sequence)) {
    lost_something_once();
  } else if (positive) {
    return;
  } else if (kind == syndrome_rnr && queue_.front().opcode == Opcode::flush) {
    wait_for_medium(packet.syndrome & code_mask);
  } else if (kind == syndrome_waits && connection_.traits.agreed.verbs != 0) {
    wait_for_medium(packet.syndrome & code_mask);
  } else if (kind == syndrome_rnr) {
    wait_for_receive(packet.syndrome & code_mask);
  } else if (packet.syndrome == syndrome_nak_sequence) {
    lost_something();
  } else {
    fail_front(status_of(packet.syndrome));
  }
}

void Requester::wait_for_receive(std::uint8_t code) {
  if (pause_.armed()) {
    return;
  }
  const std::uint8_t limit = connection_.options.rnr_retry;
  if (limit < limits::retry_for_ever && rnr_retries_ >= limit) {
    fail_front(WorkStatus::rnr_retry_exceeded);
    return;
  }
  ++rnr_retries_;
  waits_for_flush_ = false;
  pause(code);
}

// A FLUSH needs no receive: the peer's medium is at it, and the peer knows itself when to give up.
void Requester::wait_for_medium(std::uint8_t code) {
  if (!pause_.armed()) {
    waits_for_flush_ = true;
    pause(code);
  }
}

void Requester::pause(std::uint8_t code) {
  retries_ = 0;  // the peer is there
  go_back();
  const std::uint64_t until_ns = engine_.now_ns() + rnr_delay_ns(code);
  deadline_ns_ = until_ns + connection_.options.timeout_ns;
  engine_.runtime.arm(pause_, until_ns);
}

// Memory of this side is not there: what comes next is sent, or asked for again, after a while.
void Requester::wait_for_memory() {
  if (!pause_.armed()) {
    waits_for_flush_ = false;
    engine_.runtime.arm(pause_, engine_.now_ns() + limits::not_now_pause_ns);
  }
}

void Requester::peer_not_ready(std::uint8_t code) {
  if (running_ && oldest_ != newest_) {
    wait_for_receive(code);
  }
}

void Requester::handle_response(const Packet& packet, ConstBytes payload) {
  if (!running_ || !is_outstanding(packet.sequence)) {
    return;  // a duplicate, or nothing that was asked for
  }
  if (!acknowledge_before(packet.sequence)) {
    lost_something_once();
    return;
  }
  const SendEntry& entry = queue_.front();
  if (!entry.is_answered()) {
    fail_front(WorkStatus::bad_response);
    return;
  }
  const bool taken =
      entry.opcode == Opcode::read ? take_read(entry, packet, payload) : take_value(entry, packet);
  if (!taken) {
    return;
  }
  const PacketSequence behind = psn_add(packet.sequence, 1);
  const auto index = static_cast<std::uint32_t>(psn_distance(entry.first, packet.sequence));
  reads_ -= index + 1 == part_end(entry, index) ? 1U : 0U;
  if (behind == entry.end()) {
    engine_.dma.place_all(connection_.number);
    complete_front(entry.brings_bytes() ? entry.size_bytes : 0);
  }
  progressed(behind);
}

// One packet of what a READ asked for. False when it was not taken.
bool Requester::take_read(const SendEntry& entry, const Packet& packet, ConstBytes payload) {
  using enum PacketOpcode;
  const auto index = static_cast<std::uint32_t>(psn_distance(entry.first, packet.sequence));
  const bool last = index + 1 == entry.packets;
  const std::uint64_t offset = std::uint64_t{index} * connection_.traits.mtu_bytes;
  const std::uint64_t expected = last ? entry.size_bytes - offset : connection_.traits.mtu_bytes;
  const bool ends = packet.opcode == read_response_last || packet.opcode == read_response_only;
  if (ends != (index + 1 == part_end(entry, index)) || packet.opcode == atomic_acknowledge ||
      packet.opcode == place_acknowledge || payload.size() != expected) {
    fail_front(WorkStatus::bad_response);
    return false;
  }
  const std::span<const Sge> pieces = queue_.pieces(queue_.head());
  if (pieces.size() == 1 && !payload.empty()) [[likely]] {
    std::byte* const to = engine_.translate(
        reach_of(connection_, pieces.front(), offset, payload.size(), local_write));
    if (to != nullptr) [[likely]] {
      engine_.dma.bring(connection_.number, to, payload);
      return true;
    }
  }
  return bring(pieces, offset, payload);
}

// To wherever the pieces lie. False when the packet was not taken: it is asked for again, or the
// request has failed.
bool Requester::bring(std::span<const Sge> pieces, std::uint64_t offset, ConstBytes payload) {
  switch (find_parts(connection_, pieces, offset, payload.size(), local_write, parts_)) {
    case Whereabouts::there:
      scatter(connection_, parts_, payload);
      return true;
    case Whereabouts::not_now:
      go_back();
      wait_for_memory();
      return false;
    case Whereabouts::refused:
      break;
  }
  fail_front(WorkStatus::local_protection_error);
  return false;
}

// The answer to an atomic, an ATOMIC_WRITE, a FLUSH or an SFLUSH.
bool Requester::take_value(const SendEntry& entry, const Packet& packet) {
  const PacketOpcode expected = entry.opcode == Opcode::sflush ? PacketOpcode::place_acknowledge
                                : entry.brings_bytes()         ? PacketOpcode::atomic_acknowledge
                                                               : PacketOpcode::read_response_only;
  if (packet.opcode != expected || packet.payload_bytes != 0) {
    fail_front(WorkStatus::bad_response);
    return false;
  }
  if (!entry.brings_bytes() || entry.size_bytes == 0) {
    return true;
  }
  return bring(queue_.pieces(queue_.head()), 0, object_bytes(packet.value_before));
}

// --- Losses ---

void Requester::go_back() {
  next_ = oldest_;
  cursor_ = queue_.head();
}

void Requester::lost_something() {
  window_.lost();
  go_back();
}

// Of many packets that show one loss, the first is enough.
void Requester::lost_something_once() {
  if (!went_back_) {
    lost_something();
    went_back_ = true;
  }
}

void Requester::watch_time() {
  deadline_ns_ = engine_.now_ns() + connection_.options.timeout_ns;
  if (!timeout_.armed()) {
    engine_.runtime.arm(timeout_, deadline_ns_);
  }
}

// Nothing gets lost, so nothing is sent again; but a peer that stands still answers nothing, and
// whoever waits for it must be told.
void Requester::watch_peer() {
  oldest_seen_ = oldest_;
  engine_.runtime.arm(timeout_, engine_.now_ns() + connection_.options.timeout_ns);
}

void Requester::look_for_peer() {
  if (queue_.empty()) {
    return;
  }
  const bool is_there = heard_ || oldest_seen_ != oldest_ || pause_.armed();
  retries_ = is_there ? 0 : static_cast<std::uint8_t>(retries_ + 1);
  heard_ = false;
  if (retries_ > connection_.options.retry_count) {
    give_up();
    return;
  }
  owner_.ask_peer();
  watch_peer();
}

// Progress moves the deadline and leaves the timer alone, so the time may not be up yet.
void Requester::timed_out() {
  if (connection_.traits.lossless) {
    look_for_peer();
    return;
  }
  if (oldest_ == newest_) {
    return;
  }
  const std::uint64_t now = engine_.now_ns();
  if (now < deadline_ns_) {
    engine_.runtime.arm(timeout_, deadline_ns_);
    return;
  }
  if (retries_ >= connection_.options.retry_count) {
    give_up();
    return;
  }
  ++retries_;
  went_back_ = false;
  lost_something();
  deadline_ns_ = now + connection_.options.timeout_ns;
  engine_.runtime.arm(timeout_, deadline_ns_);
}

}  // namespace remora::fabric::nic
