// TimeWheel: the versions that have a time, by that time. What is due comes out; what is not is
// looked at a few times in its life, when its time comes nearer.
//
// Seven wheels of 64 buckets, as wide as 1 ms, 64 ms, 4 s and so on: an entry lies in the wheel of
// the highest digit in which its time differs from `now`, and goes to lower ones when `now` comes
// to its bucket. Adding costs the same however many there are.
//
// An entry is 16 bytes: the tag of the key, its time, and a part of the sequence number of the
// version. It does not follow its key: where that is put again, or deleted, the entry stays, and is
// dropped when it is due. So that keys which are put again and again leave no heap of those, every
// add() looks at some entries while there are more than twice as many as versions with a time, and
// drops those that speak of none: there are never more than three times as many (and 1,500).
//
// What is said of times is in milliseconds since 1970. A clock that is set back is followed.
//
// One thread. The questions that it is handed do not change it.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <utility>

#include "kv/index/index_format.h"

namespace remora::kv::efactory {

struct TimedVersion {
  static constexpr unsigned sequence_bits = 22;
  static constexpr std::uint64_t latest_ms = (std::uint64_t{1} << (64 - sequence_bits)) - 1;

  Tag tag = 0;
  std::uint64_t word = 0;  // the time, and below it the low bits of the sequence number

  static TimedVersion of(Tag tag, std::uint64_t expires_ms, std::uint64_t sequence) {
    const std::uint64_t low = sequence & ((std::uint64_t{1} << sequence_bits) - 1);
    return {tag, std::min(expires_ms, latest_ms) << sequence_bits | low};
  }
  std::uint64_t expires_ms() const { return word >> sequence_bits; }
  bool operator==(const TimedVersion&) const = default;
};
static_assert(sizeof(TimedVersion) == 16);

// Entries in the order in which they came.
class TimedList {
 public:
  TimedList() = default;
  TimedList(TimedList&& other) noexcept { swap(other); }
  TimedList& operator=(TimedList&& other) noexcept {
    swap(other);
    return *this;
  }
  ~TimedList() { clear(); }

  bool empty() const { return first_ == nullptr; }
  void push(const TimedVersion& entry);
  // Requires that there is one.
  TimedVersion pop();
  // Some of the first ones go, not more than 31.
  void drop_some();
  // All of the other's, behind its own.
  void take(TimedList&& other);
  void clear();
  template <typename Visit>
  void for_each(const Visit& visit) const {
    for (const Chunk* chunk = first_.get(); chunk != nullptr; chunk = chunk->next.get()) {
      for (std::size_t i = chunk->begin; i < chunk->end; ++i) {
        visit(chunk->entries[i]);
      }
    }
  }

 private:
  struct Chunk {
    std::unique_ptr<Chunk> next;
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
    std::array<TimedVersion, 31> entries;
  };

  void swap(TimedList& other) {
    std::swap(first_, other.first_);
    std::swap(last_, other.last_);
  }

  std::unique_ptr<Chunk> first_;
  Chunk* last_ = nullptr;
};

class TimeWheel {
 public:
  explicit TimeWheel(std::uint64_t now_ms) : now_ms_(now_ms) {}

  // What became of an entry that was due.
  enum class Outcome : std::uint8_t {
    ended,  // it is of no use any more
    later,  // it is to come again
  };

  std::uint64_t size() const { return size_; }

  // is_of_use(const TimedVersion&): whether its version is still asked for. `in_use` is how many
  // versions have a time.
  template <typename IsOfUse>
  void add(const TimedVersion& entry, std::uint64_t in_use, const IsOfUse& is_of_use) {
    place(entry);
    ++size_;
    if (sifts_ || size_ > 2 * in_use + few_entries) [[unlikely]] {
      sift(is_of_use);
    }
  }

  // Up to so many that are due go to due(const TimedVersion&) -> Outcome, in about the order of
  // their times; a few times as many are put into lower wheels. Returns whether more might be done
  // at once.
  template <typename IsOfUse, typename Due>
  bool turn(std::uint64_t now_ms, std::uint64_t most, const IsOfUse& is_of_use, const Due& due);

  // How many of the entries whose time has come pass counts(const TimedVersion&). Costs time in
  // proportion to those that turn() has not ended.
  template <typename Counts>
  std::uint64_t count_due(std::uint64_t now_ms, const Counts& counts) const;

  // No entry is due before this time; 0 while some may be now, never_ms where there is none.
  std::uint64_t next_ms() const;
  static constexpr std::uint64_t never_ms = UINT64_MAX;

  // Takes no longer for many entries: their memory is given back by turns to come.
  void clear();

 private:
  static constexpr unsigned digit_bits = 6;
  static constexpr std::size_t digits = 64;  // of a wheel
  static constexpr std::size_t wheels = 7;
  static_assert(wheels * digit_bits == 64 - TimedVersion::sequence_bits);
  static constexpr std::uint64_t few_entries = 1'000;
  static constexpr std::size_t sifted_per_add = 4;
  static constexpr std::uint64_t placed_per_due = 8;
  static constexpr int dropped_per_turn = 16;  // parts of lists
  // By which a clock may be behind what it has shown before entries are placed anew.
  static constexpr std::uint64_t behind_ms = 1'000;

  struct Bucket {
    std::size_t wheel = 0;
    std::size_t digit = 0;
    std::uint64_t begin_ms = 0;
  };

  void place(const TimedVersion& entry);
  // The bucket that comes next; its begin is never_ms where all are empty.
  Bucket next_bucket() const;
  TimedList take(std::size_t wheel, std::size_t digit);
  // Whether one of those that are to be placed was.
  template <typename IsOfUse>
  bool place_one(const IsOfUse& is_of_use);
  template <typename IsOfUse>
  void sift(const IsOfUse& is_of_use);
  void follow(std::uint64_t now_ms);

  std::uint64_t now_ms_;  // up to here buckets have been emptied
  std::uint64_t size_ = 0;
  std::array<std::array<TimedList, digits>, wheels> lists_;
  std::array<std::uint64_t, wheels> occupied_{};  // a bit for each bucket
  TimedList due_;
  TimedList loose_;     // of emptied buckets, to be placed
  TimedList unsifted_;  // the same, once it is clear that they are of use
  TimedList cleared_;   // of no use any more
  bool sifts_ = false;
  std::size_t sift_next_ = 0;  // the bucket
};

template <typename IsOfUse>
bool TimeWheel::place_one(const IsOfUse& is_of_use) {
  if (!unsifted_.empty()) {
    const TimedVersion entry = unsifted_.pop();
    if (is_of_use(entry)) {
      place(entry);
    } else {
      --size_;
    }
    return true;
  }
  if (!loose_.empty()) {
    place(loose_.pop());
    return true;
  }
  return false;
}

template <typename IsOfUse>
void TimeWheel::sift(const IsOfUse& is_of_use) {
  if (!std::exchange(sifts_, true)) {
    sift_next_ = 0;
  }
  for (std::size_t left = sifted_per_add; left != 0; --left) {
    while (unsifted_.empty() && sift_next_ < wheels * digits) {
      unsifted_ = take(sift_next_ / digits, sift_next_ % digits);
      ++sift_next_;
    }
    if (unsifted_.empty()) {
      sifts_ = false;
      return;
    }
    (void)place_one(is_of_use);
  }
}

template <typename IsOfUse, typename Due>
bool TimeWheel::turn(std::uint64_t now_ms, std::uint64_t most, const IsOfUse& is_of_use,
                     const Due& due) {
  follow(now_ms);
  for (int left = dropped_per_turn; left != 0 && !cleared_.empty(); --left) {
    cleared_.drop_some();
  }
  std::uint64_t left = most * placed_per_due;
  for (; left != 0; --left) {
    if (place_one(is_of_use)) {
      continue;
    }
    const Bucket next = next_bucket();
    if (next.begin_ms > now_ms) {
      now_ms_ = std::max(now_ms_, now_ms);
      break;
    }
    now_ms_ = next.begin_ms;
    loose_.take(take(next.wheel, next.digit));
  }
  bool has_ended = false;
  TimedList again;
  for (; most != 0 && !due_.empty(); --most) {
    const TimedVersion entry = due_.pop();
    if (entry.expires_ms() <= now_ms && due(entry) == Outcome::ended) {
      --size_;
      has_ended = true;
    } else {
      again.push(entry);
    }
  }
  const bool goes_on = left == 0 || !cleared_.empty() || (has_ended && !due_.empty());
  due_.take(std::move(again));
  return goes_on;
}

template <typename Counts>
std::uint64_t TimeWheel::count_due(std::uint64_t now_ms, const Counts& counts) const {
  std::uint64_t sum = 0;
  const auto count = [&](const TimedVersion& entry) {
    sum += entry.expires_ms() <= now_ms && counts(entry) ? 1u : 0u;
  };
  for (const TimedList* list : {&due_, &loose_, &unsifted_}) {
    list->for_each(count);
  }
  for (std::size_t wheel = 0; wheel < wheels; ++wheel) {
    const unsigned shift = static_cast<unsigned>(wheel) * digit_bits;
    const std::uint64_t above = now_ms_ >> shift >> digit_bits << digit_bits;
    for (std::uint64_t bits = occupied_[wheel]; bits != 0; bits &= bits - 1) {
      const auto digit = static_cast<std::size_t>(std::countr_zero(bits));
      if ((above | digit) << shift > now_ms) {
        return sum;  // and so are all behind it
      }
      lists_[wheel][digit].for_each(count);
    }
  }
  return sum;
}

}  // namespace remora::kv::efactory
