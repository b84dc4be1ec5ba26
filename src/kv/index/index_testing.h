// For the tests of the index: tables in plain memory, and keys that are their own objects.
#pragma once

#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <set>
#include <vector>

#include "kv/index/index.h"

namespace remora::kv {

// Zeroed memory at a cache line.
class TableMemory {
 public:
  explicit TableMemory(std::uint64_t size_bytes)
      : bytes_(static_cast<std::byte*>(std::aligned_alloc(cache_line_bytes, size_bytes)),
               std::free),
        size_bytes_(size_bytes) {
    std::memset(bytes_.get(), 0, size_bytes);
  }
  operator Bytes() const { return {bytes_.get(), size_bytes_}; }

 private:
  std::unique_ptr<std::byte, decltype(&std::free)> bytes_;
  std::uint64_t size_bytes_;
};

// A key by its number: its object lies at number * 64, so that the place tells the key.
inline std::uint64_t place_of(std::uint64_t number) {
  return encode(Place{number * 64, 64, false, false});
}
inline auto is_key(std::uint64_t number) {
  return [number](IndexSlot slot) {
    return slot.place(0).offset == number * 64 || slot.place(1).offset == number * 64;
  };
}

// A table of `windows` windows with its memory, old and new.
struct TestIndex {
  explicit TestIndex(std::uint64_t windows = 16, std::uint64_t seed = 7)
      : memory(std::make_unique<TableMemory>(IndexGeometry{seed, windows}.table_bytes())),
        index(IndexGeometry{seed, windows}, *memory) {}

  Tag tag(std::uint64_t number) const { return index.tag(object_bytes(number)); }
  IndexSlot find(std::uint64_t number) const { return index.find(tag(number), is_key(number)); }
  IndexSlot insert(std::uint64_t number) { return index.insert(tag(number), 0, place_of(number)); }

  void begin_resize(std::uint64_t windows) {
    next = std::make_unique<TableMemory>(index.resized(windows).table_bytes());
    index.begin_resize(index.resized(windows), *next);
  }
  void begin_growth() { begin_resize(index.grown().windows); }
  void end_resize() {
    const Bytes old = index.end_resize();
    REMORA_CHECK(old.data() == Bytes(*memory).data(), "the old memory comes back");
    memory = std::move(next);
  }
  std::set<std::uint64_t> scanned(std::uint64_t most_entries = 5) const {
    std::set<std::uint64_t> numbers;
    Tag from = 0;
    do {
      from = index.scan(from, most_entries, [&](IndexSlot slot) {
        numbers.insert((slot.place(0).offset | slot.place(1).offset) / 64);
      });
    } while (from != 0);
    return numbers;
  }

  std::unique_ptr<TableMemory> memory;
  std::unique_ptr<TableMemory> next;
  Index index;
};

}  // namespace remora::kv
