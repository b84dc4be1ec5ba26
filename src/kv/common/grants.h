// Grants: the space that one client was given to write values to, and has, or had a moment ago.
//
// The log hands out ascending space within a segment, so the grants in one segment are a sorted run
// that is appended to. What a client asks about is most often what it was given last: runs are
// searched from their end, in steps that double. To open and to find costs the logarithm of how
// long ago it was opened; there is no allocation once a run has grown to what the client uses.
//
// A grant is numbered. It goes with drop_before, when the client has said that nothing is under way
// that it began before; or, where it is of no use any more, when so many came after it that the
// client cannot ask about it again.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "kv/log/object_format.h"

namespace remora::kv {

struct Grant {
  Offset begin = 0;  // of the value, in the pool
  std::uint64_t number = 0;
  std::uint32_t size_bytes = 0;
  std::uint16_t head_bytes = 0;  // of the object, before the value
  bool written = false;          // to its end, at least once
  bool closed = false;           // its bytes stand still

  Offset end() const { return begin + size_bytes; }
  Offset object() const { return begin - head_bytes; }
};
static_assert(sizeof(Grant) == 24);

class Grants {
 public:
  // What lies so far behind the newest grant is asked about no more, if it is written or past.
  static constexpr std::uint64_t remembered = 1024;

  // The number of the next grant.
  std::uint64_t next_number() const { return next_number_; }
  // Those that are open or remembered.
  std::size_t size() const { return size_; }

  // Space for a value in the object that begins there. `is_past(const Grant&)` says of one that was
  // not seen written whether it is of no use any more.
  template <typename IsPast>
  void open(SegmentNumber segment, Offset object, Offset value, std::uint32_t value_bytes,
            const IsPast& is_past) {
    if (newest_ >= runs_.size() || runs_[newest_].segment != segment) [[unlikely]] {
      choose_run(segment, value, is_past);
    }
    Run& run = runs_[newest_];
    run.grants.push_back({.begin = value,
                          .number = next_number_++,
                          .size_bytes = value_bytes,
                          .head_bytes = static_cast<std::uint16_t>(value - object),
                          .written = value_bytes == 0});
    ++size_;
    if (run.grants.size() >= run.tidy_at) [[unlikely]] {
      tidy(run, is_past);
    }
  }

  // The grant in which all of these bytes lie, or null. Good until the next call that is not const.
  Grant* find(Offset begin, std::uint64_t size_bytes);
  // The grant of the object that begins there, or null.
  Grant* find_object(Offset object);

  // All with smaller numbers go.
  void drop_before(std::uint64_t number);

 private:
  struct Run {
    SegmentNumber segment = 0;
    std::size_t tidy_at = 2 * remembered;
    std::vector<Grant> grants;  // ascending, and never empty but while one is added
  };

  // The last grant of which `begin` of it lies there or before, or null.
  template <typename Begin>
  Grant* last_upto(Offset place, const Begin& begin);
  void drop_empty_runs();
  void find_or_add_run(SegmentNumber segment, Offset place);

  // Appends go to this segment's run from now on; what the others remember is looked through.
  template <typename IsPast>
  void choose_run(SegmentNumber segment, Offset place, const IsPast& is_past) {
    for (Run& run : runs_) {
      tidy(run, is_past);
    }
    drop_empty_runs();
    find_or_add_run(segment, place);
  }

  template <typename IsPast>
  void tidy(Run& run, const IsPast& is_past) {
    const std::size_t before = run.grants.size();
    std::erase_if(run.grants, [&](const Grant& grant) {
      return grant.number + remembered < next_number_ &&
             (grant.written || grant.closed || is_past(grant));
    });
    size_ -= before - run.grants.size();
    run.tidy_at = 2 * std::max<std::size_t>(run.grants.size(), remembered);
  }

  std::vector<Run> runs_;  // ascending by where they lie
  std::size_t newest_ = 0;
  std::size_t size_ = 0;
  std::uint64_t next_number_ = 1;
};

}  // namespace remora::kv
