#include "runtime/virtual_loop.h"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/event.h"
#include "runtime/runtime_testing.h"
#include "runtime/semaphore.h"
#include "runtime/when_all.h"

namespace remora {
namespace {

Task<void> note_after(Runtime& runtime, std::uint64_t span_ns, int number,
                      std::vector<int>& notes) {
  co_await runtime.sleep_for(span_ns);
  notes.push_back(number);
}

TEST(VirtualLoop, time_jumps_to_the_next_event) {
  VirtualLoop loop;
  EXPECT_EQ(loop.now_ns(), 0U);
  loop.block_on(nap(loop, 3'600'000'000'000));
  EXPECT_EQ(loop.now_ns(), 3'600'000'000'000U);
  EXPECT_EQ(loop.events(), 1U);
}

TEST(VirtualLoop, same_time_goes_in_the_order_of_scheduling) {
  VirtualLoop loop;
  std::vector<int> notes;
  std::vector<Task<void>> tasks;
  for (int i = 0; i < 5; ++i) {
    tasks.push_back(note_after(loop, 10, i, notes));
  }
  loop.block_on(when_all(std::move(tasks)));
  EXPECT_EQ(notes, (std::vector<int>{0, 1, 2, 3, 4}));
}

struct Shuffled {
  std::vector<int> order;
  std::uint64_t trace_hash;
  bool operator==(const Shuffled&) const = default;
};

Shuffled shuffled(std::uint64_t seed) {
  VirtualLoop loop({.seed = seed, .shuffle_ties = true});
  std::vector<int> notes;
  std::vector<Task<void>> tasks;
  for (int i = 0; i < 5; ++i) {
    tasks.push_back(note_after(loop, 10, i, notes));
  }
  tasks.push_back(note_after(loop, 9, -1, notes));
  loop.block_on(when_all(std::move(tasks)));
  return {notes, loop.trace_hash()};
}

TEST(VirtualLoop, shuffled_ties_explore_orders_by_the_seed) {
  std::set<std::vector<int>> orders;
  std::set<std::uint64_t> hashes;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const Shuffled run = shuffled(seed);
    EXPECT_EQ(run, shuffled(seed));
    EXPECT_EQ(run.order.front(), -1) << "an earlier time stays earlier";
    orders.insert(run.order);
    hashes.insert(run.trace_hash);
  }
  EXPECT_GE(hashes.size(), orders.size()) << "the trace tells two orders apart";
  EXPECT_GT(orders.size(), 40U);
}

TEST(VirtualLoop, shuffling_does_not_shift_the_chance_of_flows) {
  VirtualLoop plain({.seed = 9});
  VirtualLoop shuffles({.seed = 9, .shuffle_ties = true});
  shuffles.block_on(nap(shuffles, 5));
  EXPECT_EQ(plain.random().next(), shuffles.random().next());
}

TEST(VirtualLoop, a_step_is_one_event) {
  VirtualLoop loop;
  Task<void> task = nap(loop, 5);
  loop.spawn(nap(loop, 7));
  std::vector<std::uint64_t> seen;
  loop.on_event([&](std::uint64_t number) { seen.push_back(number); });
  EXPECT_EQ(loop.step(), RunState::running);
  EXPECT_TRUE(task.finished());
  EXPECT_EQ(loop.now_ns(), 5U);
  EXPECT_EQ(loop.step(), RunState::running);
  EXPECT_EQ(loop.step(), RunState::stalled);
  EXPECT_EQ(loop.events(), 2U);
  EXPECT_EQ(seen, (std::vector<std::uint64_t>{1, 2}));
}

class Once final : public Timer {
 public:
  void expire() override {}
};

TEST(VirtualLoop, time_never_goes_back) {
  VirtualLoop loop;
  loop.run_for(10);
  Once timer;
  loop.arm(timer, 3);
  EXPECT_EQ(loop.step(), RunState::running);
  EXPECT_EQ(loop.now_ns(), 10U);
}

TEST(VirtualLoop, a_deadlock_is_told) {
  VirtualLoop loop({.seed = 77});
  Event event(loop);
  const auto flow = [&]() -> Task<void> { co_await event; };
  Task<void> task = flow();
  EXPECT_EQ(loop.run_until(task), RunState::stalled);
  EXPECT_DEATH(loop.block_on(nap(loop, never_ns)), "deadlock: .*seed 77");
  event.set();
  EXPECT_EQ(loop.run_until(task), RunState::finished);
}

Task<void> spin_for_ever(Runtime& runtime) {
  while (true) {
    co_await runtime.yield();
  }
}

TEST(VirtualLoop, a_runaway_ends_with_its_event_budget) {
  VirtualLoop loop({.seed = 78, .max_events = 1000});
  loop.spawn(spin_for_ever(loop));
  Task<void> task = nap(loop, 5);
  EXPECT_EQ(loop.run_until(task), RunState::exhausted);
  EXPECT_EQ(loop.events(), 1000U);
  EXPECT_EQ(loop.step(), RunState::exhausted);
  EXPECT_EQ(loop.run_for(1), RunState::exhausted);
  EXPECT_EQ(loop.events(), 1000U);
  EXPECT_DEATH(loop.block_on(nap(loop, 5)), "runaway: .*seed 78, event 1000");
  const AbandonScope scope;
  task = Task<void>();
  loop.abandon();
}

TEST(VirtualLoop, run_for_ends_at_its_time) {
  VirtualLoop loop;
  std::vector<int> notes;
  loop.spawn(note_after(loop, 10, 1, notes));
  loop.spawn(note_after(loop, 11, 2, notes));
  EXPECT_EQ(loop.run_for(10), RunState::finished);
  EXPECT_EQ(notes, std::vector<int>{1});
  EXPECT_EQ(loop.now_ns(), 10U);
  EXPECT_EQ(loop.run_for(100), RunState::finished);
  EXPECT_EQ(loop.now_ns(), 110U);
  loop.spawn(note_after(loop, 5, 3, notes));
  EXPECT_EQ(loop.run_for(never_ns), RunState::finished);
  EXPECT_EQ(loop.now_ns(), 115U);
}

class TwoPieces final : public Poller {
 public:
  bool poll() override { return left_ > 0 && left_-- > 0; }

 private:
  int left_ = 2;
};

TEST(VirtualLoop, a_poller_with_work_counts_as_an_event) {
  VirtualLoop loop;
  TwoPieces poller;
  loop.add_poller(poller);
  EXPECT_EQ(loop.step(), RunState::running);
  EXPECT_EQ(loop.step(), RunState::running);
  EXPECT_EQ(loop.step(), RunState::stalled);
  EXPECT_EQ(loop.events(), 2U);
}

TEST(VirtualLoop, a_watch_is_asked_only_for_its_own_bytes) {
  VirtualLoop loop;
  std::vector<std::byte> memory(64);
  const Bytes all(memory);
  int asked = 0;
  bool hold = false;
  const auto flow = [&]() -> Task<void> {
    co_await loop.watch(all.subspan(16, 16), [&] {
      ++asked;
      return hold;
    });
  };
  Task<void> task = flow();
  EXPECT_EQ(asked, 1) << "once at the start";
  loop.placed(all.subspan(0, 16));
  loop.placed(all.subspan(32, 32));
  loop.placed(all.subspan(20, 0));
  loop.run_for(100);
  EXPECT_EQ(asked, 1);
  loop.placed(all.subspan(31, 1));
  EXPECT_EQ(asked, 2);
  hold = true;
  loop.placed(all);
  EXPECT_EQ(asked, 3);
  EXPECT_FALSE(task.finished()) << "placed runs no flow itself";
  loop.step();
  EXPECT_TRUE(task.finished());
  loop.placed(all);
  EXPECT_EQ(asked, 3);
}

TEST(VirtualLoop, a_core_serves_in_the_order_of_the_calls) {
  VirtualLoop loop;
  const CoreId core = loop.add_cores(2);
  std::vector<std::uint64_t> ends;
  const auto work = [&](CoreId on, std::uint64_t cost_ns) -> Task<void> {
    co_await loop.cpu(on, cost_ns);
    ends.push_back(loop.now_ns());
  };
  std::vector<Task<void>> tasks;
  tasks.push_back(work(core, 100));
  tasks.push_back(work(core, 10));
  tasks.push_back(work(core + 1, 50));
  EXPECT_TRUE(loop.run_for(105) == RunState::finished);
  EXPECT_EQ(ends, (std::vector<std::uint64_t>{50, 100}));
  EXPECT_EQ(loop.busy_ns(core), 105U);
  EXPECT_EQ(loop.busy_ns(core + 1), 50U);
  loop.block_on(when_all(std::move(tasks)));
  EXPECT_EQ(ends.back(), 110U);
  EXPECT_EQ(loop.busy_ns(core), 110U);
  loop.run_for(90);
  EXPECT_EQ(loop.charge(core, 5), 205U) << "idle time is not made up for";
  EXPECT_EQ(loop.busy_ns(core), 110U);
  EXPECT_EQ(loop.add_cores(1), 2U);
  EXPECT_DEATH(loop.charge(3, 1), "no such core");
  EXPECT_DEATH(loop.busy_ns(3), "no such core");
}

TEST(VirtualLoop, a_group_charges_the_core_that_is_named) {
  VirtualLoop loop;
  const CoreId group = loop.add_group({.count = 2, .spread = Spread::any});
  ASSERT_NE(loop.core_group(group), nullptr);
  EXPECT_EQ(loop.core_group(group)->count, 2U);
  EXPECT_EQ(loop.charge(group, 100), 100U);
  loop.use_core(group, 1);
  EXPECT_EQ(loop.charge(group, 10), 10U);
  const CoreId alias = loop.add_alias(group);
  EXPECT_EQ(loop.charge(alias, 5), 105U) << "it competes with the first";
  loop.run_for(200);
  EXPECT_EQ(loop.busy_ns(group), 115U);
  EXPECT_EQ(loop.core_group(alias), nullptr);
  EXPECT_DEATH(loop.use_core(group, 2), "fewer cores");
}

TEST(VirtualLoop, a_pool_gives_each_event_the_core_that_is_free_first) {
  VirtualLoop loop;
  const CoreId pool = loop.add_pool(2);
  std::vector<std::uint64_t> ends;
  const auto work = [&](std::uint64_t cost_ns) -> Task<void> {
    co_await loop.sleep_for(1);
    loop.charge(pool, cost_ns / 2);
    co_await loop.cpu(pool, cost_ns / 2);
    ends.push_back(loop.now_ns());
  };
  std::vector<Task<void>> tasks;
  tasks.push_back(work(100));
  tasks.push_back(work(50));
  tasks.push_back(work(20));
  loop.block_on(when_all(std::move(tasks)));
  EXPECT_EQ(ends, (std::vector<std::uint64_t>{51, 71, 101}));
}

TEST(VirtualLoop, a_core_that_sleeps_takes_time_to_wake_up) {
  VirtualLoop loop;
  const CoreId core = loop.add_cores(1);
  loop.set_habit(core, {.wake_ns = 1000});
  loop.run_for(50);
  EXPECT_EQ(loop.charge(core, 0), 50U) << "nothing to do wakes nobody";
  EXPECT_EQ(loop.charge(core, 10), 1060U);
  EXPECT_EQ(loop.charge(core, 10), 1070U) << "it is awake";
  loop.run_for(2000);
  EXPECT_EQ(loop.charge(core, 10), 3060U);
  loop.run_for(2000);
  EXPECT_EQ(loop.busy_ns(core), 2030U);
}

TEST(VirtualLoop, a_shared_core_works_in_its_slices) {
  VirtualLoop loop;
  const CoreId core = loop.add_cores(1);
  loop.set_habit(core, {.slice_ns = 100, .others_ns = 300});
  EXPECT_EQ(loop.charge(core, 10), 310U) << "the others come first";
  EXPECT_EQ(loop.charge(core, 90), 400U) << "to the end of the slice";
  EXPECT_EQ(loop.charge(core, 1), 701U);
  EXPECT_EQ(loop.charge(core, 250), 1551U) << "over three slices";
  loop.run_for(2350);
  EXPECT_EQ(loop.charge(core, 5), 2355U) << "in the middle of a slice";
  EXPECT_DEATH(loop.set_habit(core, {.others_ns = 300}), "has slices");
}

TEST(VirtualLoop, tells_of_all_that_is_placed) {
  VirtualLoop loop;
  std::size_t placed = 0;
  loop.on_placed([&](ConstBytes range) { placed += range.size(); });
  const std::array<std::byte, 24> memory{};
  loop.placed(memory);
  EXPECT_EQ(placed, 24U);
}

TEST(VirtualLoop, a_free_core_with_nothing_to_do_does_not_suspend) {
  VirtualLoop loop;
  const CoreId core = loop.add_cores(1);
  const auto flow = [&]() -> Task<void> { co_await loop.cpu(core, 0); };
  EXPECT_TRUE(flow().finished());
}

struct TellsItsEnd {
  std::vector<std::string>& notes;
  ~TellsItsEnd() { notes.push_back("destroyed"); }
};

TEST(VirtualLoop, abandon_cuts_the_power_between_two_events) {
  VirtualLoop loop;
  loop.add_cores(1);
  std::vector<std::string> notes;
  std::byte byte{};
  TwoPieces poller;
  Semaphore semaphore(loop, 1);
  const auto sleeper = [&]() -> Task<void> {
    const TellsItsEnd local{notes};
    co_await nap(loop, 10);
    notes.push_back("slept");
  };
  const auto watcher = [&]() -> Task<void> {
    const TellsItsEnd local{notes};
    co_await loop.watch(ConstBytes(&byte, 1), [] { return false; });
    notes.push_back("watched");
  };
  const auto worker = [&]() -> Task<void> {
    const TellsItsEnd local{notes};
    co_await semaphore.acquire();
    co_await loop.cpu(0, 100);
    notes.push_back("worked");
  };
  loop.spawn(sleeper());
  loop.spawn(watcher());
  loop.spawn(worker());
  loop.spawn(worker());
  loop.run_for(5);
  loop.add_poller(poller);
  const std::uint64_t hash = loop.trace_hash();
  loop.abandon();
  EXPECT_EQ(notes, std::vector<std::string>(4, "destroyed"));
  EXPECT_EQ(loop.spawned(), 0U);
  EXPECT_EQ(loop.step(), RunState::stalled);
  loop.placed(ConstBytes(&byte, 1));
  EXPECT_EQ(loop.now_ns(), 5U);
  EXPECT_NE(loop.trace_hash(), hash);
  EXPECT_EQ(loop.busy_ns(0), 5U);
  loop.block_on(nap(loop, 1));
  EXPECT_EQ(loop.charge(0, 1), 7U) << "the core has nothing left from before";
}

TEST(VirtualLoop, abandon_forgets_what_is_kept_elsewhere) {
  VirtualLoop loop;
  std::byte byte{};
  bool asked = false;
  const auto watcher = [&]() -> Task<void> {
    co_await loop.watch(ConstBytes(&byte, 1), [&] {
      asked = true;
      return false;
    });
  };
  Task<void> sleeps = nap(loop, 10);
  Task<void> watches = watcher();
  loop.abandon();
  asked = false;
  EXPECT_EQ(loop.step(), RunState::stalled);
  loop.placed(ConstBytes(&byte, 1));
  EXPECT_FALSE(asked);
  EXPECT_FALSE(sleeps.finished());
  const AbandonScope scope;
  sleeps = Task<void>();
  watches = Task<void>();
}

TEST(VirtualLoop, abandon_from_inside_a_flow_ends_the_program) {
  VirtualLoop loop;
  const auto flow = [&]() -> Task<void> {
    co_await loop.yield();
    loop.abandon();
  };
  EXPECT_DEATH(loop.block_on(flow()), "between two events");
}

TEST(VirtualLoop, the_trace_hash_depends_on_facts_and_their_order) {
  const auto hash_of = [](std::vector<std::pair<std::string, std::uint64_t>> facts) {
    VirtualLoop loop;
    std::vector<std::pair<std::string, std::uint64_t>> told;
    loop.on_trace(
        [&](std::string_view tag, std::uint64_t value) { told.emplace_back(tag, value); });
    for (const auto& [tag, value] : facts) {
      loop.trace(tag, value);
    }
    EXPECT_EQ(told, facts);
    return loop.trace_hash();
  };
  const std::set<std::uint64_t> hashes = {
      hash_of({}),         hash_of({{"a", 1}}),           hash_of({{"a", 2}}),
      hash_of({{"b", 1}}), hash_of({{"a", 1}, {"b", 1}}), hash_of({{"b", 1}, {"a", 1}})};
  EXPECT_EQ(hashes.size(), 6U);
}

// Many flows that use everything.
class Workload {
 public:
  explicit Workload(const VirtualLoopOptions& options)
      : loop_(options), memory_(flows_count), credits_(loop_, 5) {
    loop_.add_cores(3);
  }

  std::uint64_t run() {
    std::vector<Task<void>> tasks;
    for (std::size_t i = 0; i < flows_count; ++i) {
      loop_.spawn(answer(i));
      tasks.push_back(ask(i));
    }
    loop_.block_on(when_all(std::move(tasks)));
    return loop_.trace_hash();
  }

 private:
  static constexpr std::size_t flows_count = 40;
  static constexpr int rounds = 10;

  Bytes slot(std::size_t i) { return Bytes(memory_).subspan(i, 1); }
  void put(std::size_t i, int value) {
    memory_[i] = static_cast<std::byte>(value);
    loop_.placed(slot(i));
  }
  auto slot_is(std::size_t i, int value) {
    return loop_.watch(slot(i),
                       [this, i, value] { return memory_[i] == static_cast<std::byte>(value); });
  }

  Task<void> ask(std::size_t i) {
    for (int round = 0; round < rounds; ++round) {
      co_await credits_.acquire();
      co_await loop_.sleep_for(loop_.random().below(4) * 10);
      put(i, 2 * round + 1);
      co_await slot_is(i, 2 * round + 2);
      loop_.trace("answered", i);
      credits_.release();
    }
  }
  Task<void> answer(std::size_t i) {
    for (int round = 0; round < rounds; ++round) {
      co_await slot_is(i, 2 * round + 1);
      co_await loop_.cpu(static_cast<CoreId>(i % 3), 10);
      co_await loop_.yield();
      put(i, 2 * round + 2);
    }
  }

  VirtualLoop loop_;
  std::vector<std::byte> memory_;
  Semaphore credits_;
};

std::uint64_t hash_of_workload(std::uint64_t seed, bool shuffle_ties) {
  return Workload({.seed = seed, .shuffle_ties = shuffle_ties}).run();
}

TEST(VirtualLoop, the_same_seed_gives_the_same_run_and_another_seed_another) {
  for (const bool shuffle_ties : {false, true}) {
    std::set<std::uint64_t> hashes;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      const std::uint64_t hash = hash_of_workload(seed, shuffle_ties);
      EXPECT_EQ(hash, hash_of_workload(seed, shuffle_ties)) << "seed " << seed;
      hashes.insert(hash);
    }
    EXPECT_EQ(hashes.size(), 20U);
  }
  EXPECT_NE(hash_of_workload(1, false), hash_of_workload(1, true));
}

}  // namespace
}  // namespace remora
