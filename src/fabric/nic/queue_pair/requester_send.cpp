// The requester's way out: from posted requests to packets.
#include <algorithm>

#include "base/racy_copy.h"
#include "fabric/nic/queue_pair/requester.h"

namespace remora::fabric::nic {
namespace {

bool is_last(const SendEntry& entry, std::uint64_t offset, std::uint32_t mtu_bytes) {
  return offset + mtu_bytes >= entry.size_bytes;
}

PacketOpcode send_opcode(bool first, bool last, bool imm) {
  using enum PacketOpcode;
  if (last) {
    return first ? (imm ? send_only_imm : send_only) : (imm ? send_last_imm : send_last);
  }
  return first ? send_first : send_middle;
}

PacketOpcode write_opcode(bool first, bool last, bool imm) {
  using enum PacketOpcode;
  if (last) {
    return first ? (imm ? write_only_imm : write_only) : (imm ? write_last_imm : write_last);
  }
  return first ? write_first : write_middle;
}

}  // namespace

bool Requester::transmit() {
  if (held_) [[unlikely]] {
    return false;
  }
  if (peer_gone_ && !queue_.empty()) {
    give_up();
  }
  if (connection_.traits.lossless && running_ && !timeout_.armed() && !queue_.empty() &&
      connection_.options.timeout_ns != 0) {
    watch_peer();
  }
  if (connection_.traits.gathers && psn_distance(oldest_, next_) >= limits::busy_packets) {
    engine_.wire.take_time(connection_.link);
  }
  while (running_ && cursor_ != queue_.tail() && !pause_.armed() &&
         psn_distance(oldest_, next_) < window_.packets()) {
    SendEntry& entry = queue_.at(cursor_);
    const bool is_read = is_straight_read(entry);
    if (is_read || is_straight(entry)) [[likely]] {
      const Sent sent = is_read ? send_straight_read(entry) : send_straight(entry);
      if (sent == Sent::yes) [[likely]] {
        continue;
      }
      if (sent == Sent::no_room) {
        return true;
      }
    }
    if (next_ == newest_ && next_ != entry.first && !may_ask(entry)) {
      return false;
    }
    if (entry.failure == WorkStatus::success && next_ == newest_ && next_ == entry.first &&
        !may_begin(entry)) {
      return false;
    }
    if (entry.failure == WorkStatus::success) {
      const Sent sent = send_one(entry);
      if (sent == Sent::no_room) {
        return true;
      }
      if (sent == Sent::yes) {
        continue;
      }
      if (sent == Sent::not_now) {
        wait_for_memory();
        return false;
      }
      entry.failure = WorkStatus::local_protection_error;
    }
    if (cursor_ == queue_.head()) {
      fail_front(entry.failure);
    } else if (unasked_ != 0 && !queue_.at(cursor_ - 1).is_answered()) {
      next_ = psn_add(entry.first, sequence_mask);  // nobody would ask for what comes before it
      --cursor_;
      continue;
    }
    return false;  // what comes before it completes first
  }
  return false;
}

// A request that waits for its turn; one that can never be sent is marked.
bool Requester::may_begin(SendEntry& entry) {
  if (entry.fence && reads_ != 0) {
    return false;
  }
  if (!may_ask(entry)) {
    return false;
  }
  entry.failure = check(entry);
  return true;
}

// Whether the peer has room to remember one more request of this kind.
bool Requester::may_ask(const SendEntry& entry) const {
  return !entry.is_answered() || reads_ < connection_.options.reads_in_flight;
}

WorkStatus Requester::check(const SendEntry& entry) {
  if (!is_flush(entry.opcode) && entry.size_bytes > connection_.max_message_bytes) {
    return WorkStatus::local_length_error;
  }
  if (entry.packets == 1 && !entry.brings_bytes()) {
    return WorkStatus::success;  // its pieces are checked when its only packet is filled
  }
  const AccessFlags rights = entry.brings_bytes() ? local_write : local_read;
  return allows_all(connection_, queue_.pieces(cursor_), rights)
             ? WorkStatus::success
             : WorkStatus::local_protection_error;
}

Requester::Sent Requester::send_one(SendEntry& entry) {
  Packet packet;
  packet.queue_pair = connection_.peer;
  packet.sequence = next_;
  const auto index = static_cast<std::uint64_t>(psn_distance(entry.first, next_));
  const std::uint64_t offset = index * connection_.traits.mtu_bytes;
  return entry.is_answered() ? send_request(entry, packet, offset)
                             : send_data(entry, packet, offset);
}

Requester::Sent Requester::send_data(const SendEntry& entry, Packet& packet, std::uint64_t offset) {
  const bool last = is_last(entry, offset, connection_.traits.mtu_bytes);
  const bool imm = has_immediate(entry.opcode);
  const bool is_write = names_memory(entry.opcode);
  packet.opcode =
      is_write ? write_opcode(offset == 0, last, imm) : send_opcode(offset == 0, last, imm);
  packet.payload_bytes = static_cast<std::uint32_t>(
      std::min<std::uint64_t>(connection_.traits.mtu_bytes, entry.size_bytes - offset));
  packet.immediate = imm && last ? entry.immediate : 0;
  packet.solicited = entry.solicited && last && (imm || !is_write);
  packet.acknowledge_request = wants_acknowledge(last);
  if (is_write && offset == 0) {
    packet.address = entry.remote.address;
    packet.key = entry.remote.key;
    packet.length = entry.size_bytes;
  }
  if (!entry.inline_data) {
    const Whereabouts answer = find_parts(connection_, queue_.pieces(cursor_), offset,
                                          packet.payload_bytes, local_read, parts_);
    if (answer != Whereabouts::there) {
      return answer == Whereabouts::not_now ? Sent::not_now : Sent::refused;
    }
  }
  if (!begin_data(entry, packet, offset)) {
    return Sent::no_room;
  }
  unasked_ = packet.acknowledge_request ? 0 : unasked_ + 1;
  advance(entry, packet, 1);
  return Sent::yes;
}

// Room for this packet, with its payload from the queue, or from the parts that were found.
bool Requester::begin_data(const SendEntry& entry, const Packet& packet, std::uint64_t offset) {
  const std::span<const Bytes> parts = parts_.all();
  if (!entry.inline_data && parts.size() == 1 && packet.payload_bytes % 4 == 0) [[likely]] {
    bool later = false;  // then it is copied: that is faster than to wait
    if (packet.payload_bytes >= connection_.traits.lent_from_bytes &&
        engine_.begin_lent(connection_.link, packet, parts.front(), later)) {
      return true;
    }
    return engine_.begin_around(connection_.link, packet, parts.front());
  }
  Bytes payload;
  if (!engine_.begin(connection_.link, packet, payload)) {
    return false;
  }
  if (entry.inline_data) {
    racy_copy(payload, queue_.inline_bytes(cursor_).subspan(offset, payload.size()));
  } else {
    gather(parts_, payload);
  }
  return true;
}

// Where the part of a READ ends that this packet of its answer belongs to; see SendWindow. Counted
// from the first packet, and always the same, so that what is asked for again is what the peer
// remembers. Everything else is one part.
std::uint32_t Requester::part_end(const SendEntry& entry, std::uint32_t index) const {
  const std::uint32_t part = window_.read_packets();
  return part == 0 ? entry.packets : std::min(entry.packets, (index / part + 1) * part);
}

// Requests that are answered by a response take one packet. A READ that was answered in part asks
// for the rest.
Requester::Sent Requester::send_request(const SendEntry& entry, Packet& packet,
                                        std::uint64_t offset) {
  packet.address = entry.remote.address + offset;
  packet.key = entry.remote.key;
  packet.acknowledge_request = true;
  const auto index = static_cast<std::uint32_t>(psn_distance(entry.first, next_));
  const std::uint32_t end = part_end(entry, index);
  switch (entry.opcode) {
    case Opcode::read:
      packet.opcode = PacketOpcode::read_request;
      packet.length = static_cast<std::uint32_t>(
          std::min<std::uint64_t>(entry.size_bytes,
                                  std::uint64_t{end} * connection_.traits.mtu_bytes) -
          offset);
      break;
    case Opcode::compare_swap:
      packet.opcode = PacketOpcode::compare_swap;
      packet.swap_or_add = entry.operand;
      packet.compare = entry.compare;
      break;
    case Opcode::fetch_add:
      packet.opcode = PacketOpcode::fetch_add;
      packet.swap_or_add = entry.operand;
      break;
    case Opcode::atomic_write:
      packet.opcode = PacketOpcode::atomic_write;
      packet.length = word_bytes;
      packet.payload_bytes = word_bytes;
      break;
    case Opcode::sflush:
      packet.opcode = PacketOpcode::sflush;
      packet.address = packet.key = 0;
      break;
    default:
      packet.opcode = entry.opcode == Opcode::flush_imm       ? PacketOpcode::flush_imm
                      : entry.opcode == Opcode::flush_payload ? PacketOpcode::flush_payload
                                                              : PacketOpcode::flush;
      packet.length = entry.size_bytes;
      packet.flush_placement = static_cast<std::uint8_t>(entry.flush_placement);
      packet.flush_select = static_cast<std::uint8_t>(entry.flush_select);
      packet.immediate = entry.opcode == Opcode::flush_imm ? entry.immediate : 0;
      packet.payload_bytes = entry.opcode == Opcode::flush_payload ? placed_word_bytes : 0;
      break;
  }
  Bytes payload;
  if (!engine_.begin(connection_.link, packet, payload)) {
    return Sent::no_room;
  }
  if (payload.size() == word_bytes) {
    store(payload.data(), entry.operand);
  } else if (!payload.empty()) {
    const RemoteAddress& at = queue_.word(cursor_);
    encode_placed_word({at.address, at.key, entry.operand}, payload);
  }
  unasked_ = 0;
  reads_ += next_ == newest_ ? 1U : 0U;
  advance(entry, packet, end - index);
  return Sent::yes;
}

// A packet went out that stands for so many sequence numbers.
void Requester::advance(const SendEntry& entry, const Packet& packet, std::uint32_t packets) {
  engine_.commit(packet);
  const bool idle = oldest_ == newest_;
  if (next_ != newest_) {
    ++engine_.counters.retransmissions;
  } else if (next_ == entry.first) {
    engine_.wire.charge(Wire::Cost::work_request, 1);
  }
  next_ = psn_add(next_, packets);
  if (psn_distance(newest_, next_) > 0) {
    newest_ = next_;
  }
  if (next_ == entry.end()) {
    ++cursor_;
  }
  if (idle && !connection_.traits.lossless && connection_.options.timeout_ns != 0) {
    watch_time();
  }
}

// Where every acknowledgement costs both sides a call, a message need not ask for its own if more
// than a window is going to follow: that asks in time, and until then nobody waits for this one.
bool Requester::is_followed() const {
  return connection_.traits.gathers && psn_distance(next_, posted_) > window_.packets() &&
         queue_.at(cursor_ + 1).failure == WorkStatus::success;
}

// Twice in a window at least, so that it never stands still for want of an acknowledgement.
bool Requester::wants_acknowledge(bool last) {
  const auto half_window = static_cast<std::uint32_t>(window_.packets()) / 2;
  return (last && !is_followed()) ||
         unasked_ + 1 >= std::min(limits::packets_per_acknowledgement, half_window);
}

}  // namespace remora::fabric::nic
