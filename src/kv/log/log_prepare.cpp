// Room for several objects before the first of them is written.
#include "kv/log/log.h"

namespace remora::kv {

// In the order in which append() will ask for them.
Status Log::prepare(std::span<const std::uint64_t> sizes_bytes, DataPool pool, Reserve reserve) {
  REMORA_CHECK(pool == DataPool::current || cleaning_, "there is no next data pool");
  REMORA_TRY(changeable());
  std::deque<Segment*>& prepared = prepared_[static_cast<std::size_t>(pool)];
  REMORA_CHECK(prepared.empty(), "what was prepared before was used");
  const Segment* const open = open_[static_cast<std::size_t>(pool)];
  std::uint64_t left = open == nullptr ? 0 : open->capacity_bytes - open->used_bytes;
  for (const std::uint64_t size : sizes_bytes) {
    if (size <= left) {
      left -= size;
      continue;
    }
    const Result<Segment*> opened = open_for(size, pool, reserve);
    if (!opened.ok()) {
      drop_prepared(pool);
      return opened.status();
    }
    prepared.push_back(*opened);
    left = size <= segment_bytes_ ? (*opened)->capacity_bytes - size : left;
  }
  return Status();
}

// Nothing is in them, and nobody has heard of them.
void Log::drop_prepared(DataPool pool) {
  std::deque<Segment*>& prepared = prepared_[static_cast<std::size_t>(pool)];
  const std::size_t count = prepared.size();
  for (const Segment* const segment : prepared) {
    dead_.push_back(*segment);
  }
  prepared.clear();
  for (const Segment& segment : std::span(dead_).last(count)) {
    segments_.erase(segment.offset);
  }
  recount();
  if (!free_dead(count).ok()) {
    return;  // the pool is closed, and they are found empty by recovery
  }
}

}  // namespace remora::kv
