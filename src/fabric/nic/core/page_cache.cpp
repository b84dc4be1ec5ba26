#include "fabric/nic/core/page_cache.h"

#include <algorithm>

namespace remora::fabric::nic {

void PageCache::find_behind(Set& set, std::uint64_t tag) {
  auto at = std::find(set.begin() + 1, set.end(), tag);
  if (at != set.end()) {
    ++hits_;
  } else {
    ++misses_;
    --at;  // the oldest leaves
    *at = tag;
  }
  std::rotate(set.begin(), at, at + 1);
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
