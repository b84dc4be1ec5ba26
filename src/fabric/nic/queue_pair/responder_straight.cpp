// The responder's straight way: a READ whose answer is one packet, on a wire that loses nothing.
// The same as the other way does, in fewer steps.
#include "base/lost_memory.h"
#include "fabric/nic/queue_pair/responder.h"

namespace remora::fabric::nic {

// Without padding. What is not allowed, or cannot be answered at once, is left to the other way.
bool Responder::take_straight_read(const Packet& packet) {
  // A length of 0 is beyond any.
  const bool is_straight = packet.sequence == expected_ &&
                           packet.length - 1 < connection_.traits.mtu_bytes &&
                           packet.length % 4 == 0 && message_ == Message::none &&
                           owed_ == Owed::nothing && owed_resources_ == 0 && running_ && !failed_ &&
                           !asked_again_ && connection_.traits.lossless && grants(remote_read);
  if (!is_straight) {
    return false;
  }
  const std::byte* const from =
      engine_.translate(reach(packet.address, packet.key, packet.length, remote_read));
  if (from == nullptr || !engine_.dma.ready_to_read(connection_.number, from, packet.length))
      [[unlikely]] {
    return false;
  }
  constexpr std::size_t headers = bth_bytes + aeth_bytes;
  Bytes room;
  if (packet.length >= connection_.traits.lent_from_bytes) {
    bool later = false;
    room = engine_.lender->lend(connection_.link, headers, ConstBytes(from, packet.length), later);
    if (later && lent_) {
      return false;
    }
  }
  if (!room.empty()) {
    lent_ = true;
  } else {
    (void)have_loans_back();
    room = engine_.wire.reserve(connection_.link, headers + packet.length);
    if (room.empty()) [[unlikely]] {
      return false;
    }
    engine_.dma.read(connection_.number, room.subspan(headers), from);
    if (any_memory_lost() && is_memory_lost(from)) [[unlikely]] {
      return false;  // which the other way refuses; it reserves anew
    }
  }
  engine_.wire.charge(Wire::Cost::memory_read, packet.length);
  resources_[remembered_ % resources_.size()] = {.opcode = packet.opcode,
                                                 .first = packet.sequence,
                                                 .begin = packet.sequence,
                                                 .next = psn_add(packet.sequence, 1),
                                                 .packets = 1,
                                                 .length = packet.length,
                                                 .key = packet.key,
                                                 .address = packet.address,
                                                 .answered = true};
  ++remembered_;
  ++messages_;
  expected_ = psn_add(expected_, 1);
  const Packet answer = {.opcode = PacketOpcode::read_response_only,
                         .syndrome = syndrome_acknowledge,
                         .queue_pair = connection_.peer,
                         .sequence = packet.sequence,
                         .message_count = messages_ & sequence_mask};
  encode_base(answer, 0, room.data());
  encode_aeth(answer, room.data() + bth_bytes);
  engine_.dma.acknowledged(connection_.number);
  engine_.commit_encoded();
  return true;
}

}  // namespace remora::fabric::nic
