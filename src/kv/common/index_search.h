// IndexSearch: how a client finds a key in the index by READs: the window of the key's tag and,
// where that is full and has no entry with the tag, its spill window. Both are of one table,
// whatever layout comes meanwhile.
//
//   IndexSearch search(layout.index, layout.geometry, layout.pool_bytes, key);
//   do {
//     READ window_bytes at search.next()
//     search.take(those bytes)
//   } while (search.goes_on());
//   for (const Window::Candidate& candidate : search.candidates()) ...
//
// The bytes come from a peer and prove nothing (window.h). It is made in the frame of a flow.
#pragma once

#include <cstdint>

#include "fabric/work.h"
#include "kv/index/window.h"

namespace remora::kv {

class IndexSearch {
 public:
  IndexSearch(const fabric::RemoteAddress& index, const IndexGeometry& geometry,
              std::uint64_t pool_bytes, ConstBytes key)
      : tag_(geometry.tag(key)),
        pool_bytes_(pool_bytes),
        next_{index.address + geometry.window_offset(tag_), index.key},
        spill_(index.address + geometry.spill_offset(tag_)) {}

  fabric::RemoteAddress next() const { return next_; }
  void take(ConstBytes window) {
    window_.copy(window);
    found_ = window_.entries_with(tag_);
  }
  // Whether another window is to be READ.
  bool goes_on() {
    if (next_.address == spill_ || found_ != 0 || !window_.full()) [[likely]] {
      return false;
    }
    next_.address = spill_;
    return true;
  }
  // The entries that may be the key's. Good while the search is.
  Window::Candidates candidates() const& { return window_.candidates(found_, pool_bytes_); }
  Window::Candidates candidates() const&& = delete;

 private:
  const Tag tag_;
  const std::uint64_t pool_bytes_;
  fabric::RemoteAddress next_;
  const std::uint64_t spill_;  // an address in the same table
  Window window_;
  unsigned found_ = 0;  // entries of the window
};

}  // namespace remora::kv
