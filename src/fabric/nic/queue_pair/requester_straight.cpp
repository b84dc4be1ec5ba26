// The requester's straight way: a SEND, WRITE or READ of one piece and one packet that is sent for
// the first time, as most are. The same as the other way does, in fewer steps.
#include "base/racy_copy.h"
#include "fabric/nic/queue_pair/requester.h"

namespace remora::fabric::nic {

// The headers of a packet that names remote memory, whose payload is in place.
[[gnu::always_inline]] inline void Requester::commit_straight(PacketOpcode opcode,
                                                              const SendEntry& entry, Bytes room) {
  const Packet packet = {.opcode = opcode,
                         .acknowledge_request = true,
                         .queue_pair = connection_.peer,
                         .sequence = next_,
                         .key = entry.remote.key,
                         .address = entry.remote.address,
                         .length = entry.size_bytes};
  encode_base(packet, 0, room.data());
  encode_reth(packet, room.data() + bth_bytes);
  engine_.commit_encoded();
}

// Without padding or immediate data.
[[gnu::always_inline]] inline Requester::Sent Requester::send_straight_write(
    const SendEntry& entry, const std::byte* from) {
  constexpr std::size_t headers = bth_bytes + reth_bytes;
  if (entry.size_bytes >= connection_.traits.lent_from_bytes) {
    bool later = false;
    const Bytes room =
        engine_.lender->lend(connection_.link, headers, ConstBytes(from, entry.size_bytes), later);
    if (!room.empty()) [[likely]] {
      commit_straight(PacketOpcode::write_only, entry, room);
      return Sent::yes;
    }
  }
  const Bytes room = engine_.wire.reserve(connection_.link, headers + entry.size_bytes);
  if (room.empty()) [[unlikely]] {
    return Sent::no_room;
  }
  racy_copy(room.subspan(headers), ConstBytes(from, entry.size_bytes));
  commit_straight(PacketOpcode::write_only, entry, room);
  return Sent::yes;
}

// With the acknowledgement that is owed to the same peer, where the wire carries it.
[[gnu::always_inline]] inline bool Requester::begin_message(const Packet& packet, Bytes& payload) {
  const bool rides = connection_.traits.carries_riders &&
                     packet.payload_bytes + rider_bytes <= connection_.traits.mtu_bytes &&
                     owner_.has_rider();
  if (!rides) {
    return engine_.begin(connection_.link, packet, payload);
  }
  if (!engine_.begin_with(connection_.link, owner_.rider(), packet, payload)) {
    return false;
  }
  owner_.rider_went();
  return true;
}

[[gnu::noinline]] Requester::Sent Requester::send_straight_other(const SendEntry& entry,
                                                                 const std::byte* from) {
  using enum PacketOpcode;
  const bool imm = has_immediate(entry.opcode);
  const bool is_write = names_memory(entry.opcode);
  Packet packet;
  packet.opcode = is_write ? (imm ? write_only_imm : write_only) : imm ? send_only_imm : send_only;
  packet.solicited = entry.solicited && (imm || !is_write);
  packet.acknowledge_request = true;
  packet.queue_pair = connection_.peer;
  packet.sequence = next_;
  packet.immediate = imm ? entry.immediate : 0;
  packet.payload_bytes = entry.size_bytes;
  if (is_write) {
    packet.address = entry.remote.address;
    packet.key = entry.remote.key;
    packet.length = entry.size_bytes;
  }
  Bytes payload;
  if (!begin_message(packet, payload)) {
    return Sent::no_room;
  }
  racy_copy(payload, ConstBytes(from, entry.size_bytes));
  engine_.commit(packet);
  return Sent::yes;
}

// One packet went out.
[[gnu::always_inline]] inline void Requester::went_straight() {
  const bool idle = oldest_ == newest_;
  engine_.wire.charge(Wire::Cost::work_request, 1);
  unasked_ = 0;
  next_ = newest_ = psn_add(next_, 1);
  ++cursor_;
  if (idle && !connection_.traits.lossless && connection_.options.timeout_ns != 0) {
    watch_time();
  }
}

Requester::Sent Requester::send_straight(const SendEntry& entry) {
  const Sge& piece = queue_.pieces(cursor_).front();
  const std::byte* const from =
      engine_.translate(reach_of(connection_, piece, 0, entry.size_bytes, local_read));
  if (from == nullptr) [[unlikely]] {
    return Sent::refused;
  }
  const Sent sent = entry.opcode == Opcode::write && entry.size_bytes % 4 == 0
                        ? send_straight_write(entry, from)
                        : send_straight_other(entry, from);
  if (sent == Sent::yes) [[likely]] {
    went_straight();
  }
  return sent;
}

Requester::Sent Requester::send_straight_read(const SendEntry& entry) {
  if (!allows(connection_, queue_.pieces(cursor_).front(), local_write)) [[unlikely]] {
    return Sent::refused;
  }
  const Bytes room = engine_.wire.reserve(connection_.link, bth_bytes + reth_bytes);
  if (room.empty()) [[unlikely]] {
    return Sent::no_room;
  }
  commit_straight(PacketOpcode::read_request, entry, room);
  ++reads_;
  went_straight();
  return Sent::yes;
}

}  // namespace remora::fabric::nic
