#include "fabric/nic/queue_pair/send_queue.h"

#include <algorithm>

#include "base/racy_copy.h"

namespace remora::fabric::nic {

// Its pieces, or what they hold.
void SendQueue::keep_bytes(const SendWork& work) {
  words_[tail_ & mask_] = work.word;
  if (!work.inline_data) {
    std::ranges::copy(work.pieces,
                      pieces_.begin() + static_cast<std::ptrdiff_t>((tail_ & mask_) * max_pieces_));
    return;
  }
  Bytes room(inline_.data() + std::size_t{tail_ & mask_} * max_inline_, max_inline_);
  for (const Sge& piece : work.pieces) {
    racy_copy(room, ConstBytes(piece.address, piece.size_bytes));
    room = room.subspan(piece.size_bytes);
  }
}

}  // namespace remora::fabric::nic
