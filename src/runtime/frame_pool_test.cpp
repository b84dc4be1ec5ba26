#include "runtime/frame_pool.h"

#include <gtest/gtest.h>

#include <cstring>
#include <thread>
#include <vector>

#include "runtime/limits.h"

namespace remora {
namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr bool pooled = false;
#else
constexpr bool pooled = true;
#endif

// Each case runs on a thread of its own, so that it finds an empty pool.
template <typename Case>
void on_a_new_thread(Case run) {
  std::thread(run).join();
}

TEST(FramePool, a_freed_frame_serves_the_next_of_its_class) {
  on_a_new_thread([] {
    void* first = allocate_frame(100);
    std::memset(first, 1, 100);
    free_frame(first, 100);
    EXPECT_EQ(free_frames_kept(100), pooled ? 1U : 0U);
    EXPECT_EQ(free_frames_kept(128), pooled ? 1U : 0U);
    EXPECT_EQ(free_frames_kept(129), 0U);
    void* second = allocate_frame(128);
    std::memset(second, 2, 128);
    if (pooled) {
      EXPECT_EQ(second, first);
    }
    EXPECT_EQ(free_frames_kept(128), 0U);
    free_frame(second, 128);
  });
}

TEST(FramePool, keeps_no_more_than_its_bound) {
  on_a_new_thread([] {
    std::vector<void*> frames(limits::frames_kept_per_class + 10);
    for (void*& frame : frames) {
      frame = allocate_frame(200);
    }
    for (void* frame : frames) {
      free_frame(frame, 200);
    }
    EXPECT_EQ(free_frames_kept(200), pooled ? limits::frames_kept_per_class : 0U);
  });
}

TEST(FramePool, large_frames_are_not_kept) {
  on_a_new_thread([] {
    constexpr std::size_t size = limits::frame_largest_bytes + 1;
    void* frame = allocate_frame(size);
    std::memset(frame, 1, size);
    free_frame(frame, size);
    EXPECT_EQ(free_frames_kept(size), 0U);
    void* largest = allocate_frame(size - 1);
    std::memset(largest, 1, size - 1);
    free_frame(largest, size - 1);
    EXPECT_EQ(free_frames_kept(size - 1), pooled ? 1U : 0U);
  });
}

TEST(FramePool, another_thread_may_free) {
  void* frame = nullptr;
  on_a_new_thread([&] { frame = allocate_frame(300); });
  on_a_new_thread([&] {
    free_frame(frame, 300);
    EXPECT_EQ(free_frames_kept(300), pooled ? 1U : 0U);
  });
}

}  // namespace
}  // namespace remora
