// CommitWatch: a flow waits here until a ticket is persistent, without blocking the loop. Where the
// region tells of its commits the loop sleeps meanwhile and is woken by the end of one; elsewhere
// (virtual time) it looks now and then.
//
// One thread, the loop's. One watch to a region; the region and the runtime outlive it. Several
// flows may wait.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <utility>
#include <vector>

#include "host/host.h"
#include "runtime/event.h"
#include "runtime/task.h"
#include "runtime/timer.h"

namespace remora {

class CommitWatch final : private Poller {
 public:
  explicit CommitWatch(const Host& host)
      : host_(host), is_told_(host.region().on_commit([this] { tell(); })) {
    if (is_told_) {
      host.runtime().add_poller(*this);
    }
  }
  ~CommitWatch() override {
    if (is_told_) {
      host_.region().on_commit(nullptr);
    }
  }

  // Whether the end of every commit wakes the loop.
  bool is_told() const { return is_told_; }

  // Asks for a commit of the ticket and ends when it is persistent, or with the region's failure.
  // `look_ns` is the pause before the first look where nobody tells, and doubles up to
  // `longest_ns`.
  Task<Status> persistent(Ticket ticket, std::uint64_t look_ns, std::uint64_t longest_ns) {
    Region& region = host_.region();
    if (!region.persistent(ticket)) {
      region.request(ticket);
    }
    while (!region.persistent(ticket)) {
      REMORA_CO_TRY(region.failure());
      if (is_told_) {
        Event event(host_.runtime());
        waiting_.push_back(&event);
        co_await event;
      } else {
        co_await host_.runtime().sleep_for(look_ns);
        look_ns = std::min(2 * look_ns, longest_ns);
      }
    }
    co_return Status();
  }

  // The same for one who does not ask, since others will: only when nobody has for so long.
  Task<Status> persistent_by_others(Ticket ticket, std::uint64_t patience_ns) {
    const std::uint64_t due_ns = host_.runtime().after(patience_ns);
    while (is_told_ && !host_.region().persistent(ticket) && host_.now_ns() < due_ns) {
      REMORA_CO_TRY(host_.region().failure());
      if (!alarm_.armed()) {
        host_.runtime().arm(alarm_, due_ns);
      }
      Event event(host_.runtime());
      waiting_.push_back(&event);
      co_await event;
    }
    co_return co_await persistent(ticket, 1'000, 1'000);
  }

 private:
  // Lets all who wait look again.
  class Alarm final : public Timer {
   public:
    explicit Alarm(CommitWatch& watch) : watch_(watch) {}
    void expire() override { watch_.wake_all(); }

   private:
    CommitWatch& watch_;
  };

  // Any thread.
  void tell() {
    ended_.store(true, std::memory_order_release);
    host_.runtime().wake();
  }

  bool poll() override {
    if (!has_news() || !ended_.exchange(false, std::memory_order_acq_rel)) [[likely]] {
      return false;
    }
    wake_all();
    return true;
  }
  void wake_all() {
    for (Event* event : std::exchange(waiting_, {})) {
      event->set();
    }
  }
  bool has_news() const { return !waiting_.empty() && ended_.load(std::memory_order_relaxed); }
  bool arm_wake() override { return !has_news(); }
  bool follows() const override { return true; }
  bool wants_spin() const override { return false; }

  const Host host_;
  std::atomic<bool> ended_ = false;
  std::vector<Event*> waiting_;
  Alarm alarm_{*this};
  const bool is_told_;  // made last: the region may tell at once
};

}  // namespace remora
