#include "fabric/nic/queue_pair/unreliable_receiver.h"

#include <algorithm>

#include "fabric/nic/queue_pair/pieces.h"

namespace remora::fabric::nic {

void UnreliableReceiver::start(PacketSequence first) {
  expected_ = first;
  message_ = Message::none;
}

// What comes late, or a second time, is behind what is expected. A gap ends the message under way;
// the next that begins is taken wherever it is.
UnreliableReceiver::Verdict UnreliableReceiver::take(const Packet& packet, ConstBytes payload) {
  const PacketRow& row = row_of(packet.opcode);
  const std::int32_t ahead = psn_distance(expected_, packet.sequence);
  if (row.kind != PacketKind::unreliable || ahead < 0) {
    ++engine_.counters.packets_dropped;
    return Verdict::well;
  }
  expected_ = psn_add(packet.sequence, 1);
  const bool is_write = names_memory(row.part_of);
  if (row.begins) {
    message_ = Message::none;
    Verdict verdict = Verdict::well;
    if (is_write && !begin(packet, payload, verdict)) {
      (void)lose();
      return verdict;
    }
    message_ = is_write ? Message::write : Message::send;
    message_bytes_ = 0;
  } else if (ahead != 0 || message_ != (is_write ? Message::write : Message::send)) {
    return lose();
  }
  if (!is_placed_well(row, payload.size())) {
    return lose();
  }
  return is_write ? place_write(row, packet, payload) : place_send(row, packet, payload);
}

// Whether a packet has the payload that its place in its message demands.
bool UnreliableReceiver::is_placed_well(const PacketRow& row, std::size_t size_bytes) const {
  const std::size_t mtu = connection_.traits.mtu_bytes;
  const std::size_t least = row.ends ? (row.begins ? 0 : 1) : mtu;
  return size_bytes >= least && size_bytes <= mtu;
}

// The whole target is checked before any byte is written.
bool UnreliableReceiver::begin(const Packet& packet, ConstBytes payload, Verdict& verdict) {
  write_address_ = packet.address;
  write_key_ = packet.key;
  write_length_ = packet.length;
  is_flushed_ = false;
  const bool has_right = (AccessFlags{remote_write} & ~connection_.options.remote_access) == 0;
  Reach wanted = reach(packet.address, packet.key, packet.length);
  wanted.payload = payload.size() == packet.length ? payload.data() : nullptr;
  // A WRITE of nothing needs no region, as elsewhere, and its queue pair's right all the same.
  if (has_right && (packet.length == 0 || engine_.memory.allows(wanted))) {
    return true;
  }
  ++engine_.counters.access_violations;
  verdict = Verdict::violated;
  return false;
}

UnreliableReceiver::Verdict UnreliableReceiver::place_send(const PacketRow& row,
                                                           const Packet& packet,
                                                           ConstBytes payload) {
  if (!has_receive() || message_bytes_ + payload.size() > total_bytes(queue_.front_pieces())) {
    return lose();
  }
  bool stored = false;
  const Verdict verdict = store_into_receive(message_bytes_, payload, stored);
  if (!stored) {
    return verdict;
  }
  message_bytes_ += static_cast<std::uint32_t>(payload.size());
  if (row.ends && persist_.has_log()) {
    return log_message(packet, message_bytes_, 0,
                       {connection_.link, connection_.peer, packet.sequence});
  }
  if (row.ends) {
    complete(packet, Opcode::receive, has_immediate(row.part_of), message_bytes_);
  }
  return Verdict::well;
}

UnreliableReceiver::Verdict UnreliableReceiver::place_write(const PacketRow& row,
                                                            const Packet& packet,
                                                            ConstBytes payload) {
  const std::uint32_t left = write_length_ - message_bytes_;
  const bool has_imm = has_immediate(row.part_of);
  if ((row.ends ? payload.size() != left : payload.size() >= left) ||
      (row.ends && has_imm && !has_receive())) {
    return lose();
  }
  if (!payload.empty()) {
    Reach wanted = reach(write_address_ + message_bytes_, write_key_, payload.size());
    wanted.payload = payload.data();
    std::byte* const to = engine_.translate(wanted);
    if (to != nullptr) {
      engine_.dma.write(connection_.number, to, payload);
    } else {
      parts_.clear();
      if (engine_.locate(wanted, parts_) != Whereabouts::there) {
        return lose();
      }
      scatter(connection_, parts_, payload);
      is_flushed_ =
          (engine_.memory.find(connection_.domain, write_key_)->access & flushes_writes) != 0;
    }
    engine_.wire.charge(Wire::Cost::memory_write, payload.size());
  }
  message_bytes_ += static_cast<std::uint32_t>(payload.size());
  if (row.ends && is_flushed_) {
    return flush_write(packet, has_imm);
  }
  if (row.ends && has_imm) {
    complete(packet, Opcode::receive_imm, true, message_bytes_);
  } else if (row.ends) {
    message_ = Message::none;
  }
  return Verdict::well;
}

UnreliableReceiver::Verdict UnreliableReceiver::take_datagram(LinkId from, const Packet& packet,
                                                              ConstBytes payload, QueueKey key) {
  const PacketRow& row = row_of(packet.opcode);
  const std::size_t most = std::min(datagram_bytes_max, engine_.wire.traits(from).mtu_bytes);
  if (row.kind != PacketKind::datagram || packet.key != key || payload.size() > most ||
      !has_receive() ||
      datagram_header_bytes + payload.size() > total_bytes(queue_.front_pieces())) {
    return lose();
  }
  const DatagramHeader header = {.from_number = packet.message_count,
                                 .from = engine_.wire.peer_of(from),
                                 .to = engine_.wire.traits().gid};
  bool stored = false;
  Verdict verdict = store_into_receive(0, object_bytes(header), stored);
  if (stored) {
    verdict = store_into_receive(datagram_header_bytes, payload, stored);
  }
  if (stored && persist_.has_log()) {
    return log_message(packet, static_cast<std::uint32_t>(payload.size()), datagram_header_bytes,
                       {from, packet.message_count, packet.sequence});
  }
  if (stored) {
    complete(packet, Opcode::receive, has_immediate(row.part_of),
             static_cast<std::uint32_t>(datagram_header_bytes + payload.size()));
  }
  return verdict;
}

// Bytes of a message go into the oldest receive, which is long enough. Memory that is not there now
// loses the message; memory that may not be used is this side's mistake, and ends the receive.
UnreliableReceiver::Verdict UnreliableReceiver::store_into_receive(std::uint64_t offset,
                                                                   ConstBytes payload,
                                                                   bool& stored) {
  stored = false;
  const Whereabouts answer =
      find_parts(connection_, queue_.front_pieces(), offset, payload.size(), local_write, parts_);
  if (answer == Whereabouts::not_now) {
    return lose();
  }
  if (answer == Whereabouts::refused) {
    connection_.receive_completions->push({.id = queue_.front_id(),
                                           .status = WorkStatus::local_protection_error,
                                           .qp = connection_.number});
    queue_.pop();
    (void)lose();
    return Verdict::failed;
  }
  scatter(connection_, parts_, payload);
  engine_.wire.charge(Wire::Cost::memory_write, payload.size());
  stored = true;
  return Verdict::well;
}

// A message that has no place in the log is lost.
UnreliableReceiver::Verdict UnreliableReceiver::log_message(
    const Packet& packet, std::uint32_t size_bytes, std::uint32_t skipped_bytes,
    const UnreliablePersist::Sender& sender) {
  if (has_immediate(row_of(packet.opcode).part_of) || !persist_.may_hold_message(size_bytes)) {
    return lose();
  }
  message_ = Message::none;
  persist_.hold_message(queue_, size_bytes, skipped_bytes, sender);
  return Verdict::well;
}

UnreliableReceiver::Verdict UnreliableReceiver::flush_write(const Packet& packet, bool has_imm) {
  if (!persist_.may_hold()) {
    return lose();
  }
  message_ = Message::none;
  WorkCompletion told;
  if (has_imm) {
    told = {.id = queue_.front_id(),
            .status = WorkStatus::success,
            .opcode = Opcode::receive_imm,
            .has_immediate = true,
            .immediate = packet.immediate,
            .size_bytes = message_bytes_,
            .qp = connection_.number};
    queue_.pop();
  }
  persist_.hold_write(reach(write_address_, write_key_, write_length_), has_imm ? &told : nullptr,
                      packet.solicited, {connection_.link, connection_.peer, packet.sequence});
  return Verdict::well;
}

// The message is complete, and takes the oldest receive.
void UnreliableReceiver::complete(const Packet& packet, Opcode opcode, bool has_immediate,
                                  std::uint32_t size_bytes) {
  engine_.dma.place_all(connection_.number);
  connection_.receive_completions->push({.id = queue_.front_id(),
                                         .status = WorkStatus::success,
                                         .opcode = opcode,
                                         .has_immediate = has_immediate,
                                         .immediate = packet.immediate,
                                         .size_bytes = size_bytes,
                                         .qp = connection_.number},
                                        packet.solicited);
  queue_.pop();
  message_ = Message::none;
}

}  // namespace remora::fabric::nic
