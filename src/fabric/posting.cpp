#include "fabric/posting.h"

namespace remora::fabric {

std::uint64_t total_bytes_of_many(std::span<const Sge> pieces) {
  std::uint64_t total = 0;
  for (const Sge& piece : pieces) {
    total += piece.size_bytes;
  }
  return total;
}

const char* why_not_post(const SendWork& work, const QueuePairOptions& options) {
  if (work.opcode > Opcode::flush) {
    return "a receive is posted to the receive queue";
  }
  if (work.pieces.size() > options.max_pieces) {
    return "more pieces than the queue pair was made for";
  }
  if (work.inline_data) {
    if (work.opcode > Opcode::write_imm) {
      return "only SEND and WRITE carry data inline";
    }
    if (total_bytes(work.pieces) > options.max_inline_bytes) {
      return "more inline data than the queue pair was made for";
    }
  }
  if (is_atomic(work.opcode) && total_bytes(work.pieces) != word_bytes) {
    return "an atomic returns eight bytes";
  }
  return nullptr;
}

}  // namespace remora::fabric
