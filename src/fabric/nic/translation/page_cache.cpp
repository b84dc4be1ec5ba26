#include "fabric/nic/translation/page_cache.h"

#include <utility>

namespace remora::fabric::nic {

void PageCache::find_behind(Set& set, std::uint64_t tag) {
  // It becomes the first, and those before its old place move one further; the oldest leaves.
  std::uint64_t moved = std::exchange(set[0], tag);
  for (std::size_t way = 1; way < set.size(); ++way) {
    moved = std::exchange(set[way], moved);
    if (moved == tag) {
      ++hits_;
      return;
    }
  }
  ++misses_;
}

void PageCache::forget(std::uint32_t key) {
  for (Set& set : sets_) {
    for (std::uint64_t& tag : set) {
      if ((tag & index_mask) == (key & index_mask)) {
        tag = 0;
      }
    }
  }
}

}  // namespace remora::fabric::nic
