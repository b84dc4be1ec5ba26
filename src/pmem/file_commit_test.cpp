#include "pmem/file_commit.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <latch>
#include <semaphore>
#include <thread>
#include <vector>

namespace remora {
namespace {

using Semaphore = std::counting_semaphore<1024>;

// A disk whose syncs are counted, can be held up, and can fail.
class FileCommitTest : public testing::Test {
 protected:
  int sync(std::byte* from, std::size_t size) {
    last_from_ = static_cast<std::size_t>(from - memory_.data());
    last_size_ = size;
    syncing_.release();
    if (held_up_) {
      proceed_.acquire();
    }
    return error_;
  }
  // A ticket for one byte of that page.
  Ticket ticket_for(std::size_t page) {
    commit_.add(ConstBytes(memory_).subspan(page * page_bytes, 1));
    return commit_.draw();
  }

  std::vector<std::byte> memory_ = std::vector<std::byte>(16 * page_bytes);
  std::size_t last_from_ = 0;
  std::size_t last_size_ = 0;
  std::atomic<bool> held_up_ = false;
  std::atomic<int> error_ = 0;
  Semaphore syncing_{0};  // released when a sync begins
  Semaphore proceed_{0};  // a sync that is held up waits for it
  FileCommit commit_{memory_,
                     [this](std::byte* from, std::size_t size) { return sync(from, size); }};
};

TEST_F(FileCommitTest, ticket_zero_is_persistent_from_the_start) {
  EXPECT_TRUE(commit_.persistent(Ticket{}));
  EXPECT_TRUE(commit_.wait(Ticket{}).ok());
  EXPECT_EQ(commit_.syncs(), 0u);
}

TEST_F(FileCommitTest, a_ticket_is_persistent_after_its_wait) {
  const Ticket ticket = ticket_for(3);
  EXPECT_FALSE(commit_.persistent(ticket));
  ASSERT_TRUE(commit_.wait(ticket).ok());
  EXPECT_TRUE(commit_.persistent(ticket));
  EXPECT_EQ(commit_.syncs(), 1u);
  ASSERT_TRUE(commit_.wait(ticket).ok());
  EXPECT_EQ(commit_.syncs(), 1u);
}

TEST_F(FileCommitTest, one_sync_covers_whole_pages_of_all_ranges) {
  commit_.add(ConstBytes(memory_).subspan(5 * page_bytes + 100, 10));
  commit_.add(ConstBytes(memory_).subspan(2 * page_bytes + 4000, 200));
  ASSERT_TRUE(commit_.wait(commit_.draw()).ok());
  EXPECT_EQ(last_from_, 2 * page_bytes);
  EXPECT_EQ(last_size_, 4 * page_bytes);
}

TEST_F(FileCommitTest, a_later_sync_does_not_cover_the_earlier_ranges_again) {
  ASSERT_TRUE(commit_.wait(ticket_for(9)).ok());
  ASSERT_TRUE(commit_.wait(ticket_for(1)).ok());
  EXPECT_EQ(last_from_, page_bytes);
  EXPECT_EQ(last_size_, page_bytes);
}

TEST_F(FileCommitTest, the_last_page_may_be_short) {
  FileCommit odd(Bytes(memory_).first(page_bytes + 100),
                 [this](std::byte* from, std::size_t size) { return sync(from, size); });
  odd.add(ConstBytes(memory_).subspan(page_bytes, 100));
  ASSERT_TRUE(odd.wait(odd.draw()).ok());
  EXPECT_EQ(last_from_, page_bytes);
  EXPECT_EQ(last_size_, 100u);
}

TEST_F(FileCommitTest, nothing_to_write_needs_no_sync) {
  commit_.add({});
  const Ticket ticket = commit_.draw();
  ASSERT_TRUE(commit_.wait(ticket).ok());
  EXPECT_TRUE(commit_.persistent(ticket));
  EXPECT_EQ(commit_.syncs(), 0u);
}

using FileCommitDeathTest = FileCommitTest;

TEST_F(FileCommitDeathTest, notices_ranges_outside_of_the_region) {
  const std::vector<std::byte> elsewhere(64);
  const auto aborts = testing::KilledBySignal(SIGABRT);
  EXPECT_EXIT(commit_.add(elsewhere), aborts, "outside of the region");
  EXPECT_EXIT(commit_.add(ConstBytes(memory_.data() + memory_.size() - 1, 2)), aborts,
              "outside of the region");
}

// The first waiter's sync is held up; all who draw meanwhile share the next.
TEST_F(FileCommitTest, many_waiters_share_one_sync) {
  constexpr int waiters = 8;
  held_up_ = true;
  std::thread first([&] { EXPECT_TRUE(commit_.wait(ticket_for(0)).ok()); });
  syncing_.acquire();
  std::latch drawn(waiters);
  std::vector<std::thread> others;
  for (std::size_t i = 0; i < waiters; ++i) {
    others.emplace_back([&, i] {
      const Ticket ticket = ticket_for(1 + i);
      drawn.count_down();
      EXPECT_TRUE(commit_.wait(ticket).ok());
      EXPECT_TRUE(commit_.persistent(ticket));
    });
  }
  drawn.wait();
  held_up_ = false;
  proceed_.release();
  first.join();
  for (std::thread& other : others) {
    other.join();
  }
  EXPECT_EQ(commit_.syncs(), 2u);
}

TEST_F(FileCommitTest, a_ticket_drawn_during_a_sync_belongs_to_the_next) {
  held_up_ = true;
  const Ticket early = ticket_for(0);
  std::thread waiter([&] { EXPECT_TRUE(commit_.wait(early).ok()); });
  syncing_.acquire();
  const Ticket late = ticket_for(1);
  EXPECT_FALSE(commit_.persistent(early));
  held_up_ = false;
  proceed_.release();
  waiter.join();
  EXPECT_TRUE(commit_.persistent(early));
  EXPECT_FALSE(commit_.persistent(late));
  ASSERT_TRUE(commit_.wait(late).ok());
  EXPECT_EQ(last_from_, page_bytes);
  EXPECT_EQ(commit_.syncs(), 2u);
}

TEST_F(FileCommitTest, a_request_is_served_by_another_thread) {
  const Ticket ticket = ticket_for(0);
  commit_.request(ticket);
  syncing_.acquire();  // nobody waits, so only the object's own thread can have begun this
  while (!commit_.persistent(ticket)) {
    std::this_thread::yield();
  }
  EXPECT_EQ(commit_.syncs(), 1u);
}

TEST_F(FileCommitTest, requests_for_one_commit_share_one_sync) {
  held_up_ = true;
  commit_.request(ticket_for(0));
  syncing_.acquire();
  Ticket last;
  for (std::size_t i = 1; i < 10; ++i) {
    last = ticket_for(i);
    commit_.request(last);
  }
  held_up_ = false;
  proceed_.release();
  ASSERT_TRUE(commit_.wait(last).ok());
  EXPECT_EQ(commit_.syncs(), 2u);
}

TEST_F(FileCommitTest, a_request_for_what_is_persistent_does_nothing) {
  const Ticket ticket = ticket_for(0);
  ASSERT_TRUE(commit_.wait(ticket).ok());
  commit_.request(ticket);
  commit_.request(Ticket{});
  EXPECT_EQ(commit_.syncs(), 1u);
}

TEST_F(FileCommitTest, waits_and_requests_mix) {
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      for (int round = 0; round < 200; ++round) {
        const Ticket ticket = ticket_for(i);
        if (round % 2 == 0) {
          commit_.request(ticket);
        }
        EXPECT_TRUE(commit_.wait(ticket).ok());
        EXPECT_TRUE(commit_.persistent(ticket));
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_LE(commit_.syncs(), 800u);
}

TEST_F(FileCommitTest, tells_of_the_end_of_every_commit_until_it_is_asked_not_to) {
  std::atomic<int> told = 0;
  Semaphore ended(0);
  commit_.tell([&] {
    ++told;
    ended.release();
  });
  ASSERT_TRUE(commit_.wait(ticket_for(1)).ok());
  EXPECT_EQ(told, 1);
  commit_.request(ticket_for(2));
  ended.acquire();
  ended.acquire();
  EXPECT_EQ(told, 2);
  commit_.tell(nullptr);
  ASSERT_TRUE(commit_.wait(ticket_for(3)).ok());
  EXPECT_EQ(told, 2);
}

TEST_F(FileCommitTest, tells_of_a_failure_too) {
  Semaphore ended(0);
  commit_.tell([&] { ended.release(); });
  error_ = EIO;
  commit_.request(ticket_for(1));
  ended.acquire();
  EXPECT_FALSE(commit_.failure().ok());
}

// The thread sleeps while another one commits, and must not sleep through what was asked of it.
TEST_F(FileCommitTest, a_request_during_the_commit_of_a_waiter_is_served) {
  held_up_ = true;
  const Ticket first = ticket_for(1);
  std::thread waiter([&] { EXPECT_TRUE(commit_.wait(first).ok()); });
  syncing_.acquire();
  const Ticket second = ticket_for(2);
  commit_.request(second);
  held_up_ = false;
  proceed_.release();
  waiter.join();
  while (!commit_.persistent(second)) {
    std::this_thread::yield();
  }
}

TEST_F(FileCommitTest, it_may_go_away_with_a_request_in_flight) {
  FileCommit other(memory_, [this](std::byte* from, std::size_t size) { return sync(from, size); });
  other.add(ConstBytes(memory_).first(1));
  other.request(other.draw());
}

TEST_F(FileCommitTest, a_failed_sync_is_reported_to_all_who_wait_for_it) {
  constexpr int waiters = 6;
  held_up_ = true;
  error_ = EIO;
  std::latch drawn(waiters);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < waiters; ++i) {
    threads.emplace_back([&, i] {
      const Ticket ticket = ticket_for(i);
      drawn.count_down();
      EXPECT_EQ(commit_.wait(ticket).code(), Code::io_error);
      EXPECT_FALSE(commit_.persistent(ticket));
    });
  }
  drawn.wait();
  proceed_.release();
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_FALSE(commit_.failure().ok());
  EXPECT_EQ(commit_.syncs(), 1u);
}

TEST_F(FileCommitTest, a_failed_sync_is_final) {
  const Ticket before = ticket_for(0);
  ASSERT_TRUE(commit_.wait(before).ok());
  EXPECT_TRUE(commit_.failure().ok());
  error_ = EIO;
  const Ticket failed = ticket_for(1);
  EXPECT_EQ(commit_.wait(failed).code(), Code::io_error);
  error_ = 0;  // the disk recovers, but what it lost stays lost
  EXPECT_EQ(commit_.wait(failed).code(), Code::io_error);
  const Ticket after = ticket_for(2);
  EXPECT_EQ(commit_.wait(after).code(), Code::io_error);
  EXPECT_FALSE(commit_.persistent(failed));
  EXPECT_FALSE(commit_.persistent(after));
  EXPECT_TRUE(commit_.persistent(before));
  EXPECT_TRUE(commit_.wait(before).ok());
  EXPECT_EQ(commit_.syncs(), 2u);
}

TEST_F(FileCommitTest, a_failed_request_fails_those_who_wait_later) {
  error_ = EIO;
  const Ticket ticket = ticket_for(0);
  commit_.request(ticket);
  while (commit_.failure().ok()) {
    std::this_thread::yield();
  }
  EXPECT_EQ(commit_.wait(ticket).code(), Code::io_error);
  commit_.request(ticket_for(1));
  EXPECT_EQ(commit_.syncs(), 1u);
}

TEST_F(FileCommitTest, the_message_of_a_failure_says_what_to_do) {
  error_ = EIO;
  const Status status = commit_.wait(ticket_for(0));
  EXPECT_NE(status.message().find("open the pool again"), std::string_view::npos);
}

}  // namespace
}  // namespace remora
