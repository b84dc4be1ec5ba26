#include "fabric/nic/queue_pair/responder.h"

#include <algorithm>

namespace remora::fabric::nic {
namespace {

using enum PacketOpcode;

bool begins(PacketOpcode opcode) {
  return row_of(opcode).begins;
}

bool ends(PacketOpcode opcode) {
  return row_of(opcode).ends;
}

bool has_immediate(PacketOpcode opcode) {
  return (row_of(opcode).parts & part_imm) != 0;
}

// The next packet goes here: while it is on its way, lines of it may be too.
void prefetch_target(const std::byte* at, std::size_t size_bytes) {
  const std::byte* const end = at + std::min(size_bytes, limits::next_packet_bytes);
  for (; at < end; at += cache_line_bytes) {
    __builtin_prefetch(at, 1);
  }
}

}  // namespace

void Responder::start(PacketSequence first) {
  expected_ = first;
  messages_ = 0;
  message_ = Message::none;
  owed_ = Owed::nothing;
  reason_ = 0;
  asked_again_ = failed_ = waiting_ = delivered_ = lent_ = false;
  held_back_ = held_repeated_ = is_flushed_ = false;
  steps_.reserve(mover_ == nullptr ? 1 : mover_->capacity());
  resources_.assign(connection_.options.reads_in_flight, Resource{});
  remembered_ = owed_resources_ = 0;
  running_ = true;
}

void Responder::stop() {
  running_ = false;
  owed_ = Owed::nothing;
  drop_answers();
}

void Responder::handle_request(const Packet& packet, ConstBytes payload) {
  if (!running_) {
    return;
  }
  const std::int32_t ahead = psn_distance(expected_, packet.sequence);
  if (ahead < 0) {
    repeat(packet);
  } else if (failed_) {
    owe(Owed::reason);
  } else if (ahead > 0 || is_busy()) {
    if (ahead == 0 && held_back_) {
      held_repeated_ = true;
    } else if (!asked_again_) {
      asked_again_ = true;
      owe(Owed::sequence);
    }
  } else {
    asked_again_ = false;
    if (owed_ == Owed::sequence) {
      owed_ = Owed::acknowledge;  // what was missing is here
    }
    execute(packet, payload);
  }
}

void Responder::execute(const Packet& packet, ConstBytes payload) {
  const PacketRow& row = row_of(packet.opcode);
  if (row.kind == PacketKind::message && names_memory(row.part_of)) {
    execute_write(packet, payload);
  } else if (row.kind == PacketKind::message) {
    execute_send(packet, payload);
  } else if (is_unreliable_kind(row.kind)) {
    ++engine_.counters.packets_dropped;
  } else if (message_ == Message::none) {
    remember(packet, payload);
  } else {
    refuse(syndrome_nak_invalid_request);
  }
}

// Whether a packet of a message comes where it may, with the payload that its place demands.
bool Responder::is_placed_well(bool first, bool last, Message kind, std::size_t size_bytes) const {
  const Message before = first ? Message::none : kind;
  const std::size_t mtu = connection_.traits.mtu_bytes;
  const std::size_t least = last ? (first ? 0 : 1) : mtu;
  return message_ == before && size_bytes >= least && size_bytes <= mtu;
}

void Responder::execute_send(const Packet& packet, ConstBytes payload) {
  const bool first = begins(packet.opcode);
  if (!is_placed_well(first, ends(packet.opcode), Message::send, payload.size())) {
    refuse(syndrome_nak_invalid_request);
    return;
  }
  if (queue_.empty() && !queue_.take_shared()) {
    not_now();
    return;
  }
  const std::uint32_t offset = first ? 0 : message_bytes_;
  const auto pieces = queue_.front_pieces();
  if (offset + payload.size() > total_bytes(pieces)) {
    fail_receive(WorkStatus::local_length_error, syndrome_nak_invalid_request);
    return;
  }
  const Whereabouts answer =
      find_parts(connection_, pieces, offset, payload.size(), local_write, parts_);
  if (answer == Whereabouts::not_now) {
    not_now();
    return;
  }
  if (answer == Whereabouts::refused) {
    fail_receive(WorkStatus::local_protection_error, syndrome_nak_operation);
    return;
  }
  scatter(connection_, parts_, payload);
  engine_.wire.charge(Wire::Cost::memory_write, payload.size());
  message_ = Message::send;
  message_bytes_ = offset + static_cast<std::uint32_t>(payload.size());
  if (ends(packet.opcode)) {
    if (mover_ != nullptr) [[unlikely]] {
      if (!take_for_log(packet)) {
        message_ = first ? Message::none : Message::send;
        message_bytes_ = offset;
        not_now();
      }
      return;
    }
    finish_message(packet, Opcode::receive);
  }
  accept(packet);
}

void Responder::execute_write(const Packet& packet, ConstBytes payload) {
  const bool first = begins(packet.opcode);
  const bool last = ends(packet.opcode);
  if (!is_placed_well(first, last, Message::write, payload.size())) {
    refuse(syndrome_nak_invalid_request);
    return;
  }
  if (first && !begin_write(packet, payload.size())) {
    return;
  }
  const std::uint32_t left = write_length_ - message_bytes_;
  if (last ? payload.size() != left : payload.size() >= left) {
    refuse(syndrome_nak_invalid_request);
    return;
  }
  if (has_immediate(packet.opcode) && queue_.empty() && !queue_.take_shared()) {
    not_now();
    return;
  }
  if (!payload.empty()) {
    const Reach wanted = reach(write_address_ + message_bytes_, write_key_, payload, remote_write);
    std::byte* to = engine_.translate(wanted);
    if (to == nullptr) [[unlikely]] {
      if (!place(wanted, payload)) {
        return;
      }
    } else if (connection_.traits.streams && write_length_ >= limits::streamed_bytes) {
      // What ends within the message's last word must not be seen before all the rest.
      const bool ends = last || left - payload.size() < word_bytes;
      engine_.dma.write_part(connection_.number, to, payload, ends);
    } else {
      engine_.dma.write(connection_.number, to, payload);
      if (!last) {
        prefetch_target(to + payload.size(), left - payload.size());
      }
    }
    engine_.wire.charge(Wire::Cost::memory_write, payload.size());
  }
  message_ = Message::write;
  message_bytes_ += static_cast<std::uint32_t>(payload.size());
  if (last && is_flushed_) [[unlikely]] {
    flush_write(packet);
    return;
  }
  if (last && has_immediate(packet.opcode)) {
    finish_message(packet, Opcode::receive_imm);
  }
  accept(packet);
}

// Bytes of a WRITE, to wherever they belong; false if that is not to be, or not now.
bool Responder::place(const Reach& wanted, ConstBytes payload) {
  parts_.clear();
  switch (engine_.locate(wanted, parts_)) {
    case Whereabouts::there:
      scatter(connection_, parts_, payload);
      is_flushed_ =
          (engine_.memory.find(connection_.domain, wanted.key)->access & flushes_writes) != 0;
      return true;
    case Whereabouts::not_now:
      not_now();
      return false;
    case Whereabouts::refused:
      break;
  }
  refuse(syndrome_nak_access);
  return false;
}

// The whole target is checked before any byte is written: here, or where all of it is translated.
bool Responder::begin_write(const Packet& packet, std::size_t payload_bytes) {
  write_address_ = packet.address;
  write_key_ = packet.key;
  write_length_ = packet.length;
  message_bytes_ = 0;
  is_flushed_ = false;
  const bool has_right = grants(remote_write);
  // A WRITE of nothing needs no region, as elsewhere, and its queue pair's right all the same.
  const bool is_checked_later = packet.opcode == write_only && payload_bytes == packet.length;
  if (!has_right || (packet.length != 0 && !is_checked_later &&
                     !allows(reach(packet.address, packet.key, packet.length, remote_write)))) {
    refuse(syndrome_nak_access);
    return false;
  }
  return true;
}

bool Responder::allows(const Reach& wanted) const {
  return grants(wanted.rights) && engine_.memory.allows(wanted);
}

// The message is complete, and takes the oldest receive.
void Responder::finish_message(const Packet& packet, Opcode opcode) {
  engine_.dma.place_all(connection_.number);
  const bool imm = has_immediate(packet.opcode);
  connection_.receive_completions->push({.id = queue_.front_id(),
                                         .status = WorkStatus::success,
                                         .opcode = opcode,
                                         .has_immediate = imm,
                                         .immediate = packet.immediate,
                                         .size_bytes = message_bytes_,
                                         .qp = connection_.number},
                                        packet.solicited);
  queue_.pop();
  delivered_ = true;
}

void Responder::fail_receive(WorkStatus status, std::uint8_t reason) {
  connection_.receive_completions->push(
      {.id = queue_.front_id(), .status = status, .qp = connection_.number});
  queue_.pop();
  refuse(reason);
}

// The packet is executed; the next one is expected.
void Responder::accept(const Packet& packet, std::uint32_t packets) {
  expected_ = psn_add(expected_, packets);
  if (ends(packet.opcode)) {
    message_ = Message::none;
    ++messages_;
  }
  if (packet.acknowledge_request) {
    // In the middle of a message it is the sender's window that waits for it.
    delivered_ = delivered_ && ends(packet.opcode);
    owe(Owed::acknowledge);
  }
}

void Responder::not_now() {
  asked_again_ = true;  // what follows is not to be asked for: it comes again after the wait
  owe(Owed::patience);
}

void Responder::refuse(std::uint8_t reason) {
  reason_ = reason;
  failed_ = true;
  owe(Owed::reason);
  if (reason == syndrome_nak_access) {
    ++engine_.counters.access_violations;
  }
}

}  // namespace remora::fabric::nic
