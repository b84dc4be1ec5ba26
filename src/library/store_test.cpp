#include <remora/store.h>

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "base/folder_testing.h"

namespace remora {
namespace {

class StoreTest : public testing::Test {
 protected:
  std::string pool() const { return folder_.file("pool"); }
  Store opened() { return Store::open(pool(), {.pool_bytes = 8 << 20}).value(); }

  const TestFolder folder_;
};

TEST_F(StoreTest, is_not_opened_without_a_path) {
  EXPECT_TRUE(Store::open("").is(ErrorCode::invalid_argument));
}

TEST_F(StoreTest, keeps_what_was_put) {
  {
    Store store = opened();
    EXPECT_TRUE(store.put("key", "value").ok());
    EXPECT_TRUE(store.put("other", "", Durability::persistent).ok());
    EXPECT_EQ(store.get("key").value(), "value");
  }
  Store store = opened();
  EXPECT_EQ(store.get("key").value(), "value");
  EXPECT_EQ(store.get("other").value(), "");
}

TEST_F(StoreTest, says_what_is_not_there) {
  Store store = Store::open_memory().value();
  EXPECT_TRUE(store.get("nothing").is(ErrorCode::not_found));
  EXPECT_THROW((void)store.get("nothing").value(), Failure);
  EXPECT_TRUE(store.del("nothing").ok());
  EXPECT_TRUE(store.put("", "value").is(ErrorCode::invalid_argument));
  EXPECT_EQ(to_string(ErrorCode::not_found), "not_found");
}

TEST_F(StoreTest, a_pool_has_one_owner) {
  Store store = opened();
  EXPECT_TRUE(Store::open(pool()).is(ErrorCode::in_use));
  EXPECT_TRUE(Store::open(pool(), {.media = "tape"}).is(ErrorCode::invalid_argument));
  EXPECT_TRUE(Store::connect(folder_.file("nobody")).is(ErrorCode::not_found));
}

TEST_F(StoreTest, takes_values_larger_than_usual) {
  Store store = Store::open_memory({.largest_value_bytes = 1 << 20}).value();
  const std::string large(1 << 20, 'x');
  EXPECT_TRUE(store.put("large", large).ok());
  EXPECT_TRUE(store.get("large").value() == large);
  EXPECT_TRUE(
      Store::open_memory({.largest_value_bytes = 17 << 20}).is(ErrorCode::invalid_argument));
}

TEST_F(StoreTest, scans_every_key_and_stops_when_told) {
  Store store = Store::open_memory().value();
  std::set<std::string> expected;
  for (int i = 0; i < 200; ++i) {
    const std::string key = "key-" + std::to_string(i);
    expected.insert(key);
    const Expected<void> put = store.put(key, "v");
    EXPECT_TRUE(put.ok()) << put.error().message;
  }
  std::set<std::string> seen;
  EXPECT_TRUE(store.scan([&](std::string_view key) { return seen.emplace(key), true; }).ok());
  EXPECT_EQ(seen, expected);
  int visits = 0;
  EXPECT_TRUE(store.scan([&](std::string_view) { return ++visits < 3; }).ok());
  EXPECT_EQ(visits, 3);
}

TEST_F(StoreTest, writes_several_keys_together) {
  {
    Store store = opened();
    EXPECT_TRUE(store.put("from", "7").ok());
    EXPECT_TRUE(store.get_version("to").is(ErrorCode::not_found));
    const Versioned from = store.get_version("from").value();
    EXPECT_EQ(from.value, "7");
    EXPECT_NE(from.version, 0u);
    Together move;
    move.expect("from", from.version);
    move.expect("to", 0);
    move.put("to", from.value);
    move.del("from");
    EXPECT_TRUE(store.write(move, Durability::persistent).ok());
    EXPECT_TRUE(store.get("from").is(ErrorCode::not_found));
    EXPECT_EQ(store.get("to").value(), "7");
    EXPECT_TRUE(store.write(move).is(ErrorCode::conflict));
    move.clear();
    move.put("twice", "1");
    move.put("twice", "2");
    EXPECT_TRUE(store.write(move).is(ErrorCode::invalid_argument));
    move.clear();
    for (int i = 0; i < 10'000; ++i) {
      move.put("key-" + std::to_string(i), "value");
    }
    const Expected<void> written = store.write(move);
    EXPECT_TRUE(written.ok()) << written.error().message;
    move.clear();
    move.put("small", "1");
    move.put("large", std::string(7 << 20, 'x'));
    EXPECT_TRUE(store.write(move).is(ErrorCode::no_space));
    EXPECT_TRUE(store.get("small").is(ErrorCode::not_found));
  }
  Store store = opened();
  EXPECT_EQ(store.get("to").value(), "7");
  EXPECT_EQ(store.get("key-9999").value(), "value");
}

TEST_F(StoreTest, runs_batches) {
  Store store = Store::open_memory().value();
  Batch puts;
  for (int i = 0; i < 100; ++i) {
    puts.put("key-" + std::to_string(i), std::to_string(i * i), Durability::persistent);
  }
  for (const Expected<std::string>& outcome : store.run(puts)) {
    EXPECT_TRUE(outcome.ok());
  }
  Batch gets;
  gets.get("key-7");
  gets.get("nothing");
  gets.del("key-8");
  const std::vector<Expected<std::string>> outcomes = store.run(gets);
  EXPECT_EQ(outcomes[0].value(), "49");
  EXPECT_TRUE(outcomes[1].is(ErrorCode::not_found));
  EXPECT_TRUE(outcomes[2].ok());
  EXPECT_TRUE(store.get("key-8").is(ErrorCode::not_found));
}

TEST_F(StoreTest, pending_operations_overlap) {
  Store store = Store::open_memory().value();
  Pending<void> one = store.put_async("one", "1");
  Pending<void> two = store.put_async("two", "2");
  EXPECT_TRUE(store.wait(std::move(two)).ok());
  EXPECT_TRUE(store.wait(std::move(one)).ok());
  EXPECT_EQ(store.wait(store.get_async("one")).value(), "1");
  EXPECT_TRUE(store.wait(store.del_async("one")).ok());
  EXPECT_TRUE(store.get("one").is(ErrorCode::not_found));
}

Flow<int> count_of(Store& store, std::string key) {
  const Expected<std::string> value = co_await store.get_async(key);
  co_return value ? std::stoi(*value) : 0;
}

Flow<void> add(Store& store, std::string key, int summand) {
  const int before = co_await count_of(store, key);
  const std::string value = std::to_string(before + summand);
  (co_await store.put_async(key, value)).value();
}

Flow<int> failing(Store& store) {
  co_return static_cast<int>((co_await store.get_async("nothing")).value().size());
}

TEST_F(StoreTest, flows_read_like_plain_code) {
  Store store = Store::open_memory().value();
  for (int i = 1; i <= 4; ++i) {
    store.run(add(store, "sum", i));
  }
  EXPECT_EQ(store.run(count_of(store, "sum")), 10);
  EXPECT_THROW((void)store.run(failing(store)), Failure);
}

TEST_F(StoreTest, says_what_its_promises_are_worth) {
  Store memory = Store::open_memory().value();
  EXPECT_FALSE(memory.medium().survives_power_cut);
  EXPECT_EQ(memory.role(), "admin");
  EXPECT_EQ(memory.wire(), "mapped");
  EXPECT_TRUE(memory.failure().ok());
}

TEST_F(StoreTest, waits_for_what_is_under_way_when_it_goes) {
  const std::string value(1000, 'x');
  {
    Store store = opened();
    for (int i = 0; i < 50; ++i) {
      (void)store.put_async("key", value);
    }
  }
  EXPECT_EQ(opened().get("key").value(), value);
}

}  // namespace
}  // namespace remora
