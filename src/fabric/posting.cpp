#include "fabric/posting.h"

#include "fabric/datagram.h"

namespace remora::fabric {

std::uint64_t total_bytes_of_many(std::span<const Sge> pieces) {
  std::uint64_t total = 0;
  for (const Sge& piece : pieces) {
    total += piece.size_bytes;
  }
  return total;
}

const char* why_not_post(const SendWork& work, const QueuePairOptions& options) {
  if (static_cast<std::size_t>(work.opcode) >= opcode_rows.size()) {
    return "there is no such opcode";
  }
  const OpcodeRow& row = row_of(work.opcode);
  if (!row.is_posted) {
    return "a receive is posted to the receive queue";
  }
  if ((row.transports & carried_by(options.transport)) == 0) {
    return "queue pairs of this transport do not carry it";
  }
  if (work.pieces.size() > options.max_pieces) {
    return "the request has more pieces than the queue pair's max_pieces";
  }
  if (work.inline_data) {
    if (!carries_message(work.opcode)) {
      return "only SEND and WRITE carry data inline";
    }
    if (total_bytes(work.pieces) > options.max_inline_bytes) {
      return "more inline data than the queue pair was made for";
    }
  }
  if (is_atomic(work.opcode) && total_bytes(work.pieces) != word_bytes) {
    return "an atomic returns eight bytes";
  }
  if (work.opcode == Opcode::sflush && !work.pieces.empty() &&
      total_bytes(work.pieces) != word_bytes) {
    return "SFLUSH returns eight bytes, or none where it has no piece";
  }
  return work.opcode == Opcode::flush_payload ? why_not_post_payload(work) : nullptr;
}

const char* why_not_post_payload(const SendWork& work) {
  if (!work.pieces.empty() || work.flush_placement != FlushPlacement::persistence ||
      work.word.address % word_bytes != 0) {
    return "FLUSH with payload is one to persistence, has no pieces, and stores an aligned word";
  }
  return nullptr;
}

const char* why_not_post_datagram(const SendWork& work, const QueuePairOptions& options,
                                  std::uint32_t max_bytes) {
  if (const char* reason = why_not_post(work, options)) {
    return reason;
  }
  return total_bytes(work.pieces) > max_bytes
             ? "a datagram is one packet; the message is longer than max_datagram_bytes"
             : nullptr;
}

const char* why_not_receive(const ReceiveWork& work, const QueuePairOptions& options) {
  if (options.shared_receives != nullptr) {
    return "the queue pair takes from a shared receive queue; post there";
  }
  if (work.pieces.size() > options.max_pieces) {
    return "the request has more pieces than the queue pair's max_pieces";
  }
  if (options.transport == Transport::ud &&
      (work.pieces.empty() || work.pieces[0].size_bytes < datagram_header_bytes)) {
    return "the first piece of a datagram's receive holds the DatagramHeader, 40 bytes";
  }
  return nullptr;
}

}  // namespace remora::fabric
