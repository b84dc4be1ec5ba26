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
#include <utility>

#include "pmem/pool.h"
#include "pmem/pool_faults.h"

namespace remora {

Status Pool::grow(std::uint64_t size_bytes) {
  REMORA_TRY(usable());
  REMORA_TRY_RESULT(growth, begin_growth(size_bytes));
  const std::optional<Ticket> written = write_growth(*growth, size_bytes);
  REMORA_TRY(failure_ = region_.wait(*written));
  const Ticket counted = count_growth(*growth);
  REMORA_TRY(failure_ = region_.wait(counted));
  end_growth(std::move(growth).value());
  return Status();
}

Result<Pool::Growth> Pool::begin_growth(std::uint64_t size_bytes) const {
  REMORA_TRY_RESULT(grown, layout_.grown_to(size_bytes));
  if (grown->size_bytes() > region_.size()) {
    return Status(Code::invalid_argument, "the pool's region is smaller than that");
  }
  const Offset begin = grown->pieces().back().summary;
  return Growth{std::move(grown).value(), begin};
}

// A summary and a table in which nothing lives, and then where they are.
std::optional<Ticket> Pool::write_growth(Growth& growth, std::uint64_t most_bytes) {
  const Offset end = growth.layout.place_of(growth.layout.pieces().back().first_block);
  const Bytes tables = region_.bytes().subspan(
      growth.written, std::min<std::uint64_t>(most_bytes, end - growth.written));
  if (!faults_.planted(pool_faults::growth_not_cleared)) {
    std::ranges::fill(tables, std::byte{0});
    region_.flush(tables);
  }
  growth.written += tables.size();
  if (growth.written != end) {
    return std::nullopt;
  }
  const auto extensions = growth.layout.extensions();
  const Bytes place = region_.bytes().subspan(pool_format::extension_place(extensions.size() - 1),
                                              sizeof extensions.back());
  std::memcpy(place.data(), &extensions.back(), sizeof extensions.back());
  region_.flush(place);
  return faults_.planted(pool_faults::grown_first) ? Ticket{} : region_.drain();
}

Ticket Pool::count_growth(const Growth& growth) {
  write_version(growth.layout.header());
  return faults_.planted(pool_faults::growth_not_awaited) ? Ticket{} : region_.drain();
}

void Pool::end_growth(Growth&& growth) {
  layout_ = std::move(growth.layout);
  log_.grow(layout_);
  allocator_.grow(layout_);
}

}  // namespace remora
