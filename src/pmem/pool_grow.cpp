// A pool becomes larger: a piece is added behind its end, and nothing that is there moves.
//
// Why a cut leaves the old pool or the new one: all that is written before the last step lies where
// nobody looks in a pool of the old size, behind its end and behind its header's extensions. Only
// when that is persistent does one word of the header, version and segments, count the new piece.
// Records of the log name places in it only after that word is persistent.
//
// The new table is written, and not believed to be zero: a file that is longer than its pool may
// have anything there, as after a growth that was cut.
#include <algorithm>
#include <cstring>

#include "pmem/pool.h"
#include "pmem/pool_faults.h"

namespace remora {

Status Pool::grow(std::uint64_t size_bytes) {
  REMORA_TRY(usable());
  REMORA_TRY_RESULT(grown, layout_.grown_to(size_bytes));
  if (grown->size_bytes() > region_.size()) {
    return Status(Code::invalid_argument, "the pool's region is smaller than that");
  }
  write_piece(*grown);
  if (!faults_.planted(pool_faults::grown_first)) {
    const Ticket written = region_.drain();
    REMORA_TRY(failure_ = region_.wait(written));
  }
  write_version(grown->header());
  if (!faults_.planted(pool_faults::growth_not_awaited)) {
    const Ticket counted = region_.drain();
    REMORA_TRY(failure_ = region_.wait(counted));
  }
  layout_ = std::move(grown).value();
  log_.grow(layout_);
  allocator_.grow(layout_);
  return Status();
}

// A summary and a table in which nothing lives, and where they are.
void Pool::write_piece(const PoolLayout& grown) {
  const PoolPiece& piece = grown.pieces().back();
  const Bytes tables =
      region_.bytes().subspan(piece.summary, grown.place_of(piece.first_block) - piece.summary);
  if (!faults_.planted(pool_faults::growth_not_cleared)) {
    std::ranges::fill(tables, std::byte{0});
    region_.flush(tables);
  }
  const pool_format::Extension& extension = grown.extensions().back();
  const Bytes place = region_.bytes().subspan(
      pool_format::extension_place(grown.extensions().size() - 1), sizeof extension);
  std::memcpy(place.data(), &extension, sizeof extension);
  region_.flush(place);
}

}  // namespace remora
