#include "runtime/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

namespace remora {
namespace {

TEST(ParallelFor, calls_each_index_once) {
  for (const std::size_t threads : {0U, 1U, 3U, 64U}) {
    std::vector<std::atomic<int>> calls(50);
    parallel_for(calls.size(), threads, [&](std::size_t index) { ++calls[index]; });
    for (const std::atomic<int>& count : calls) {
      EXPECT_EQ(count, 1);
    }
  }
}

TEST(ParallelFor, uses_no_more_threads_than_told) {
  std::mutex mutex;
  std::set<std::thread::id> seen;
  parallel_for(200, 3, [&](std::size_t) {
    const std::lock_guard lock(mutex);
    seen.insert(std::this_thread::get_id());
  });
  EXPECT_LE(seen.size(), 3U);
}

TEST(ParallelFor, one_thread_is_the_callers_and_goes_in_order) {
  std::vector<std::size_t> order;
  parallel_for(4, 1, [&](std::size_t index) { order.push_back(index); });
  EXPECT_EQ(order, (std::vector<std::size_t>{0, 1, 2, 3}));
}

TEST(ParallelFor, nothing_to_do_returns) {
  parallel_for(0, 0, [](std::size_t) { FAIL(); });
}

}  // namespace
}  // namespace remora
