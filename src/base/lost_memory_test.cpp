#include "base/lost_memory.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>
#include <vector>

namespace remora {
namespace {

constexpr std::size_t pages = 8;

// A file in memory of some pages that can be cut short, mapped, with a letter in each page.
class Mapped {
 public:
  Mapped() : file_(memfd_create("lost", MFD_CLOEXEC)) {
    REMORA_CHECK(file_ >= 0 && ftruncate(file_, pages * page_bytes) == 0, "no memory for a test");
    void* const base =
        mmap(nullptr, pages * page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
    REMORA_CHECK(base != MAP_FAILED, "no memory for a test");
    bytes_ = Bytes(static_cast<std::byte*>(base), pages * page_bytes);
    for (std::size_t i = 0; i < pages; ++i) {
      page(i) = std::byte{'x'};
    }
  }
  ~Mapped() {
    munmap(bytes_.data(), bytes_.size());
    close(file_);
  }
  volatile std::byte& page(std::size_t i) { return bytes_[i * page_bytes]; }
  Bytes bytes() const { return bytes_; }
  void cut(std::size_t left) {
    REMORA_CHECK(ftruncate(file_, static_cast<off_t>(left * page_bytes)) == 0, "cannot cut");
  }

 private:
  int file_;
  Bytes bytes_;
};

// The signal that ends a process that does this, or minus what it returns.
template <typename Work>
int end_of(Work work) {
  const pid_t child = fork();
  if (child == 0) {
    _exit(work());
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? WTERMSIG(status) : -WEXITSTATUS(status);
}

TEST(LostMemory, a_range_that_was_extended_is_watched_to_its_new_end) {
  EXPECT_EQ(end_of([] {
              Mapped mapped;
              const WatchedMemory watched(mapped.bytes().first(2 * page_bytes));
              watched.extend(mapped.bytes());
              bool is_fine = catch_lost_memory().ok();
              mapped.cut(4);
              is_fine = is_fine && mapped.page(3) == std::byte{'x'} && !watched.lost();
              return is_fine && mapped.page(5) == std::byte{0} && watched.lost() ? 0 : 1;
            }),
            0);
}

TEST(LostMemory, goes_on_with_zeros_and_says_so) {
  EXPECT_EQ(end_of([] {
              Mapped mapped;
              Mapped other;
              const WatchedMemory watched(mapped.bytes());
              const WatchedMemory sound(other.bytes());
              bool is_fine = catch_lost_memory().ok() && catch_lost_memory().ok();
              mapped.cut(2);
              is_fine = is_fine && mapped.page(1) == std::byte{'x'} && !any_memory_lost();
              is_fine = is_fine && mapped.page(3) == std::byte{0} && watched.lost();
              is_fine = is_fine && mapped.page(1) == std::byte{'x'};
              is_fine = is_fine && mapped.page(2) == std::byte{0};
              mapped.page(5) = std::byte{'y'};
              is_fine = is_fine && mapped.page(5) == std::byte{'y'};
              is_fine = is_fine && is_memory_lost(mapped.bytes().data()) && !sound.lost() &&
                        !is_memory_lost(other.bytes().data());
              return is_fine ? 0 : 1;
            }),
            0);
}

TEST(LostMemory, what_nobody_watches_ends_the_process_as_ever) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the sanitizer's own handler is told of SIGBUS first";
#endif
  EXPECT_EQ(end_of([] {
              Mapped mapped;
              Mapped other;
              const WatchedMemory watched(other.bytes());
              (void)catch_lost_memory();
              mapped.cut(0);
              return mapped.page(0) == std::byte{0} ? 0 : 1;
            }),
            SIGBUS);
  EXPECT_EQ(end_of([] {
              Mapped mapped;
              (void)catch_lost_memory();
              { const WatchedMemory watched(mapped.bytes()); }
              mapped.cut(0);
              return mapped.page(0) == std::byte{0} ? 0 : 1;
            }),
            SIGBUS);
  EXPECT_EQ(end_of([] {
              (void)catch_lost_memory();
              return raise(SIGBUS);
            }),
            SIGBUS);
}

TEST(LostMemory, nothing_is_caught_where_nobody_asked_for_it) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the sanitizer's own handler is told of SIGBUS first";
#endif
  EXPECT_EQ(end_of([] {
              Mapped mapped;
              const WatchedMemory watched(mapped.bytes());
              mapped.cut(0);
              return mapped.page(0) == std::byte{0} ? 0 : 1;
            }),
            SIGBUS);
}

TEST(LostMemory, an_earlier_handler_gets_what_is_not_watched) {
  EXPECT_EQ(end_of([] {
              struct sigaction own = {};
              own.sa_handler = [](int) { _exit(42); };
              sigaction(SIGBUS, &own, nullptr);
              (void)catch_lost_memory();
              Mapped mapped;
              mapped.cut(0);
              return mapped.page(0) == std::byte{0} ? 0 : 1;
            }),
            -42);
}

TEST(LostMemory, several_threads_may_lose_it_at_once) {
  EXPECT_EQ(end_of([] {
              Mapped mapped;
              const WatchedMemory watched(mapped.bytes());
              (void)catch_lost_memory();
              mapped.cut(0);
              std::atomic<int> wrong = 0;
              std::vector<std::thread> threads;
              for (std::size_t i = 0; i < pages; ++i) {
                threads.emplace_back([&, i] {
                  const bool is_zero = mapped.page(pages - 1 - i) == std::byte{0};
                  wrong += is_zero && watched.lost() ? 0 : 1;
                });
              }
              for (std::thread& thread : threads) {
                thread.join();
              }
              return wrong.load();
            }),
            0);
}

TEST(LostMemory, can_be_told_by_who_learns_it_otherwise) {
  EXPECT_EQ(end_of([] {
              Mapped mapped;
              const WatchedMemory watched(mapped.bytes());
              const bool was_sound = !watched.lost();
              watched.lose();
              return was_sound && watched.lost() ? 0 : 1;
            }),
            0);
}

}  // namespace
}  // namespace remora
