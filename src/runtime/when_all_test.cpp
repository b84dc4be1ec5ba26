#include "runtime/when_all.h"

#include <gtest/gtest.h>

#include <memory>

#include "runtime/runtime_testing.h"
#include "runtime/virtual_loop.h"

namespace remora {
namespace {

Task<std::unique_ptr<int>> after(Runtime& runtime, std::uint64_t span_ns, int value) {
  co_await runtime.sleep_for(span_ns);
  co_return std::make_unique<int>(value);
}

TEST(WhenAll, gives_results_in_the_order_of_the_tasks) {
  VirtualLoop loop;
  std::vector<Task<std::unique_ptr<int>>> tasks;
  tasks.push_back(after(loop, 30, 1));
  tasks.push_back(after(loop, 10, 2));
  tasks.push_back(after(loop, 0, 3));
  const auto results = loop.block_on(when_all(std::move(tasks)));
  ASSERT_EQ(results.size(), 3U);
  EXPECT_EQ(*results[0], 1);
  EXPECT_EQ(*results[1], 2);
  EXPECT_EQ(*results[2], 3);
  EXPECT_EQ(loop.now_ns(), 30U) << "they ran side by side";
}

TEST(WhenAll, takes_an_array) {
  VirtualLoop loop;
  const auto results = loop.block_on(when_all(std::array{after(loop, 1, 1), after(loop, 2, 2)}));
  EXPECT_EQ(*results[0], 1);
  EXPECT_EQ(*results[1], 2);
}

TEST(WhenAll, a_span_leaves_the_results_in_the_tasks) {
  VirtualLoop loop;
  std::array tasks{after(loop, 1, 1), after(loop, 2, 2)};
  loop.block_on(when_all(std::span(tasks)));
  EXPECT_EQ(*tasks[1].take(), 2);
}

TEST(WhenAll, waits_for_tasks_without_results) {
  VirtualLoop loop;
  loop.block_on(when_all(std::array{nap(loop, 5), nap(loop, 3)}));
  EXPECT_EQ(loop.now_ns(), 5U);
  std::vector<Task<void>> tasks;
  tasks.push_back(nap(loop, 7));
  loop.block_on(when_all(std::move(tasks)));
  EXPECT_EQ(loop.now_ns(), 12U);
}

TEST(WhenAll, nothing_to_wait_for_does_not_suspend) {
  EXPECT_TRUE(when_all(std::vector<Task<void>>()).finished());
}

}  // namespace
}  // namespace remora
