#include "runtime/timer_queue.h"

#include "base/check.h"

namespace remora {

void Timer::forget() {
  if (queue_ != nullptr) {
    queue_->remove(*this);
  }
  unlink();
}

std::uint64_t TimerQueue::next_due_ns() const {
  REMORA_CHECK(!heap_.empty(), "asked an empty timer queue what is due");
  return heap_.front().due_ns;
}

void TimerQueue::add(Timer& timer, std::uint64_t due_ns, std::uint64_t tie) {
  REMORA_CHECK(!timer.armed(), "the timer is armed already");
  timer.queue_ = this;
  heap_.emplace_back();
  sift_up(heap_.size() - 1, Entry{due_ns, tie, added_++, &timer});
}

void TimerQueue::remove(Timer& timer) {
  REMORA_CHECK(timer.queue_ == this, "the timer is not in this queue");
  const std::size_t slot = timer.slot_;
  timer.queue_ = nullptr;
  const Entry last = heap_.back();
  heap_.pop_back();
  if (slot == heap_.size()) {
    return;
  }
  if (slot > 0 && before(last, heap_[(slot - 1) / 2])) {
    sift_up(slot, last);
  } else {
    sift_down(slot, last);
  }
}

TimerQueue::Entry TimerQueue::pop() {
  REMORA_CHECK(!heap_.empty(), "nothing to take from an empty timer queue");
  const Entry first = heap_.front();
  remove(*first.timer);
  return first;
}

void TimerQueue::clear() {
  for (const Entry& entry : heap_) {
    entry.timer->queue_ = nullptr;
  }
  heap_.clear();
}

bool TimerQueue::before(const Entry& a, const Entry& b) {
  if (a.due_ns != b.due_ns) {
    return a.due_ns < b.due_ns;
  }
  return a.tie != b.tie ? a.tie < b.tie : a.sequence < b.sequence;
}

void TimerQueue::put(std::size_t slot, const Entry& entry) {
  heap_[slot] = entry;
  entry.timer->slot_ = slot;
}

void TimerQueue::sift_up(std::size_t slot, const Entry& entry) {
  while (slot > 0) {
    const std::size_t parent = (slot - 1) / 2;
    if (!before(entry, heap_[parent])) {
      break;
    }
    put(slot, heap_[parent]);
    slot = parent;
  }
  put(slot, entry);
}

void TimerQueue::sift_down(std::size_t slot, const Entry& entry) {
  for (std::size_t child = 2 * slot + 1; child < heap_.size(); child = 2 * slot + 1) {
    if (child + 1 < heap_.size() && before(heap_[child + 1], heap_[child])) {
      ++child;
    }
    if (!before(heap_[child], entry)) {
      break;
    }
    put(slot, heap_[child]);
    slot = child;
  }
  put(slot, entry);
}

}  // namespace remora
