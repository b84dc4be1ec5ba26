#include "fabric/nic/core/send_queue.h"

#include <algorithm>

#include "base/racy_copy.h"

namespace remora::fabric::nic {

SendEntry& SendQueue::push(const SendWork& work, std::uint64_t size_bytes) {
  SendEntry& entry = at(tail_);
  // Field by field: an entry that is built elsewhere and copied stalls on its small fields.
  entry.id = work.id;
  entry.remote = work.remote;
  entry.compare = work.compare;
  entry.operand = work.operand;
  entry.size_bytes = static_cast<std::uint32_t>(size_bytes);
  entry.immediate = work.immediate;
  entry.opcode = work.opcode;
  entry.flush_placement = work.flush_placement;
  entry.flush_select = work.flush_select;
  entry.signalled = work.signalled;
  entry.inline_data = work.inline_data;
  entry.fence = work.fence;
  entry.solicited = work.solicited;
  entry.piece_count = 0;
  entry.failure = WorkStatus::success;
  if (work.inline_data) {
    copy_inline(work);
  } else {
    entry.piece_count = static_cast<std::uint8_t>(work.pieces.size());
    std::copy(work.pieces.begin(), work.pieces.end(),
              pieces_.begin() + static_cast<std::ptrdiff_t>((tail_ & mask_) * max_pieces_));
  }
  ++tail_;
  return entry;
}

void SendQueue::copy_inline(const SendWork& work) {
  Bytes room(inline_.data() + std::size_t{tail_ & mask_} * max_inline_, max_inline_);
  for (const Sge& piece : work.pieces) {
    racy_copy(room, ConstBytes(piece.address, piece.size_bytes));
    room = room.subspan(piece.size_bytes);
  }
}

}  // namespace remora::fabric::nic
