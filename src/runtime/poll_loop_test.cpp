#include "runtime/poll_loop.h"

#include <gtest/gtest.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/event.h"
#include "runtime/runtime_testing.h"

namespace remora {
namespace {

// A source with no descriptor, filled by another thread.
class Mailbox final : public Poller {
 public:
  explicit Mailbox(Runtime& runtime) : arrived_(runtime) {}
  bool poll() override {
    if (arrived_.is_set() || !full.load()) {
      return false;
    }
    arrived_.set();
    return true;
  }
  Task<void> arrived() { co_await arrived_; }
  std::atomic<bool> full = false;

 private:
  Event arrived_;
};

TEST(PollLoop, the_seed_decides_its_chance) {
  PollLoop a({.seed = 4});
  PollLoop b({.seed = 4});
  PollLoop c;
  PollLoop d;
  EXPECT_EQ(a.random().next(), b.random().next());
  EXPECT_NE(c.random().next(), d.random().next());
}

TEST(PollLoop, time_goes_on_and_never_back) {
  PollLoop loop;
  const std::uint64_t first = loop.now_ns();
  EXPECT_LE(first, loop.now_ns());
  EXPECT_GT(first, 0U);
}

// Who turns it by hand says so himself.
TEST(PollLoop, tells_pollers_when_nobody_may_turn_it_again) {
  class Left final : public Poller {
   public:
    bool poll() override { return false; }
    void pause_begins() override { ++times; }
    int times = 0;
  };
  PollLoop loop;
  Left poller;
  loop.add_poller(poller);
  loop.turn();
  EXPECT_EQ(poller.times, 0);
  loop.leave();
  EXPECT_EQ(poller.times, 1);
  loop.run_for(1000);
  EXPECT_EQ(poller.times, 2);
  loop.block_on([](Runtime& runtime) -> Task<void> { co_await runtime.yield(); }(loop));
  EXPECT_EQ(poller.times, 3);
}

// Whatever becomes ready in a turn comes before what asked to be last, and both are of that turn.
TEST(PollLoop, what_is_last_comes_behind_what_is_ready_in_the_same_turn) {
  class Note final : public Timer {
   public:
    Note(std::vector<int>& notes, int number) : notes_(notes), number_(number) {}
    void expire() override { notes_.push_back(number_); }

   private:
    std::vector<int>& notes_;
    const int number_;
  };
  PollLoop loop;
  std::vector<int> notes;
  Note last(notes, 3);
  Note first(notes, 1);
  Note second(notes, 2);
  loop.run_last(last);
  loop.run_soon(first);
  loop.run_soon(second);
  EXPECT_TRUE(last.armed());
  (void)loop.turn();
  EXPECT_EQ(notes, (std::vector<int>{1, 2, 3}));
  EXPECT_FALSE(last.armed());
}

TEST(PollLoop, cpu_time_is_not_charged_and_does_not_suspend) {
  PollLoop loop;
  const auto flow = [&]() -> Task<void> { co_await loop.cpu(17, never_ns); };
  EXPECT_TRUE(flow().finished());
  EXPECT_EQ(loop.charge(17, 5), 0U);
}

TEST(PollLoop, a_posted_function_ends_a_park) {
  PollLoop loop({.spin_turns = 0});
  for (int round = 0; round < 200; ++round) {
    Event event(loop);
    Task<void> task = wait_for(event);
    std::thread poster([&] { EXPECT_TRUE(loop.post([&] { event.set(); }).ok()); });
    EXPECT_EQ(loop.run_until(task), RunState::finished);
    poster.join();
  }
}

TEST(PollLoop, posted_functions_run_in_their_order) {
  PollLoop loop;
  std::vector<int> order;
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(loop.post([&order, i] { order.push_back(i); }).ok());
  }
  EXPECT_TRUE(order.empty());
  loop.turn();
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2}));
}

TEST(PollLoop, refuses_to_hold_too_many_posted_functions) {
  PollLoop loop;
  std::size_t ran = 0;
  for (std::size_t i = 0; i < limits::posted_functions; ++i) {
    ASSERT_TRUE(loop.post([&] { ++ran; }).ok());
  }
  EXPECT_EQ(loop.post([&] { ++ran; }).code(), Code::no_space);
  loop.turn();
  EXPECT_EQ(ran, limits::posted_functions);
  EXPECT_TRUE(loop.post([] {}).ok());
}

TEST(PollLoop, many_threads_may_post) {
  PollLoop loop({.spin_turns = 3});
  constexpr int posts = 500;
  int ran = 0;
  Event all(loop);
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < posts; ++i) {
        while (!loop.post([&] {
                      if (++ran == 3 * posts) {
                        all.set();
                      }
                    })
                    .ok()) {
          std::this_thread::yield();
        }
      }
    });
  }
  loop.block_on(wait_for(all));
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(ran, 3 * posts);
}

TEST(PollLoop, a_wake_keeps_the_next_park_from_beginning) {
  PollLoop loop({.spin_turns = 0});
  loop.wake();
  loop.turn();
  EXPECT_EQ(loop.parks(), 0U);
}

TEST(PollLoop, parks_only_after_its_spin_budget) {
  PollLoop loop({.spin_turns = 10});
  Mailbox blind(loop);  // bounds the park, so that the last turn ends
  loop.add_poller(blind);
  for (int i = 0; i < 10; ++i) {
    loop.turn();
  }
  EXPECT_EQ(loop.parks(), 0U);
  loop.turn();
  EXPECT_EQ(loop.parks(), 1U);
}

// How many turns without work the loop takes before it has parked once more.
std::uint64_t turns_before_a_park(PollLoop& loop) {
  const std::uint64_t parks = loop.parks();
  std::uint64_t turns = 0;
  for (; loop.parks() == parks; ++turns) {
    loop.turn();
  }
  return turns - 1;
}

// It has no work, and ends every sleep all the same.
class Disturber final : public Poller {
 public:
  Disturber() : descriptor_(::eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK)) {}
  ~Disturber() override { ::close(descriptor_); }
  bool poll() override { return std::exchange(worked_, false); }
  int wake_fd() const override { return descriptor_; }
  bool arm_wake() override {
    worked_ = true;  // the next turns begin to count anew
    return true;
  }

 private:
  const int descriptor_;
  bool worked_ = false;
};

TEST(PollLoop, stays_awake_longer_where_its_sleeps_are_cut_short) {
  if (std::thread::hardware_concurrency() < 2) {
    GTEST_SKIP() << "with one processor, others need it";
  }
  PollLoop loop;
  Disturber disturber;
  loop.add_poller(disturber);
  std::uint64_t most = 0;
  // One of them is short enough, however busy the machine.
  for (int i = 0; i < 10'000 && most <= limits::spin_turns + 2; ++i) {
    most = std::max(most, turns_before_a_park(loop));
  }
  EXPECT_GT(most, limits::spin_turns + 2);
}

TEST(PollLoop, stays_awake_no_longer_where_its_turns_are_few) {
  PollLoop loop({.spin_turns = 10});
  Disturber disturber;
  loop.add_poller(disturber);
  for (int i = 0; i < 100; ++i) {
    EXPECT_LE(turns_before_a_park(loop), 11U);
  }
}

// All that it serves waits for somebody else, and is told when that has come.
class Deferred final : public Poller {
 public:
  bool poll() override { return false; }
  bool follows() const override { return true; }
  bool wants_sleep() const override { return true; }
};

TEST(PollLoop, takes_no_turns_where_a_poller_wants_to_sleep_whatever_others_want) {
  PollLoop loop({.spin_turns = 1000});
  Disturber disturber;  // which wants them
  loop.add_poller(disturber);
  EXPECT_EQ(turns_before_a_park(loop), 1000U);
  Deferred deferred;
  loop.add_poller(deferred);
  for (int i = 0; i < 10; ++i) {
    EXPECT_LE(turns_before_a_park(loop), 3U);
  }
}

TEST(PollLoop, stays_awake_no_longer_where_timers_end_its_sleeps) {
  PollLoop loop({.spin_turns = 10});
  Mailbox blind(loop);
  loop.add_poller(blind);
  EXPECT_EQ(turns_before_a_park(loop), 10U);
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(turns_before_a_park(loop), 0U);  // nothing came
  }
}

TEST(PollLoop, a_timer_ends_a_park) {
  PollLoop loop({.spin_turns = 0});
  const std::uint64_t due = loop.now_ns() + 3'000'000;
  const auto flow = [&]() -> Task<void> { co_await loop.sleep_until(due); };
  loop.block_on(flow());
  EXPECT_GE(loop.now_ns(), due);
}

class Restless final : public Timer {
 public:
  explicit Restless(Runtime& runtime) : runtime_(runtime) { runtime_.arm(*this, 0); }
  void expire() override {
    ++runs_;
    runtime_.arm(*this, 0);
  }
  int runs() const { return runs_; }

 private:
  Runtime& runtime_;
  int runs_ = 0;
};

TEST(PollLoop, a_timer_that_is_always_due_runs_once_in_a_turn) {
  PollLoop loop;
  Restless timer(loop);
  loop.turn();
  EXPECT_EQ(timer.runs(), 1);
  loop.turn();
  EXPECT_EQ(timer.runs(), 2);
}

// A device with a descriptor: work comes from another thread.
class Device final : public Poller {
 public:
  explicit Device(Runtime& runtime) : arrived_(runtime) {}
  ~Device() override { ::close(fd_); }
  bool poll() override {
    std::uint64_t count = 0;
    if (arrived_.is_set() || ::read(fd_, &count, sizeof count) != sizeof count) {
      return false;
    }
    arrived_.set();
    return true;
  }
  int wake_fd() const override { return fd_; }
  bool arm_wake() override { return ++arms_ > refusals; }
  void bring_work() {
    const std::uint64_t one = 1;
    ASSERT_EQ(::write(fd_, &one, sizeof one), static_cast<ssize_t>(sizeof one));
  }
  Task<void> arrived() { co_await arrived_; }
  int arms() const { return arms_; }

  static constexpr int refusals = 3;

 private:
  Event arrived_;
  int fd_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  int arms_ = 0;
};

TEST(PollLoop, a_pollers_descriptor_ends_a_park) {
  PollLoop loop({.spin_turns = 0});
  Device device(loop);
  loop.add_poller(device);
  std::thread source([&] { device.bring_work(); });
  loop.block_on(device.arrived());
  source.join();
}

// An epoll set with one descriptor of its own, where the loop sleeps for all.
class Bed final : public Poller, private Sleeper {
 public:
  Bed() {
    epoll_event event = {};
    event.events = EPOLLIN;
    event.data.u64 = own;
    EXPECT_EQ(::epoll_ctl(epoll_, EPOLL_CTL_ADD, fd_, &event), 0);
  }
  ~Bed() override {
    ::close(epoll_);
    ::close(fd_);
  }
  bool poll() override {
    std::uint64_t count = 0;
    return ::read(fd_, &count, sizeof count) == sizeof count && ++rung != 0;
  }
  int wake_fd() const override { return epoll_; }
  bool wants_spin() const override { return false; }
  Sleeper* sleeper() override { return this; }
  bool watch_also(int others) override {
    epoll_event event = {};
    event.events = EPOLLIN;
    return ::epoll_ctl(epoll_, EPOLL_CTL_ADD, others, &event) == 0;
  }
  bool sleep(std::uint64_t span_ns) override {
    ++sleeps;
    epoll_event events[4];
    const int count = ::epoll_wait(
        epoll_, events, 4, span_ns == never_ns ? -1 : static_cast<int>(span_ns / 1'000'000 + 1));
    return std::any_of(events, events + std::max(count, 0),
                       [](const epoll_event& event) { return event.data.u64 != own; });
  }
  void ring() {
    const std::uint64_t one = 1;
    ASSERT_EQ(::write(fd_, &one, sizeof one), static_cast<ssize_t>(sizeof one));
  }

  int sleeps = 0;
  int rung = 0;

 private:
  static constexpr std::uint64_t own = 1;
  int epoll_ = ::epoll_create1(EPOLL_CLOEXEC);
  int fd_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
};

TEST(PollLoop, sleeps_where_a_poller_has_a_place_for_it) {
  PollLoop loop({.spin_turns = 0});
  Bed bed;
  loop.add_poller(bed);
  std::thread ringer([&] { bed.ring(); });
  while (bed.rung == 0) {
    loop.turn();
  }
  ringer.join();
  // Wakes, and other pollers that come and go, end such a sleep too.
  std::thread waker([&] { loop.wake(); });
  const int before = bed.sleeps;
  {
    Device device(loop);
    loop.add_poller(device);
    std::thread source([&] { device.bring_work(); });
    loop.block_on(device.arrived());
    source.join();
  }
  waker.join();
  std::thread again([&] { bed.ring(); });
  while (bed.rung == 1) {
    loop.turn();
  }
  again.join();
  EXPECT_GE(bed.sleeps, before);
}

// Told by every sleep that brought it nothing.
class Listener final : public Poller {
 public:
  ~Listener() override { ::close(fd_); }
  bool poll() override { return false; }
  int wake_fd() const override { return fd_; }
  bool wants_spin() const override { return false; }
  void nothing_came() override { ++vain; }
  int vain = 0;

 private:
  int fd_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
};

TEST(PollLoop, tells_pollers_that_a_sleep_brought_them_nothing) {
  PollLoop loop({.spin_turns = 0});
  Listener listener;
  loop.add_poller(listener);
  const auto sleep_in_vain = [&](int before) {
    for (int i = 0; i < 1000 && listener.vain <= before; ++i) {
      (void)loop.run_for(5'000'000);  // which may hold no sleep, if this process stands still
    }
    return listener.vain;
  };
  const int alone = sleep_in_vain(0);
  EXPECT_GT(alone, 0);
  Bed bed;
  loop.add_poller(bed);
  EXPECT_GT(sleep_in_vain(alone), alone);
}

TEST(PollLoop, does_not_park_while_a_poller_refuses) {
  PollLoop loop({.spin_turns = 0});
  Device device(loop);
  loop.add_poller(device);
  for (int i = 0; i < Device::refusals; ++i) {
    loop.turn();
  }
  EXPECT_EQ(device.arms(), Device::refusals);
  EXPECT_EQ(loop.parks(), 0U);
}

TEST(PollLoop, what_cannot_wake_it_is_found_all_the_same) {
  PollLoop loop({.spin_turns = 0});
  Mailbox mailbox(loop);
  loop.add_poller(mailbox);
  // Parked several times before the mail comes; were a park unbounded, this would never end.
  while (loop.parks() < 8) {
    loop.turn();
  }
  mailbox.full = true;
  loop.block_on(mailbox.arrived());
}

TEST(PollLoop, a_watch_sees_what_another_thread_writes) {
  PollLoop loop({.spin_turns = 0});
  std::atomic<std::uint32_t> word = 0;
  const auto flow = [&]() -> Task<void> {
    co_await loop.watch(std::as_bytes(std::span(&word, 1)), [&] { return word.load() == 1; });
  };
  Task<void> task = flow();
  std::thread writer([&] { word = 1; });
  EXPECT_EQ(loop.run_until(task), RunState::finished);
  writer.join();
}

}  // namespace
}  // namespace remora
