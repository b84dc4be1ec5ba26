#include "kv/index/index_table.h"

#include "base/check.h"

namespace remora::kv {

IndexTable::IndexTable(const IndexGeometry& geometry, Bytes memory)
    : geometry_(geometry),
      memory_(memory),
      entries_(reinterpret_cast<IndexEntry*>(memory.data()), geometry.windows * window_entries) {
  REMORA_CHECK(geometry.plausible(), "a table has a power of two of windows, at least 4");
  REMORA_CHECK(memory.size() >= geometry.table_bytes(), "the table needs more memory");
  REMORA_CHECK(reinterpret_cast<std::uintptr_t>(memory.data()) % cache_line_bytes == 0,
               "the table begins at a cache line");
}

// Where it is crowded for keys that found their windows full, a smaller one would be too.
std::uint64_t IndexTable::fitting_windows(std::uint64_t least) const {
  if (crowded()) {
    return geometry_.windows * std::uint64_t{2};
  }
  if (geometry_.windows <= least || size_ * 8 >= geometry_.windows * keys_per_window) [[likely]] {
    return geometry_.windows;
  }
  std::uint64_t windows = std::max(least, windows_for(2 * size_));
  while (windows < geometry_.windows && overflow_.size() * 2 > overflow_limit(windows)) {
    windows *= 2;
  }
  return std::min<std::uint64_t>(windows, geometry_.windows);
}

// A free entry of the window, or one that a key with the same tag has left. The places are stored
// before the tag: who sees the tag sees them, or newer ones.
IndexSlot IndexTable::insert(Tag tag, std::size_t mark,
                             const std::array<std::uint64_t, 2>& places) {
  REMORA_CHECK(tag != 0 && mark <= 1 && (places[0] | places[1]) != 0,
               "an entry has a tag and a place");
  IndexEntry* entry = nullptr;
  for (IndexEntry& candidate : window(geometry_.window(tag))) {
    const IndexSlot slot(&candidate);
    if (slot.tag() == tag && !slot.has_place()) {
      entry = &candidate;
      break;
    }
    if (entry == nullptr && slot.tag() == 0) {
      entry = &candidate;
    }
  }
  if (entry == nullptr) {
    entry = overflow_.emplace(tag, Overflowed{free_spilled(tag)})->second.slot().entry_;
  }
  size_ += IndexSlot(entry).tag() == 0 ? 1u : 0u;
  IndexSlot::store(entry->mark, mark);
  IndexSlot::store(entry->place[0], places[0]);
  IndexSlot::store(entry->place[1], places[1]);
  IndexSlot::store(entry->tag, tag);
  return IndexSlot(entry);
}

// Two keys never have the same place, so tag and places tell them apart. Entries without places
// that share a tag are as good as each other.
IndexSlot IndexTable::find_twin(IndexSlot slot) const {
  const Tag tag = slot.tag();
  const auto same = [&](IndexEntry& entry) {
    const IndexSlot other(&entry);
    return other.tag() == tag && other.place_word(0) == slot.place_word(0) &&
           other.place_word(1) == slot.place_word(1);
  };
  for (IndexEntry& entry : window(geometry_.window(tag))) {
    if (same(entry)) {
      return IndexSlot(&entry);
    }
  }
  for (auto [at, end] = overflow_.equal_range(tag); at != end; ++at) {
    if (same(*at->second.slot().entry_)) {
      return at->second.slot();
    }
  }
  return IndexSlot();
}

IndexEntry* IndexTable::free_spilled(Tag tag) const {
  auto* const entries = reinterpret_cast<IndexEntry*>(memory_.data() + geometry_.spill_offset(tag));
  for (IndexEntry& entry : std::span(entries, window_entries)) {
    if (IndexSlot(&entry).tag() == 0) {
      return &entry;
    }
  }
  return nullptr;
}

bool IndexTable::is_overflowed(IndexSlot slot) const {
  return slot.entry_ < entries_.data() || slot.entry_ >= entries_.data() + entries_.size();
}

void IndexTable::release(IndexSlot slot) {
  REMORA_CHECK(!slot.has_place(), "an entry is released when it has no place");
  --size_;
  if (!is_overflowed(slot)) {
    IndexSlot::store(slot.entry_->tag, 0);
    return;
  }
  for (auto [at, end] = overflow_.equal_range(slot.tag()); at != end; ++at) {
    if (at->second.slot() == slot) {
      IndexSlot::store(slot.entry_->tag, 0);
      overflow_.erase(at);
      return;
    }
  }
  REMORA_CHECK(false, "an entry is released once");
}

}  // namespace remora::kv
