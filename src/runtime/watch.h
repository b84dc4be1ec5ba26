// Watch: waiting for memory to change, from Runtime::watch. The one way to wait for bytes that a
// peer or a device writes.
#pragma once

#include <coroutine>
#include <cstdint>
#include <utility>

#include "base/bytes.h"
#include "base/check.h"
#include "runtime/scheduler.h"

namespace remora {

class WatchNode : public Waiter {
 public:
  explicit WatchNode(ConstBytes range) : range_(range) {
    REMORA_CHECK(!range.empty(), "a watch needs bytes to watch");
  }

  virtual bool holds() = 0;
  // The watch is over: the flow will go on.
  virtual void held() = 0;

  // No bytes overlap nothing.
  bool overlaps(ConstBytes other) const {
    return !other.empty() && range_.data() < other.data() + other.size() &&
           other.data() < range_.data() + range_.size();
  }

 private:
  ConstBytes range_;
};

// The watches of a loop, in the order in which they began.
class WatchList {
 public:
  bool empty() const { return watches_.empty(); }
  void add(WatchNode& watch) { watches_.push_back(watch); }
  // Lets every watch go; none of them will be told.
  void clear() { watches_.clear(); }

  // Asks every watch; returns whether one held.
  bool check_all() {
    return check_those([](const WatchNode&) { return true; });
  }
  // Asks the watches whose range overlaps `range`.
  bool check_overlapping(ConstBytes range) {
    return check_those([range](const WatchNode& watch) { return watch.overlaps(range); });
  }

 private:
  template <typename Which>
  bool check_those(Which which) {
    bool some_held = false;
    watches_.for_each([&](WatchNode& watch) {
      if (which(watch) && watch.holds()) {
        some_held = true;
        watch.unlink();
        watch.held();
      }
    });
    return some_held;
  }

  IntrusiveList<WatchNode> watches_;
};

// `bool held = co_await watch` goes on when the predicate holds, with true, or at the deadline,
// with false. A predicate that holds at the start does not suspend. No allocation.
template <typename Predicate>
class [[nodiscard]] Watch final : private WatchNode {
 public:
  Watch(Scheduler& scheduler, WatchList& list, ConstBytes range, Predicate predicate,
        std::uint64_t deadline_ns)
      : WatchNode(range),
        scheduler_(scheduler),
        list_(list),
        predicate_(std::move(predicate)),
        deadline_ns_(deadline_ns),
        deadline_(*this) {}

  bool await_ready() { return held_ = predicate_(); }
  void await_suspend(std::coroutine_handle<> flow) {
    suspend(flow);
    list_.add(*this);
    if (deadline_ns_ != never_ns) {
      scheduler_.arm(deadline_, deadline_ns_);
    }
  }
  bool await_resume() { return held_; }

 private:
  class Deadline final : public Timer {
   public:
    explicit Deadline(Watch& watch) : watch_(watch) {}
    void expire() override {
      watch_.unlink();
      static_cast<Timer&>(watch_).expire();
    }

   private:
    Watch& watch_;
  };

  bool holds() override { return predicate_(); }
  void held() override {
    held_ = true;
    deadline_.disarm();
    scheduler_.run_soon(*this);
  }

  Scheduler& scheduler_;
  WatchList& list_;
  Predicate predicate_;
  std::uint64_t deadline_ns_;
  Deadline deadline_;
  bool held_ = false;
};

}  // namespace remora
