// How a WRITE that is large, or that a FLUSH follows, gets to the target's memory.
#include <algorithm>

#include "fabric/nic/wire/mapped/mapped_lane.h"
#include "fabric/nic/wire/mapped/mapped_stores.h"

namespace remora::fabric::nic::mapped {

// What a FLUSH follows need not stay in a cache, if whole lines can be stored past them. True when
// no byte went into a cache.
bool MappedLane::store_perhaps_past_caches(const Place& place, std::uint64_t at, ConstBytes from,
                                           bool is_flushed) {
  Known& known = *place.known;
  if (known.medium == static_cast<std::uint8_t>(Granularity::page) && store_by_file(place, from)) {
    known.dirty.add(at, from.size());
    return false;
  }
  if ((known.rights & relaxed_order) != 0) {
    return store_in_any_order(place, at, from, is_flushed);
  }
  const bool is_line_last = is_flushed && known.mapping->medium->copies_lines() &&
                            from.size() >= cache_line_bytes &&
                            is_aligned(place.at + from.size(), cache_line_bytes);
  if (is_line_last || from.size() >= limits::past_cache_bytes) {
    store_past_caches(place, at, from, is_line_last);
    return is_line_last && is_aligned(place.at, cache_line_bytes);
  }
  copy_last_word_last(place.at, from);
  known.dirty.add(at, from.size());
  return false;
}

// Words stay whole where both sides begin with a word: the kernel stops and goes on where a page of
// the source is not there, and copies words, or bytes in an order that makes words of them. False:
// some of it may be there, and all of it is to be stored.
bool MappedLane::store_by_file(const Place& place, ConstBytes from) {
  const MappedPages& pages = *place.known->mapping->pages;
  const auto offset = static_cast<std::uint64_t>(place.at - pages.bytes().data());
  const std::size_t last_at = round_down(from.size() - 1, word_bytes);
  const bool is_aligned =
      (offset | reinterpret_cast<std::uintptr_t>(from.data())) % word_bytes == 0;
  return is_aligned && last_at != 0 && pages.write(offset, from.first(last_at)) &&
         pages.write(offset + last_at, from.subspan(last_at));
}

// With `is_line_last` the end is a whole line, and a FLUSH waits for it.
void MappedLane::store_past_caches(const Place& place, std::uint64_t at, ConstBytes from,
                                   bool is_line_last) {
  Known& known = *place.known;
  const std::size_t head = -reinterpret_cast<std::uintptr_t>(place.at) % cache_line_bytes;
  // One to 64 bytes are left for the end.
  const std::size_t body = round_down(from.size() - head - 1, cache_line_bytes);
  const std::size_t tail_at = head + body;
  if (!is_line_last) {
    __builtin_prefetch(place.at + tail_at, 1);
  }
  if (head != 0) {
    copy_ascending(place.at, from.first(head));
    known.dirty.add(at, head);
  }
  if (body != 0) {
    Region& medium = *known.mapping->medium;
    medium.copy(place.at + head, from.subspan(head, body));
    (void)medium.drain();
  }
  if (is_line_last) {
    streamed_ = known.mapping->medium;
    streamed_->copy_line(place.at + tail_at, from.data() + tail_at);
    return;
  }
  copy_ascending(place.at + tail_at, from.subspan(tail_at));
  known.dirty.add(at + tail_at, from.size() - tail_at);
}

// Whole lines past the caches, and one fence for all of them: that of the FLUSH, if one follows.
bool MappedLane::store_in_any_order(const Place& place, std::uint64_t at, ConstBytes from,
                                    bool is_flushed) {
  Known& known = *place.known;
  const std::size_t head = std::min<std::size_t>(
      -reinterpret_cast<std::uintptr_t>(place.at) % cache_line_bytes, from.size());
  const std::size_t body = round_down(from.size() - head, std::size_t{cache_line_bytes});
  const std::size_t tail_at = head + body;
  if (head != 0) {
    copy_ascending(place.at, from.first(head));
    known.dirty.add(at, head);
  }
  Region& medium = *known.mapping->medium;
  if (body == cache_line_bytes && medium.copies_lines()) {
    medium.copy_line(place.at + head, from.data() + head);  // quicker than a copy of any size
  } else if (body != 0) {
    medium.copy(place.at + head, from.subspan(head, body));
  }
  if (tail_at != from.size()) {
    copy_ascending(place.at + tail_at, from.subspan(tail_at));
    known.dirty.add(at + tail_at, from.size() - tail_at);
  }
  streamed_ = body != 0 ? &medium : streamed_;
  if (!is_flushed) {
    drain_streamed();
  }
  return body == from.size();
}

void MappedLane::drain_streamed() {
  if (streamed_ != nullptr) {
    (void)streamed_->drain();
    streamed_ = nullptr;
  }
}

}  // namespace remora::fabric::nic::mapped
