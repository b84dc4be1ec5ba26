// DirtyRanges: what was written through the caches and not flushed since. Few ranges, exact while
// they are few; when there are more, some are taken together, which flushes more than is needed and
// never less.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "base/bytes.h"
#include "fabric/nic/wire/mapped/mapped_limits.h"

namespace remora::fabric::nic::mapped {

class DirtyRanges {
 public:
  struct Range {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
  };

  void add(std::uint64_t begin, std::uint64_t size_bytes) {
    const std::uint64_t end = begin + size_bytes;
    if (count_ != 0) [[likely]] {
      Range& last = ranges_[count_ - 1];
      if (last.begin <= begin && end <= last.end) {
        return;  // nothing to store
      }
      if (touches(last, begin, end)) {
        take_in(last, begin, end);
        return;
      }
    }
    add_elsewhere(begin, end);
  }

  bool empty() const { return count_ == 0; }
  // The range that was added to last, or that took its place. Not when empty.
  const Range& latest() const { return ranges_[count_ - 1]; }

  // Calls flush(range) for the parts within [begin, end), and forgets them.
  template <typename Flush>
  void take(std::uint64_t begin, std::uint64_t end, Flush flush) {
    for (std::size_t i = 0; i < count_;) {
      Range& range = ranges_[i];
      const Range part = {std::max(range.begin, begin), std::min(range.end, end)};
      if (part.begin >= part.end) {
        ++i;
        continue;
      }
      flush(part);
      if (part.begin == range.begin && part.end == range.end) {
        range = ranges_[--count_];
        continue;
      }
      if (part.begin == range.begin) {
        range.begin = part.end;
      } else if (part.end == range.end) {
        range.end = part.begin;
      }  // what is cut out of the middle stays, and is flushed once more
      ++i;
    }
  }

 private:
  static bool touches(const Range& range, std::uint64_t begin, std::uint64_t end) {
    return begin <= range.end && range.begin <= end;
  }
  static void take_in(Range& range, std::uint64_t begin, std::uint64_t end) {
    range = {std::min(range.begin, begin), std::max(range.end, end)};
  }

  void add_elsewhere(std::uint64_t begin, std::uint64_t end) {
    for (std::size_t i = 0; i < count_; ++i) {
      if (touches(ranges_[i], begin, end)) {
        take_in(ranges_[i], begin, end);
        return;
      }
    }
    if (count_ == ranges_.size()) {
      take_in(ranges_[count_ - 1], begin, end);
    } else {
      ranges_[count_++] = {begin, end};
    }
  }

  std::array<Range, limits::dirty_ranges> ranges_;
  std::size_t count_ = 0;
};

}  // namespace remora::fabric::nic::mapped
