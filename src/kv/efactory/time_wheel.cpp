#include "kv/efactory/time_wheel.h"

#include "base/check.h"

namespace remora::kv::efactory {

// --- The list ---

void TimedList::push(const TimedVersion& entry) {
  if (last_ == nullptr || last_->end == last_->entries.size()) {
    std::unique_ptr<Chunk>& place = last_ == nullptr ? first_ : last_->next;
    place = std::make_unique<Chunk>();
    last_ = place.get();
  }
  last_->entries[last_->end++] = entry;
}

TimedVersion TimedList::pop() {
  REMORA_CHECK(first_ != nullptr, "an empty list has no first entry");
  const TimedVersion entry = first_->entries[first_->begin++];
  if (first_->begin == first_->end) {
    first_ = std::move(first_->next);
    last_ = first_ == nullptr ? nullptr : last_;
  }
  return entry;
}

void TimedList::take(TimedList&& other) {
  if (empty()) {
    swap(other);
  } else if (!other.empty()) {
    last_->next = std::move(other.first_);
    last_ = std::exchange(other.last_, nullptr);
  }
}

void TimedList::drop_some() {
  if (first_ != nullptr) {
    first_ = std::move(first_->next);
    last_ = first_ == nullptr ? nullptr : last_;
  }
}

// One after the other: a chain that destroys itself would take a frame of the stack for each.
void TimedList::clear() {
  while (first_ != nullptr) {
    first_ = std::move(first_->next);
  }
  last_ = nullptr;
}

// --- The wheel ---

void TimeWheel::place(const TimedVersion& entry) {
  const std::uint64_t expires_ms = entry.expires_ms();
  if (expires_ms <= now_ms_) {
    due_.push(entry);
    return;
  }
  const auto highest = static_cast<std::size_t>(std::bit_width(expires_ms ^ now_ms_) - 1);
  const std::size_t wheel = highest / digit_bits;
  const std::size_t digit = expires_ms >> (wheel * digit_bits) & (digits - 1);
  lists_[wheel][digit].push(entry);
  occupied_[wheel] |= std::uint64_t{1} << digit;
}

// What lies in a wheel comes before all that lies in higher ones, and buckets before `now` are
// empty.
TimeWheel::Bucket TimeWheel::next_bucket() const {
  for (std::size_t wheel = 0; wheel < wheels; ++wheel) {
    if (occupied_[wheel] != 0) {
      const unsigned shift = static_cast<unsigned>(wheel) * digit_bits;
      const auto digit = static_cast<std::size_t>(std::countr_zero(occupied_[wheel]));
      const std::uint64_t above = now_ms_ >> shift >> digit_bits << digit_bits;
      return {wheel, digit, (above | digit) << shift};
    }
  }
  return {0, 0, never_ms};
}

TimedList TimeWheel::take(std::size_t wheel, std::size_t digit) {
  occupied_[wheel] &= ~(std::uint64_t{1} << digit);
  return std::move(lists_[wheel][digit]);
}

std::uint64_t TimeWheel::next_ms() const {
  const bool may_be_now =
      !due_.empty() || !loose_.empty() || !unsifted_.empty() || !cleared_.empty();
  return may_be_now ? 0 : next_bucket().begin_ms;
}

// Buckets are told by `now`: when that goes back, all that lies in them is placed anew.
void TimeWheel::follow(std::uint64_t now_ms) {
  now_ms = std::min(now_ms, TimedVersion::latest_ms);
  if (now_ms + behind_ms >= now_ms_) {
    return;
  }
  for (std::size_t wheel = 0; wheel < wheels; ++wheel) {
    for (std::size_t digit = 0; digit < digits; ++digit) {
      loose_.take(take(wheel, digit));
    }
  }
  loose_.take(std::move(due_));
  now_ms_ = now_ms;
}

void TimeWheel::clear() {
  for (std::size_t wheel = 0; wheel < wheels; ++wheel) {
    for (std::size_t digit = 0; digit < digits; ++digit) {
      cleared_.take(take(wheel, digit));
    }
  }
  for (TimedList* list : {&due_, &loose_, &unsifted_}) {
    cleared_.take(std::move(*list));
  }
  sifts_ = false;
  size_ = 0;
}

}  // namespace remora::kv::efactory
