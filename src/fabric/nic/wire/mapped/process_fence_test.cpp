#include "fabric/nic/wire/mapped/process_fence.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace remora::fabric::nic::mapped {
namespace {

TEST(ProcessFence, lets_one_side_see_the_other) {
  if (!takes_part_in_fences()) {
    GTEST_SKIP() << "the system has no membarrier";
  }
  // Both store, then load what the other stored. Neither may miss the other's store.
  std::atomic<int> round = 0;
  std::atomic<int> often = 0;
  std::atomic<int> seldom = 0;
  std::atomic<int> seen_by_often = 0;
  std::atomic<int> ready = 0;
  constexpr int rounds = 2000;
  std::thread other([&] {
    for (int i = 1; i <= rounds; ++i) {
      while (round.load(std::memory_order_acquire) != i) {
      }
      often.store(i, std::memory_order_relaxed);
      light_fence();
      seen_by_often.store(seldom.load(std::memory_order_relaxed), std::memory_order_relaxed);
      ready.store(i, std::memory_order_release);
    }
  });
  int both_missed = 0;
  for (int i = 1; i <= rounds; ++i) {
    round.store(i, std::memory_order_release);
    seldom.store(i, std::memory_order_relaxed);
    heavy_fence();
    const int seen = often.load(std::memory_order_relaxed);
    while (ready.load(std::memory_order_acquire) != i) {
    }
    both_missed += seen != i && seen_by_often.load(std::memory_order_relaxed) != i ? 1 : 0;
  }
  other.join();
  EXPECT_EQ(both_missed, 0);
}

}  // namespace
}  // namespace remora::fabric::nic::mapped
