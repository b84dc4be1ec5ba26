// A copy of a store that is served meanwhile.
#include <memory>
#include <string>

#include "kv/efactory/engine.h"
#include "kv/efactory/faults.h"
#include "kv/local_store.h"
#include "kv/log/store_writer.h"
#include "kv/store_testing.h"

namespace remora::kv {
namespace {

constexpr std::size_t copied_pool_bytes = 4 << 20;

class CopyTest : public StoreFixture {
 protected:
  CopyTest() : StoreFixture(efactory::engine()) {}

  // A pool of its own, with what was copied to it.
  struct Copy final : CopySink {
    explicit Copy(CopyTest& test, std::size_t pool_bytes = copied_pool_bytes)
        : region(make_dram(pool_bytes).value()),
          pool(Pool::create(*region, {}).value()),
          writer(
              StoreWriter::create(Host(test.loop_, test.near_.nic, region.get()), *pool, "efactory")
                  .value()) {}
    void begin(std::uint64_t bytes) override { announced_bytes = bytes; }
    Status object(const ReadObject& object) override { return writer->add(object); }

    std::unique_ptr<Region> region;
    std::unique_ptr<Pool> pool;
    std::unique_ptr<StoreWriter> writer;
    std::uint64_t announced_bytes = 0;
  };

  Status copy_to(Copy& copy) {
    const Status status = loop_.block_on(client_->copy(copy));
    return status.ok() ? copy.writer->finish() : status;
  }

  // From now on, what was copied is what is served.
  void serve(Copy& copy) {
    client_.reset();
    server_.reset();
    pool_.reset();
    copy.writer.reset();
    copy.pool.reset();
    region_ = std::move(copy.region);
    restart();
  }
};

TEST_F(CopyTest, holds_every_key_in_its_newest_version) {
  for (int i = 0; i < 200; ++i) {
    ASSERT_TRUE(put("key-" + std::to_string(i), "first").ok());
  }
  for (int i = 0; i < 200; i += 2) {
    ASSERT_TRUE(put("key-" + std::to_string(i), std::string(300, 's')).ok());
  }
  for (int i = 0; i < 200; i += 5) {
    ASSERT_TRUE(del("key-" + std::to_string(i)).ok());
  }
  Copy copy(*this);
  ASSERT_TRUE(copy_to(copy).ok());
  EXPECT_GE(copy.announced_bytes, copy.writer->size_bytes());
  ASSERT_TRUE(put("later", "value").ok());
  serve(copy);
  for (int i = 0; i < 200; ++i) {
    const std::string value = i % 2 == 0 ? std::string(300, 's') : "first";
    EXPECT_EQ(get("key-" + std::to_string(i)), i % 5 == 0 ? "not_found" : value);
  }
  EXPECT_EQ(get("later"), "not_found");
}

// The space of what is gone may still be there.
TEST_F(CopyTest, holds_nothing_that_was_cleared) {
  for (int i = 0; i < 300; ++i) {
    ASSERT_TRUE(put("key-" + std::to_string(i), std::string(1000, 'o')).ok());
  }
  LocalStore& local = *server_->local();
  Result<LocalStore::Mark> cleared = local.clear();
  for (int tries = 0; cleared.code() == Code::in_use && tries < 3; ++tries) {
    ASSERT_TRUE(loop_.block_on(local.room()).ok());
    cleared = local.clear();
  }
  ASSERT_TRUE(cleared.ok());
  const ConstBytes piece = as_bytes("new");
  ASSERT_TRUE(local.put(as_bytes("key-7"), std::span(&piece, 1)).ok());
  Copy copy(*this);
  ASSERT_TRUE(copy_to(copy).ok());
  serve(copy);
  EXPECT_EQ(scan(), std::set<std::string>{"key-7"});
  EXPECT_EQ(get("key-7"), "new");
}

TEST_F(CopyTest, holds_an_empty_store) {
  Copy copy(*this);
  ASSERT_TRUE(copy_to(copy).ok());
  serve(copy);
  EXPECT_TRUE(scan().empty());
  EXPECT_TRUE(put("key", "value").ok());
}

// Of two keys that are put in turns, the copy has the same number or one more of the first.
TEST_F(CopyTest, is_of_one_moment) {
  start(16 << 20, {.create = true, .segment_bytes = 64 << 10});
  for (int i = 0; i < 2'000; ++i) {
    ASSERT_TRUE(put("fill-" + std::to_string(i), std::string(1000, 'f')).ok());
  }
  std::unique_ptr<StoreClient> other = connected_elsewhere();
  Copy copy(*this, 16 << 20);
  int turn = 0;
  const auto put_both = [&] {
    const std::string number = std::to_string(++turn);
    ASSERT_TRUE(loop_.block_on(other->put(bytes_of("first"), bytes_of(number))).ok());
    ASSERT_TRUE(loop_.block_on(other->put(bytes_of("second"), bytes_of(number))).ok());
  };
  put_both();
  Task<Status> copying = client_->copy(copy);
  while (!copying.finished()) {
    put_both();
  }
  ASSERT_TRUE(copying.take().ok());
  ASSERT_TRUE(copy.writer->finish().ok());
  ASSERT_GT(turn, 10);
  serve(copy);
  const int first = std::stoi(get("first"));
  const int second = std::stoi(get("second"));
  EXPECT_TRUE(first == second || first == second + 1) << first << " and " << second;
  EXPECT_LT(first, turn);
  EXPECT_EQ(get("fill-1999"), std::string(1000, 'f'));
}

// Overwrites what little there is until the log must be cleaned, while a client with small buffers
// copies; how its copy ends.
class CopyUnderPressure : public CopyTest {
 protected:
  static constexpr int keys = 20;

  Status copy_while_space_runs_out(const Faults& faults) {
    start(1 << 20, {.create = true, .segment_bytes = 16 << 10, .cleaning = Cleaning::whole},
          faults);
    std::unique_ptr<StoreClient> other = connected_elsewhere();
    int puts = 0;
    const auto put_next = [&] {
      const std::string key = "key-" + std::to_string(++puts % keys);
      return loop_.block_on(other->put(bytes_of(key), bytes_of(std::string(7000, 'v')))).ok();
    };
    while (puts < 80) {
      EXPECT_TRUE(put_next());
    }
    EXPECT_EQ(counter("cleanings"), 0u);
    std::unique_ptr<StoreClient> slow = connected({.in_flight = 1, .buffer_bytes = 512});
    Copy copy(*this);
    Task<Status> copying = slow->copy(copy);
    while (!copying.finished()) {
      EXPECT_TRUE(put_next());
    }
    EXPECT_GT(counter("cleanings"), 0u);
    return copying.take();
  }
};

TEST_F(CopyUnderPressure, ends_when_puts_need_the_room) {
  EXPECT_EQ(copy_while_space_runs_out(Faults()).code(), Code::in_use);
  // And nothing holds cleaning back any more.
  for (int i = 0; i < 500; ++i) {
    ASSERT_TRUE(put("key-" + std::to_string(i % keys), std::string(7000, 'w')).ok());
  }
  Copy copy(*this);
  EXPECT_TRUE(copy_to(copy).ok());
}

TEST_F(CopyUnderPressure, would_be_noticed_to_go_on_after_a_cleaning) {
  EXPECT_NE(copy_while_space_runs_out(Faults(efactory::faults::clean_under_snapshot)).code(),
            Code::in_use);
}

TEST_F(CopyTest, refuses_a_second_copy_at_the_same_time) {
  for (int i = 0; i < 500; ++i) {
    ASSERT_TRUE(put("key-" + std::to_string(i), std::string(1000, 'v')).ok());
  }
  std::unique_ptr<StoreClient> other = connected_elsewhere();
  Copy one(*this);
  Copy two(*this);
  Task<Status> first = client_->copy(one);
  (void)loop_.run_for(20'000);
  ASSERT_FALSE(first.finished());
  EXPECT_EQ(loop_.block_on(other->copy(two)).code(), Code::in_use);
  EXPECT_TRUE(loop_.block_on(std::move(first)).ok());
  EXPECT_TRUE(loop_.block_on(other->copy(two)).ok());
}

}  // namespace
}  // namespace remora::kv
