// A pool that grows while it is served, and its clients.
#include <map>
#include <string>
#include <vector>

#include "kv/efactory/client.h"
#include "kv/efactory/engine.h"
#include "kv/local_store.h"
#include "kv/store_testing.h"

namespace remora::kv {
namespace {

constexpr std::size_t small_bytes = 1 << 20;
constexpr std::size_t large_bytes = 8 << 20;

// With a guarded region, and with the keys of segments.
class Growing : public StoreFixture, public testing::WithParamInterface<bool> {
 protected:
  Growing() : StoreFixture(efactory::engine(), GetParam()) {
    room_bytes_ = large_bytes;
    start(small_bytes, {.create = true, .expected_keys = 16});
  }
  static std::string key(std::size_t number) { return "key-" + std::to_string(number); }
  static std::string value(std::size_t number) {
    return std::string(10'000, static_cast<char>('a' + number % 26));
  }
  // Until there is no room; how many keys were put.
  std::size_t fill_up() {
    const std::size_t before = written_;
    Status status;
    while ((status = put(key(written_), value(written_))).ok()) {
      ++written_;
    }
    EXPECT_EQ(status.code(), Code::no_space) << status.message();
    return written_ - before;
  }
  void expect_all(StoreClient& client) {
    for (std::size_t i = 0; i < written_; ++i) {
      ASSERT_EQ(get(client, key(i)), value(i)) << i;
    }
  }
  Status grow(std::uint64_t bytes) { return loop_.block_on(server_->grow(bytes)); }

  std::size_t written_ = 0;
};
INSTANTIATE_TEST_SUITE_P(keys, Growing, testing::Bool(), [](const auto& keys) {
  return keys.param ? "of_segments" : "of_the_pool";
});

TEST_P(Growing, a_full_store_has_room_for_those_who_are_there_and_for_those_who_come) {
  std::unique_ptr<StoreClient> other = connected_elsewhere();
  const std::size_t before = fill_up();
  EXPECT_GT(before, 20u);
  ASSERT_TRUE(grow(large_bytes).ok());
  EXPECT_EQ(pool_->size_bytes(), large_bytes);
  EXPECT_GT(fill_up(), 5 * before);
  settle();
  expect_all(*client_);
  expect_all(*other);
  expect_all(*connected_elsewhere());
  EXPECT_GT(static_cast<efactory::EfactoryClient&>(*other).pure_gets(), written_ * 9 / 10)
      << "by READs of their own";
  restart();
  EXPECT_EQ(pool_->size_bytes(), large_bytes);
  expect_all(*client_);
}

// Clients put, get and delete all the time, and it grows in many steps.
TEST_P(Growing, clients_go_on_meanwhile) {
  std::unique_ptr<StoreClient> other = connected_elsewhere();
  bool has_ended = false;
  std::uint64_t failures = 0;
  std::uint64_t puts = 0;
  const auto work = [&](StoreClient& client, std::string mine) -> Task<void> {
    std::vector<std::byte> buffer(20'000);
    for (std::size_t i = 0; !has_ended; ++i) {
      const std::string own_key = mine + std::to_string(i % 7);
      const std::string content(1 + i * 37 % 3'000, static_cast<char>('a' + i % 26));
      const Status put = co_await client.put(bytes_of(own_key), bytes_of(content), {});
      const Result<std::size_t> got = co_await client.get(bytes_of(own_key), buffer);
      const bool is_right = put.ok() && got.ok() && *got == content.size() &&
                            as_text(ConstBytes(buffer).first(*got)) == content;
      failures += is_right ? 0u : 1u;
      ++puts;
    }
  };
  Task<void> first = work(*client_, "first-");
  Task<void> second = work(*other, "second-");
  for (std::uint64_t bytes = small_bytes + (1 << 20); bytes <= large_bytes; bytes += 1 << 20) {
    const std::uint64_t before = puts;
    ASSERT_TRUE(grow(bytes).ok());
    (void)loop_.run_for(300'000);
    EXPECT_GT(puts, before + 10);
  }
  has_ended = true;
  loop_.block_on(std::move(first));
  loop_.block_on(std::move(second));
  EXPECT_EQ(failures, 0u);
  EXPECT_EQ(pool_->size_bytes(), large_bytes);
  EXPECT_GT(counter("log_bytes_total"), large_bytes * 9 / 10);
}

// What it had on its way is settled, and it is told so; the store does not wait for it for good.
TEST_P(Growing, a_client_that_stands_still_is_cut_off) {
  client_.reset();
  server_.reset();
  start(small_bytes, {.create = true, .expected_keys = 16, .client_timeout_ns = 3'000'000});
  ASSERT_TRUE(put("before", "it").ok());
  std::unique_ptr<StoreClient> other = connected_elsewhere();
  network_.partition(near_.wire.id(), far_.wire.id());
  ASSERT_TRUE(grow(large_bytes).ok());
  EXPECT_EQ(get(*other, "before"), "it");
  EXPECT_TRUE(loop_.block_on(other->put(bytes_of(key(1)), bytes_of(value(1)), {})).ok());
  network_.heal(near_.wire.id(), far_.wire.id());
  (void)loop_.run_for(20'000'000);
  EXPECT_FALSE(put("after", "it").ok());
  EXPECT_FALSE(client_->failure().ok());
  client_ = connected();
  EXPECT_EQ(get("before"), "it");
}

TEST_P(Growing, refuses_sizes_that_cannot_be_and_a_second_growth) {
  EXPECT_EQ(grow(small_bytes).code(), Code::invalid_argument);
  EXPECT_EQ(grow(small_bytes / 2).code(), Code::invalid_argument);
  EXPECT_EQ(grow(large_bytes + (1 << 20)).code(), Code::invalid_argument);
  Task<Status> first = server_->grow(large_bytes);
  EXPECT_EQ(grow(large_bytes).code(), Code::in_use);
  EXPECT_TRUE(server_->busy());
  EXPECT_TRUE(loop_.block_on(std::move(first)).ok());
  settle();
  EXPECT_FALSE(server_->busy());
  EXPECT_EQ(grow(large_bytes).code(), Code::invalid_argument) << "it has that size already";
}

TEST_P(Growing, it_grows_while_the_log_is_cleaned) {
  start(small_bytes, {.create = true, .expected_keys = 16, .clean_always = true});
  for (std::size_t i = 0; i < 10; ++i) {
    ASSERT_TRUE(put(key(i), value(i)).ok());
    ++written_;
  }
  for (std::uint64_t bytes = small_bytes + (1 << 20); bytes <= large_bytes; bytes += 1 << 20) {
    ASSERT_TRUE(grow(bytes).ok());
    for (std::size_t i = 0; i < 10; ++i) {
      ASSERT_TRUE(put(key(written_), value(written_)).ok());
      ++written_;
    }
  }
  EXPECT_GT(counter("cleanings") + counter("cleaned_parts"), 1u);
  settle();
  expect_all(*client_);
}

TEST_P(Growing, all_keys_may_go_and_come_again_in_what_has_grown) {
  fill_up();
  ASSERT_TRUE(grow(large_bytes).ok());
  LocalStore& here = *server_->local();
  while (!here.clear().ok()) {
    ASSERT_TRUE(loop_.block_on(here.room()).ok());
  }
  settle();
  written_ = 0;
  EXPECT_GT(fill_up(), 250u);
  settle();
  expect_all(*client_);
}

}  // namespace
}  // namespace remora::kv
