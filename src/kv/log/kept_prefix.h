// KeptPrefix: how much of what was written a power cut has left. A cut may keep a later version and
// lose an earlier one, or keep one part of a write of several keys. What recovery believes is a
// prefix of the history: up to the first version that is missing, and up to the begin of the first
// write of several keys that is not whole.
//
// Nothing is lost by that. Versions are flushed in the order of their sequence numbers, which have
// no gaps, and every ticket covers all that was flushed before it was drawn. So where one is
// missing, nothing that came later was ever acknowledged as persistent, or returned by a get that
// promises so.
//
// The store knows of a number up to which everything was persistent (store_format: settled), so
// that older versions may be cleaned away and leave gaps. A version that was called durable, or
// lies before its segment's mark, says the same of all before it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "kv/log/object.h"

namespace remora::kv {

class KeptPrefix {
 public:
  explicit KeptPrefix(std::uint64_t settled) : settled_(settled) {}

  // A version that was found, or its copy. Those that are settled need not be told of.
  struct Version {
    std::uint64_t sequence = 0;
    Offset offset = 0;
    bool more = false;            // the next one belongs to the same write
    bool was_persistent = false;  // it says so itself, or the mark before which it lies
  };
  void add(const Version& version) { versions_.push_back(version); }
  bool empty() const { return versions_.empty(); }

  // The first sequence number that does not count, given all versions. `is_whole(Offset)` says
  // whether a version is complete; it is asked of those that were written together.
  template <typename IsWhole>
  std::uint64_t end(const IsWhole& is_whole);

 private:
  std::uint64_t settled_;
  std::vector<Version> versions_;
};

template <typename IsWhole>
std::uint64_t KeptPrefix::end(const IsWhole& is_whole) {
  std::ranges::sort(versions_, {}, &Version::sequence);
  for (const Version& version : versions_) {
    settled_ = version.was_persistent ? std::max(settled_, version.sequence) : settled_;
  }
  std::uint64_t begin = settled_ + 1;  // of the write that is looked at
  std::uint64_t expected = begin;
  bool is_in_write = false;
  for (auto at = versions_.begin(); at != versions_.end();) {
    const std::uint64_t sequence = at->sequence;
    bool more = false;
    bool whole = false;
    const bool is_settled = sequence < expected;
    const auto first = at;
    for (; at != versions_.end() && at->sequence == sequence; ++at) {
      more = more || at->more;
    }
    if (is_settled) {
      // All of a write was persistent where a part of it was.
      begin = expected += sequence + 1 == expected && more ? 1 : 0;
      continue;
    }
    if (sequence != expected) {
      return begin;
    }
    is_in_write = is_in_write || more;
    for (auto one = first; is_in_write && !whole && one != at; ++one) {
      whole = is_whole(one->offset);
    }
    if (is_in_write && !whole) {
      return begin;
    }
    is_in_write = more;
    ++expected;
    begin = more ? begin : expected;
  }
  return begin;
}

}  // namespace remora::kv
