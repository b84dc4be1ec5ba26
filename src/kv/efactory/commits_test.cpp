// How many group commits persistent puts cost, by who asks for them at once.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kv/efactory/engine.h"
#include "kv/local_store.h"
#include "kv/store_testing.h"
#include "pmem/pmem_testing.h"

namespace remora::kv {
namespace {

constexpr std::uint64_t commit_takes_ns = 300'000;
constexpr std::uint64_t longest_thought_ns = 100'000;  // of a client between two puts

// Page media on which another thread's commit takes a while, and whose ends are told of.
class CommitsTest : public StoreFixture {
 protected:
  CommitsTest() : StoreFixture(efactory::engine()) {
    make_region_ = [this](std::size_t size) {
      auto region = std::make_unique<FakeRegion>(size, Granularity::page);
      pages_ = region.get();
      region->tell_of_commits();
      region->when_asked([this] {
        if (!disk_.armed()) {
          loop_.arm(disk_, loop_.after(commit_takes_ns));
        }
      });
      return region;
    };
    start(8 << 20, {.create = true, .expected_keys = 16});
    for (int i = 0; i < most_clients; ++i) {
      clients_.push_back(connected());
    }
  }
  ~CommitsTest() override { disk_.disarm(); }

  Task<void> put_often(StoreClient& client, std::string key) {
    const std::string value(100, 'v');
    for (int i = 0; i < puts_each; ++i) {
      const Status status = co_await client.put(bytes_of(key), bytes_of(value),
                                                {.durability = Durability::persistent});
      EXPECT_TRUE(status.ok()) << status.message();
      co_await loop_.sleep_for(loop_.random().below(longest_thought_ns));
    }
  }
  Task<void> put_here_often(std::string key) {
    const std::string value(100, 'v');
    const ConstBytes piece = bytes_of(value);
    for (int i = 0; i < puts_each; ++i) {
      const Result<LocalStore::Mark> mark =
          server_->local()->put(bytes_of(key), std::span(&piece, 1));
      EXPECT_TRUE(mark.ok()) << mark.status().message();
      const Status status = co_await server_->local()->persistent(*mark);
      EXPECT_TRUE(status.ok()) << status.message();
      co_await loop_.sleep_for(loop_.random().below(longest_thought_ns));
    }
  }
  Task<void> ask_always(StoreClient& client, const bool& goes_on) {
    std::string value(100, '\0');
    while (goes_on) {
      (void)co_await client.get(bytes_of(nobodys_), std::as_writable_bytes(std::span(value)));
      co_await loop_.sleep_for(10'000);
    }
  }

  // So many commits are made while these flows run.
  std::uint64_t commits_of(std::vector<Task<void>> flows) {
    const std::uint64_t before = pages_->commits();
    for (Task<void>& flow : flows) {
      loop_.block_on(std::move(flow));
    }
    return pages_->commits() - before;
  }
  std::uint64_t commits_of(int natives, int here) {
    client_.reset();  // which would wait for nothing
    std::vector<Task<void>> flows;
    for (int i = 0; i < natives; ++i) {
      flows.push_back(put_often(*clients_[static_cast<std::size_t>(i)], std::to_string(i)));
    }
    for (int i = 0; i < here; ++i) {
      flows.push_back(put_here_often("here " + std::to_string(i)));
    }
    return commits_of(std::move(flows));
  }

  class Disk final : public Timer {
   public:
    explicit Disk(CommitsTest& test) : test_(test) {}
    void expire() override { test_.pages_->commit(); }

   private:
    CommitsTest& test_;
  };

  static constexpr int most_clients = 8;
  static constexpr int puts_each = 20;
  static constexpr std::uint64_t each = puts_each;

  FakeRegion* pages_ = nullptr;
  Disk disk_{*this};
  const std::string nobodys_ = "nobody's";
  std::vector<std::unique_ptr<StoreClient>> clients_;
};

TEST_F(CommitsTest, one_client_costs_a_commit_for_each_put) {
  clients_.resize(1);
  EXPECT_EQ(commits_of(1, 0), each);
}

TEST_F(CommitsTest, clients_that_put_at_once_share_their_commits) {
  EXPECT_EQ(commits_of(8, 0), each);
}

TEST_F(CommitsTest, clients_share_the_commits_of_another_thread_too) {
  const std::unique_ptr<StoreClient> reader = connected();
  bool goes_on = true;
  Task<void> reading = ask_always(*reader, goes_on);
  const std::uint64_t blocked = pages_->blocked();
  EXPECT_EQ(commits_of(8, 0), each);
  EXPECT_EQ(pages_->blocked(), blocked);
  goes_on = false;
  loop_.block_on(std::move(reading));
}

// Flows of this process ask at once: those that come while a commit is under way share the next.
TEST_F(CommitsTest, users_of_this_process_share_their_commits) {
  EXPECT_LE(commits_of(0, 8), 2 * each);
}

TEST_F(CommitsTest, all_share_their_commits) {
  EXPECT_LE(commits_of(8, 8), 2 * each);
}

}  // namespace
}  // namespace remora::kv
