#include "runtime/semaphore.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "runtime/virtual_loop.h"

namespace remora {
namespace {

Task<void> take(Semaphore& semaphore, std::uint64_t count, int name, std::vector<int>& order) {
  co_await semaphore.acquire(count);
  order.push_back(name);
}

TEST(Semaphore, does_not_suspend_while_there_are_credits) {
  VirtualLoop loop;
  Semaphore semaphore(loop, 3);
  std::vector<int> order;
  EXPECT_TRUE(take(semaphore, 2, 1, order).finished());
  EXPECT_EQ(semaphore.credits(), 3U);
  EXPECT_EQ(semaphore.available(), 1U);
}

TEST(Semaphore, serves_in_the_order_of_arrival) {
  VirtualLoop loop;
  Semaphore semaphore(loop, 2);
  std::vector<int> order;
  ASSERT_TRUE(semaphore.try_acquire(2));
  Task<void> large = take(semaphore, 2, 1, order);
  Task<void> small = take(semaphore, 1, 2, order);
  semaphore.release();
  EXPECT_FALSE(semaphore.try_acquire()) << "a credit is free, but others were first";
  loop.run_for(1);
  EXPECT_TRUE(order.empty());
  semaphore.release();
  EXPECT_EQ(semaphore.available(), 0U) << "the credits are handed over at once";
  EXPECT_TRUE(order.empty()) << "release runs no flow itself";
  loop.run_for(1);
  EXPECT_EQ(order, std::vector<int>{1});
  semaphore.release(2);
  loop.run_for(1);
  EXPECT_EQ(order, (std::vector<int>{1, 2}));
  EXPECT_EQ(semaphore.available(), 1U);
}

TEST(Semaphore, one_release_can_serve_several) {
  VirtualLoop loop;
  Semaphore semaphore(loop, 2);
  std::vector<int> order;
  ASSERT_TRUE(semaphore.try_acquire(2));
  Task<void> first = take(semaphore, 1, 1, order);
  Task<void> second = take(semaphore, 1, 2, order);
  semaphore.release(2);
  loop.run_for(1);
  EXPECT_EQ(order, (std::vector<int>{1, 2}));
}

TEST(Semaphore, misuse_ends_the_program) {
  VirtualLoop loop;
  std::vector<int> order;
  Semaphore semaphore(loop, 1);
  EXPECT_DEATH(semaphore.release(), "more credits given back");
  EXPECT_DEATH(static_cast<void>(semaphore.acquire(2)), "more credits wanted");
  EXPECT_DEATH(
      {
        auto held = std::make_unique<Semaphore>(loop, 0);
        ASSERT_FALSE(held->try_acquire());
        held = std::make_unique<Semaphore>(loop, 1);
        ASSERT_TRUE(held->try_acquire());
        Task<void> task = take(*held, 1, 1, order);
        held.reset();
      },
      "while a flow waits");
}

}  // namespace
}  // namespace remora
