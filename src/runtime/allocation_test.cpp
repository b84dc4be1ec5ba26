// Counts every allocation of the program, and shows where the runtime makes none.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <functional>
#include <new>
#include <span>

#include "runtime/event.h"
#include "runtime/poll_loop.h"
#include "runtime/runtime_testing.h"
#include "runtime/semaphore.h"
#include "runtime/virtual_loop.h"
#include "runtime/when_all.h"

namespace {

std::atomic<std::uint64_t> allocations = 0;

void* counted(std::size_t size) noexcept {
  ++allocations;
  return std::malloc(size == 0 ? 1 : size);
}

}  // namespace

// Not inlined, so that the compiler does not see new paired with free.
[[gnu::noinline]] void* operator new(std::size_t size) {
  void* memory = counted(size);
  if (memory == nullptr) {
    throw std::bad_alloc();
  }
  return memory;
}
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return counted(size);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, const std::nothrow_t&) noexcept {
  std::free(memory);
}

namespace remora {
namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr bool frames_are_pooled = false;
#else
constexpr bool frames_are_pooled = true;
#endif

constexpr int rounds = 100;

// Allocations in `rounds` runs of the work, after one run to warm up. Under AddressSanitizer every
// frame is allocated, so there must be some; otherwise none.
void expect_no_allocation(const std::function<void()>& work) {
  work();
  const std::uint64_t before = allocations;
  for (int i = 0; i < rounds; ++i) {
    work();
  }
  const std::uint64_t made = allocations - before;
  if (frames_are_pooled) {
    EXPECT_EQ(made, 0U);
  } else {
    EXPECT_GE(made, static_cast<std::uint64_t>(rounds));
  }
}

Task<int> twice(int value) {
  co_return co_await immediate(value) + co_await immediate(value);
}

TEST(Allocation, a_path_that_does_not_suspend_makes_none) {
  expect_no_allocation([] { EXPECT_EQ(twice(2).take(), 4); });
}

Task<void> take_and_sleep(Runtime& runtime, Semaphore& semaphore) {
  co_await semaphore.acquire();
  co_await runtime.sleep_for(10);
  semaphore.release();
}

Task<void> set_later(Runtime& runtime, Completion<int>& completion) {
  co_await runtime.yield();
  completion.set(1);
}

// Every way to suspend.
Task<void> suspend_everywhere(Runtime& runtime) {
  Semaphore semaphore(runtime, 1);
  Completion<int> completion(runtime);
  runtime.spawn(set_later(runtime, completion));
  Task<void> tasks[] = {take_and_sleep(runtime, semaphore), take_and_sleep(runtime, semaphore)};
  co_await when_all(std::span(tasks));
  EXPECT_EQ(co_await completion, 1);
  std::byte byte{};
  const bool held = co_await runtime.watch(
      ConstBytes(&byte, 1), [&] { return byte != std::byte{}; }, runtime.after(10));
  EXPECT_FALSE(held);
  co_await runtime.cpu(0, 10);
}

TEST(Allocation, a_path_that_suspends_makes_none_in_virtual_time) {
  VirtualLoop loop;
  loop.add_cores(1);
  expect_no_allocation([&] { loop.block_on(suspend_everywhere(loop)); });
}

TEST(Allocation, a_path_that_suspends_makes_none_in_real_time) {
  PollLoop loop;
  expect_no_allocation([&] { loop.block_on(suspend_everywhere(loop)); });
}

}  // namespace
}  // namespace remora
