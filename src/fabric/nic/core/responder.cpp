#include "fabric/nic/core/responder.h"

#include <algorithm>

namespace remora::fabric::nic {
namespace {

using enum PacketOpcode;

bool is_send(PacketOpcode opcode) {
  return opcode <= send_only_imm;
}
bool is_write(PacketOpcode opcode) {
  return opcode >= write_first && opcode <= write_only_imm;
}

bool begins(PacketOpcode opcode) {
  return opcode == send_first || opcode == send_only || opcode == send_only_imm ||
         opcode == write_first || opcode == write_only || opcode == write_only_imm;
}

bool ends(PacketOpcode opcode) {
  return opcode != send_first && opcode != send_middle && opcode != write_first &&
         opcode != write_middle;
}

bool has_immediate(PacketOpcode opcode) {
  return opcode == send_last_imm || opcode == send_only_imm || opcode == write_last_imm ||
         opcode == write_only_imm;
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
    if (!asked_again_) {
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
  if (is_send(packet.opcode)) {
    execute_send(packet, payload);
  } else if (is_write(packet.opcode)) {
    execute_write(packet, payload);
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
  if (queue_.empty()) {
    no_receive();
    return;
  }
  const std::uint32_t offset = first ? 0 : message_bytes_;
  const auto pieces = queue_.front_pieces();
  if (offset + payload.size() > total_bytes(pieces)) {
    fail_receive(WorkStatus::local_length_error, syndrome_nak_invalid_request);
    return;
  }
  if (!find_parts(connection_, pieces, offset, payload.size(), local_write, parts_)) {
    fail_receive(WorkStatus::local_protection_error, syndrome_nak_operation);
    return;
  }
  scatter(connection_, parts_, payload);
  engine_.wire.charge(Wire::Cost::memory_write, payload.size());
  message_ = Message::send;
  message_bytes_ = offset + static_cast<std::uint32_t>(payload.size());
  if (ends(packet.opcode)) {
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
  if (has_immediate(packet.opcode) && queue_.empty()) {
    no_receive();
    return;
  }
  if (!payload.empty()) {
    std::byte* to = engine_.translate(
        reach(write_address_ + message_bytes_, write_key_, payload, remote_write));
    if (to == nullptr) {
      refuse(syndrome_nak_access);
      return;
    }
    if (connection_.traits.streams && write_length_ >= limits::streamed_bytes) {
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
  if (last && has_immediate(packet.opcode)) {
    finish_message(packet, Opcode::receive_imm);
  }
  accept(packet);
}

// The whole target is checked before any byte is written: here, or where all of it is translated.
bool Responder::begin_write(const Packet& packet, std::size_t payload_bytes) {
  write_address_ = packet.address;
  write_key_ = packet.key;
  write_length_ = packet.length;
  message_bytes_ = 0;
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

void Responder::no_receive() {
  asked_again_ = true;  // what follows is not to be asked for: it comes again after the wait
  owe(Owed::receive);
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
