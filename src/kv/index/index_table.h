// IndexTable: one table of the index and the list of keys that found their window full, without
// changes of size. Used by Index; see there for the rules.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <span>

#include "base/bytes.h"
#include "kv/index/index_format.h"

namespace remora::kv {

// An entry, or none. A plain pointer: good until the entry is released or the table replaced.
class IndexSlot {
 public:
  IndexSlot() = default;
  explicit IndexSlot(IndexEntry* entry) : entry_(entry) {}

  explicit operator bool() const { return entry_ != nullptr; }
  bool operator==(const IndexSlot&) const = default;

  Tag tag() const { return load(entry_->tag); }
  std::uint64_t place_word(std::size_t which) const { return load(entry_->place[which]); }
  Place place(std::size_t which) const { return decode(place_word(which)); }
  std::size_t mark() const { return load(entry_->mark) & 1; }
  bool has_place() const { return (place_word(0) | place_word(1)) != 0; }

 private:
  friend class Index;
  friend class IndexTable;

  // The owner is the only writer, so its own loads need no order.
  static std::uint64_t load(std::uint64_t& word) {
    return std::atomic_ref(word).load(std::memory_order_relaxed);
  }
  static void store(std::uint64_t& word, std::uint64_t value) {
    std::atomic_ref(word).store(value, std::memory_order_release);
  }

  IndexEntry* entry_ = nullptr;
};

class IndexTable {
 public:
  IndexTable(const IndexGeometry& geometry, Bytes memory);

  const IndexGeometry& geometry() const { return geometry_; }
  Bytes memory() const { return memory_; }
  std::uint64_t size() const { return size_; }
  std::uint64_t overflowed() const { return overflow_.size(); }
  bool crowded() const {
    return size_ > geometry_.windows * keys_per_window ||
           overflow_.size() > overflow_limit(geometry_.windows);
  }
  std::uint64_t fitting_windows(std::uint64_t least) const;

  template <typename IsMine>
  IndexSlot find(Tag tag, const IsMine& is_mine) const {
    for (IndexEntry& entry : window(geometry_.window(tag))) {
      const IndexSlot slot(&entry);
      if (slot.tag() == tag && slot.has_place() && is_mine(slot)) {
        return slot;
      }
    }
    return overflow_.empty() ? IndexSlot() : find_overflowed(tag, is_mine);
  }

  // The places are those of an entry that need not have both; one of them is there.
  IndexSlot insert(Tag tag, std::size_t mark, const std::array<std::uint64_t, 2>& places);
  void release(IndexSlot slot);

  // The entry with the tag and the places of one in another table.
  IndexSlot find_twin(IndexSlot slot) const;
  // Whether the entry is in the list of those that found their window full.
  bool is_overflowed(IndexSlot slot) const;

  std::span<IndexEntry> window(std::uint64_t index) const {
    return entries_.subspan(index * window_entries, window_entries);
  }
  // visit(IndexSlot) for every entry with a place that found its window full, of windows from
  // `first` to `last`.
  template <typename Visit>
  void visit_overflowed(std::uint64_t first, std::uint64_t last, const Visit& visit) const {
    for (auto at = overflow_.lower_bound(first_tag(first));
         at != overflow_.end() && geometry_.window(at->first) <= last; ++at) {
      if (at->second.slot().has_place()) {
        visit(at->second.slot());
      }
    }
  }

  template <typename Visit>
  Tag scan(Tag from, std::uint64_t most_entries, const Visit& visit) const {
    std::uint64_t visited = 0;
    const auto count_and_visit = [&](IndexSlot slot) {
      visited += empty_windows_per_entry;
      visit(slot);
    };
    std::uint64_t index = geometry_.window(from);
    do {
      for (IndexEntry& entry : window(index)) {
        if (IndexSlot(&entry).tag() != 0 && IndexSlot(&entry).has_place()) {
          count_and_visit(IndexSlot(&entry));
        }
      }
      visit_overflowed(index, index, count_and_visit);
      ++index;
      // Empty windows count a little, so that one call is bounded.
      ++visited;
    } while (index < geometry_.windows && visited / empty_windows_per_entry < most_entries);
    return index < geometry_.windows ? first_tag(index) : 0;
  }

 private:
  static constexpr std::uint64_t empty_windows_per_entry = 8;

  // Keys that may find their window full before a table of so many is crowded.
  static std::uint64_t overflow_limit(std::uint64_t windows) { return windows / 64 + 4; }

  // An entry that found its window full: in the spill window or, where that was full too, here.
  struct Overflowed {
    IndexEntry* spilled = nullptr;
    IndexEntry own = {};

    IndexSlot slot() { return IndexSlot(spilled != nullptr ? spilled : &own); }
  };
  using Overflow = std::multimap<Tag, Overflowed>;

  // A free entry of the tag's spill window, or null.
  IndexEntry* free_spilled(Tag tag) const;
  Tag first_tag(std::uint64_t index) const {
    return index << (64 - std::countr_zero(geometry_.windows));
  }
  template <typename IsMine>
  IndexSlot find_overflowed(Tag tag, const IsMine& is_mine) const {
    for (auto [at, end] = overflow_.equal_range(tag); at != end; ++at) {
      const IndexSlot slot = at->second.slot();
      if (slot.has_place() && is_mine(slot)) {
        return slot;
      }
    }
    return IndexSlot();
  }

  IndexGeometry geometry_;
  Bytes memory_;
  std::span<IndexEntry> entries_;
  mutable Overflow overflow_;
  std::uint64_t size_ = 0;
};

}  // namespace remora::kv
