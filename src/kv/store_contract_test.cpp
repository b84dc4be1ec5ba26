// The store contract (store.h), sentence by sentence, for every engine: with clients that reach a
// guarded region of the pool, and with clients that are given segments, as on RDMA devices.
#include <algorithm>
#include <map>
#include <vector>

#include "kv/store_testing.h"

namespace remora::kv {
namespace {

using EngineAndKeys = std::tuple<const Engine*, bool>;

class StoreContract : public StoreFixture, public testing::WithParamInterface<EngineAndKeys> {
 protected:
  StoreContract() : StoreFixture(*std::get<0>(GetParam()), std::get<1>(GetParam())) {}
};

std::string name_of(const testing::TestParamInfo<EngineAndKeys>& info) {
  std::string name(std::get<0>(info.param)->name());
  std::ranges::replace(name, '-', '_');
  return name + (std::get<1>(info.param) ? "_by_segment" : "");
}

INSTANTIATE_TEST_SUITE_P(engines, StoreContract,
                         testing::Combine(testing::ValuesIn(engines()), testing::Bool()), name_of);

TEST_P(StoreContract, gives_back_what_was_put) {
  EXPECT_TRUE(put("key", "value").ok());
  EXPECT_EQ(get("key"), "value");
  EXPECT_TRUE(put("key", "another").ok());
  EXPECT_EQ(get("key"), "another");
  EXPECT_EQ(get("nothing"), "not_found");
}

TEST_P(StoreContract, takes_keys_and_values_of_every_size) {
  for (const std::size_t key_bytes : {1u, 7u, 8u, 64u, 1024u}) {
    const std::string key(key_bytes, 'k');
    for (const std::size_t value_bytes : {0u, 1u, 63u, 4096u, 4097u, 70'000u}) {
      const std::string value(value_bytes, 'v');
      ASSERT_TRUE(put(key, value).ok()) << key_bytes << " " << value_bytes;
      ASSERT_EQ(get(key), value) << key_bytes << " " << value_bytes;
    }
  }
}

TEST_P(StoreContract, takes_a_value_of_16_mb) {
  start(80 << 20, {.create = true});
  std::unique_ptr<StoreClient> client = connected({.buffer_bytes = 32 << 20});
  std::string value(limits::value_bytes, 'x');
  value.back() = 'y';
  const std::string key = "large";
  const Status status = loop_.block_on(client->put(bytes_of(key), bytes_of(value)));
  ASSERT_TRUE(status.ok()) << status.message();
  std::string got(value.size(), '\0');
  const Result<std::size_t> size =
      loop_.block_on(client->get(bytes_of(key), std::as_writable_bytes(std::span(got))));
  ASSERT_TRUE(size.ok()) << size.status().message();
  EXPECT_EQ(*size, value.size());
  EXPECT_TRUE(got == value);
}

TEST_P(StoreContract, refuses_impossible_sizes) {
  EXPECT_EQ(put("", "value").code(), Code::invalid_argument);
  EXPECT_EQ(put(std::string(1025, 'k'), "value").code(), Code::invalid_argument);
  EXPECT_EQ(put("key", std::string(limits::value_bytes + 1, 'v')).code(), Code::invalid_argument);
  EXPECT_EQ(get(""), "invalid_argument");
  EXPECT_EQ(del("").code(), Code::invalid_argument);
}

TEST_P(StoreContract, names_the_size_when_the_buffer_is_too_small) {
  EXPECT_TRUE(put("key", "value").ok());
  std::string small(3, '\0');
  const std::string key = "key";
  const Result<std::size_t> size =
      loop_.block_on(client_->get(bytes_of(key), std::as_writable_bytes(std::span(small))));
  EXPECT_EQ(size.status().code(), Code::no_space);
  EXPECT_NE(size.status().message().find('5'), std::string_view::npos) << size.status().message();
}

TEST_P(StoreContract, deletes) {
  EXPECT_TRUE(put("key", "value").ok());
  EXPECT_TRUE(del("key").ok());
  EXPECT_EQ(get("key"), "not_found");
  EXPECT_TRUE(del("key").ok());
  EXPECT_TRUE(del("never").ok());
  EXPECT_TRUE(put("key", "again").ok());
  EXPECT_EQ(get("key"), "again");
}

TEST_P(StoreContract, scans_all_keys_while_the_index_grows) {
  std::set<std::string> keys;
  std::unique_ptr<StoreClient> other = connected();
  for (int i = 0; i < 500; ++i) {
    const std::string key = "key-" + std::to_string(i);
    keys.insert(key);
    ASSERT_TRUE(put(key, key).ok());
  }
  EXPECT_TRUE(del("key-3").ok());
  settle();
  keys.erase("key-3");
  EXPECT_EQ(scan(), keys);
  for (const std::string& key : keys) {
    EXPECT_EQ(get(key), key);
    EXPECT_EQ(get(*other, key), key);
  }
}

TEST_P(StoreContract, scans_keys_of_every_length) {
  std::set<std::string> keys;
  for (std::size_t i = 0; i < 60; ++i) {
    const std::string key = std::string(1 + i * 17, 'k') + std::to_string(i);
    keys.insert(key);
    ASSERT_TRUE(put(key, "v").ok());
  }
  settle();
  EXPECT_EQ(scan(), keys);
}

TEST_P(StoreContract, comes_back_with_what_was_put) {
  for (int i = 0; i < 300; ++i) {
    ASSERT_TRUE(put("key-" + std::to_string(i % 100), std::to_string(i)).ok());
  }
  EXPECT_TRUE(del("key-7").ok());
  restart();
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(get("key-" + std::to_string(i)), i == 7 ? "not_found" : std::to_string(200 + i));
  }
  EXPECT_TRUE(put("key-7", "back").ok());
  EXPECT_TRUE(put("key-8", "newer").ok());
  EXPECT_TRUE(del("key-9").ok());
  restart();
  EXPECT_EQ(get("key-7"), "back");
  EXPECT_EQ(get("key-8"), "newer");
  EXPECT_EQ(get("key-9"), "not_found");
  EXPECT_EQ(get("key-10"), "210");
}

// Engines that differ in what they do with it open the same store.
std::string_view format_of(std::string_view engine) {
  for (const std::string_view variant : {"-no-hr", "-verify-always"}) {
    engine = engine.ends_with(variant) ? engine.substr(0, engine.size() - variant.size()) : engine;
  }
  return engine;
}

TEST_P(StoreContract, is_opened_only_by_the_engine_that_made_it) {
  EXPECT_TRUE(put("key", "value").ok());
  client_.reset();
  server_.reset();
  for (const Engine* engine : engines()) {
    const bool is_own = format_of(engine->name()) == format_of(engine_->name());
    const Result<std::unique_ptr<StoreServer>> server =
        engine->start_server(Host(loop_, far_.nic, region_.get()), *pool_, {.create = false});
    EXPECT_EQ(server.ok(), is_own) << engine->name();
  }
}

TEST_P(StoreContract, takes_a_put_that_is_to_be_persistent) {
  EXPECT_TRUE(put("key", "value", {.durability = Durability::persistent}).ok());
  EXPECT_TRUE(put("empty", "", {.durability = Durability::persistent}).ok());
  EXPECT_EQ(get("key"), "value");
  EXPECT_EQ(get("empty"), "");
  restart();
  EXPECT_EQ(get("key"), "value");
  EXPECT_EQ(get("empty"), "");
}

TEST_P(StoreContract, says_that_it_is_full_and_keeps_what_it_has) {
  start(1 << 20, {.create = true, .expected_keys = 16});
  const std::string value(4000, 'v');
  int count = 0;
  Status status;
  while ((status = put("key-" + std::to_string(count), value)).ok()) {
    ASSERT_LT(++count, 1000);
  }
  EXPECT_EQ(status.code(), Code::no_space) << status.message();
  EXPECT_GT(count, 50);
  for (int i = 0; i < count; ++i) {
    ASSERT_EQ(get("key-" + std::to_string(i)), value) << i;
  }
  EXPECT_TRUE(del("key-0").ok());
  restart();
  EXPECT_EQ(get("key-0"), "not_found");
  for (int i = 1; i < count; ++i) {
    ASSERT_EQ(get("key-" + std::to_string(i)), value) << i;
  }
}

TEST_P(StoreContract, lets_operations_of_many_clients_overlap) {
  std::vector<std::unique_ptr<StoreClient>> clients;
  for (int i = 0; i < 4; ++i) {
    clients.push_back(connected());
  }
  std::vector<std::string> keys;
  std::vector<std::string> values;
  for (int i = 0; i < 400; ++i) {
    keys.push_back(i % 2 == 0 ? "shared" : "key-" + std::to_string(i));
    values.push_back(std::string(static_cast<std::size_t>(i % 7) * 900, 'x') + std::to_string(i));
  }
  std::vector<Task<Status>> puts;
  for (std::size_t i = 0; i < values.size(); ++i) {
    puts.push_back(clients[i % 4]->put(bytes_of(keys[i]), bytes_of(values[i])));
  }
  for (Task<Status>& put : puts) {
    ASSERT_EQ(loop_.run_until(put), RunState::finished);
    const Status status = put.take();
    EXPECT_TRUE(status.ok()) << status.message();
  }
  const std::string shared = get(*clients[0], "shared");
  EXPECT_NE(std::ranges::find(values, shared), values.end());
  for (const std::unique_ptr<StoreClient>& client : clients) {
    EXPECT_EQ(get(*client, "shared"), shared);
  }
  for (std::size_t i = 1; i < keys.size(); i += 2) {
    EXPECT_EQ(get(keys[i]), values[i]);
  }
  settle();
  restart();
  EXPECT_EQ(get("shared"), shared);
}

TEST_P(StoreContract, goes_on_without_a_client_that_has_gone) {
  std::unique_ptr<StoreClient> other = connected();
  EXPECT_EQ(server_->clients(), 2u);
  const std::string key = "key";
  const std::string value = "value";
  EXPECT_TRUE(loop_.block_on(other->put(bytes_of(key), bytes_of(value))).ok());
  other.reset();
  settle();
  EXPECT_EQ(get("key"), "value");
  EXPECT_TRUE(put("key", "mine").ok());
  EXPECT_EQ(get("key"), "mine");
}

TEST_P(StoreContract, declares_itself) {
  EXPECT_FALSE(engine_->about().empty());
  EXPECT_EQ(find_engine(engine_->name()).value(), engine_);
  std::set<std::string_view> names;
  for (const Fault* fault : engine_->faults()) {
    EXPECT_TRUE(names.insert(fault->name).second) << fault->name;
    EXPECT_FALSE(fault->what.empty());
  }
  EXPECT_GE(names.size(), 5u);
  EXPECT_EQ(engine_->descriptor().kind, SystemKind::store);
  EXPECT_FALSE(engine_->descriptor().paper.empty());
  EXPECT_FALSE(engine_->descriptor().sources.empty());
}

TEST_P(StoreContract, describes_what_it_counts) {
  for (const StoreServer::Counter& counter : server_->counters()) {
    const std::span texts = engine_->descriptor().counters;
    EXPECT_NE(std::ranges::find(texts, counter.name, &CounterText::counter), texts.end())
        << counter.name;
  }
}

}  // namespace
}  // namespace remora::kv
