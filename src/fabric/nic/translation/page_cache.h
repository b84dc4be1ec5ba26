// PageCache: the pin-down cache of page translations. A page that is found costs nothing; one that
// is not must be looked up in the page table of its region, which takes a NIC some time.
//
// Set associative, least recently used leaves first. No allocation after it was made.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "base/bytes.h"
#include "fabric/nic/limits.h"

namespace remora::fabric::nic {

class PageCache {
 public:
  explicit PageCache(std::uint32_t entries = limits::cached_pages)
      : sets_(std::bit_floor(std::max(entries / limits::cache_ways, 1U))),
        mask_(static_cast<std::uint32_t>(sets_.size()) - 1) {}

  // Translates every page of the range, which is not empty.
  void touch(std::uint32_t key, std::uint64_t address, std::uint64_t size_bytes) {
    const std::uint64_t last = (address + size_bytes - 1) / page_bytes;
    for (std::uint64_t page = address / page_bytes; page <= last; ++page) {
      touch_page(key, page);
    }
  }

  // Drops every page of this region.
  void forget(std::uint32_t key);

  std::uint64_t hits() const { return hits_; }
  std::uint64_t misses() const { return misses_; }
  // Misses since the last call.
  std::uint64_t take_misses() {
    const std::uint64_t fresh = misses_ - told_;
    told_ = misses_;
    return fresh;
  }

 private:
  // Most recently used first. A tag is a page number and the index of a region, never zero.
  using Set = std::array<std::uint64_t, limits::cache_ways>;

  static constexpr std::uint32_t index_mask = (1U << limits::region_index_bits) - 1;

  static std::uint64_t tag_of(std::uint32_t key, std::uint64_t page) {
    return page << limits::region_index_bits | (key & index_mask);
  }

  void touch_page(std::uint32_t key, std::uint64_t page) {
    const std::uint64_t tag = tag_of(key, page);
    Set& set = sets_[(page ^ (key & index_mask) * 31) & mask_];
    if (set[0] == tag) [[likely]] {
      ++hits_;
    } else {
      find_behind(set, tag);
    }
  }

  void find_behind(Set& set, std::uint64_t tag);

  std::vector<Set> sets_;  // a power of two of them, so that a mask chooses one
  std::uint64_t mask_;
  std::uint64_t hits_ = 0;
  std::uint64_t misses_ = 0;
  std::uint64_t told_ = 0;
};

}  // namespace remora::fabric::nic
