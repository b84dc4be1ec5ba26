// Values that travel within the request of a put and the answer to a get.
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "kv/efactory/client.h"
#include "kv/efactory/engine.h"
#include "kv/efactory/faults.h"
#include "kv/store_testing.h"
#include "pmem/pmem_testing.h"

namespace remora::kv {
namespace {

class WholeValues : public StoreFixture {
 protected:
  WholeValues() : StoreFixture(efactory::engine()) {}
};

constexpr PutOptions persistent = {.durability = Durability::persistent};

// On media that forget at a cut what is not persistent.
class PersistentPuts : public WholeValues, public testing::WithParamInterface<Granularity> {
 protected:
  PersistentPuts() {
    make_region_ = [](std::size_t size) { return std::make_unique<FakeRegion>(size, GetParam()); };
    start_anew();
  }
  void start_anew(const Faults& faults = Faults()) {
    start(4 << 20, {.create = true, .expected_keys = 16}, faults);
    client_ = connected(whole);
  }
  FakeRegion& region() { return static_cast<FakeRegion&>(*region_); }
  bool needs_commits() const { return GetParam() == Granularity::page; }
  void cut_and_restart() {
    client_.reset();
    server_.reset();
    pool_.reset();
    region().cut();
    region().commit_when_asked();
    restart();
  }

  static constexpr ClientOptions whole = {.whole_value_bytes = 100};
};

INSTANTIATE_TEST_SUITE_P(media, PersistentPuts,
                         testing::Values(Granularity::cache_line, Granularity::page),
                         [](const testing::TestParamInfo<Granularity>& param) {
                           return param.param == Granularity::page ? "page" : "cache_line";
                         });

TEST_F(WholeValues, a_whole_put_is_seen_by_all_when_it_ends_and_awaits_nothing) {
  client_ = connected({.whole_value_bytes = 100});
  std::unique_ptr<StoreClient> other = connected_elsewhere();
  EXPECT_TRUE(put("key", "value").ok());
  EXPECT_EQ(counter("awaited_versions"), 0u);
  EXPECT_EQ(get(*other, "key"), "value");
  EXPECT_TRUE(put("key", "").ok());
  EXPECT_EQ(get(*other, "key"), "");
  settle();
  EXPECT_FALSE(server_->busy());
  EXPECT_EQ(counter("verified_versions"), 0u);
  restart();
  EXPECT_EQ(get("key"), "");
}

TEST_F(WholeValues, a_whole_get_returns_what_is_durable_and_leads_to_what_is_large) {
  std::unique_ptr<StoreClient> whole = connected({.whole_value_bytes = 1});
  const std::string small(efactory::whole_value_bytes_max, 's');
  const std::string large = small + 'l';
  EXPECT_EQ(get(*whole, "key"), "not_found");
  EXPECT_TRUE(put("key", small).ok());
  EXPECT_EQ(get(*whole, "key"), small);
  EXPECT_TRUE(put("key", large).ok());
  EXPECT_EQ(get(*whole, "key"), large);
  EXPECT_TRUE(put("key", "").ok());
  EXPECT_EQ(get(*whole, "key"), "");
  auto& client = static_cast<efactory::EfactoryClient&>(*whole);
  EXPECT_EQ(client.pure_gets(), 0u);
  std::array<std::byte, 3> narrow;
  const std::string key = "key";
  EXPECT_TRUE(put("key", "four").ok());
  EXPECT_EQ(loop_.block_on(whole->get(bytes_of(key), narrow)).code(), Code::no_space);
}

TEST_F(WholeValues, large_values_are_written_by_the_client_as_ever) {
  client_ = connected({.whole_value_bytes = 100});
  const std::string large(101, 'v');
  EXPECT_TRUE(put("large", large).ok());
  settle();
  EXPECT_EQ(counter("verified_versions"), 1u);
  EXPECT_TRUE(put("kept", large, persistent).ok());
  EXPECT_EQ(counter("awaited_versions"), 1u);
  EXPECT_EQ(get("large"), large);
  EXPECT_EQ(get("kept"), large);
}

TEST_F(WholeValues, no_value_is_whole_where_messages_are_not_what_costs) {
  ASSERT_FALSE(near_.nic.attributes().costs_by_message);
  EXPECT_TRUE(put("key", "value").ok());
  settle();
  EXPECT_EQ(counter("verified_versions"), 1u);
}

// The longest key and the longest value that go into one request.
TEST_F(WholeValues, the_longest_whole_put_fits_its_request) {
  client_ = connected({.whole_value_bytes = UINT32_MAX});
  const std::string key(limits::key_bytes, 'k');
  const std::string value(efactory::whole_value_bytes_max, 'v');
  EXPECT_TRUE(put(key, value).ok());
  settle();
  EXPECT_EQ(counter("verified_versions"), 0u);
  EXPECT_EQ(get(key), value);
  EXPECT_TRUE(put(key, value + 'v').ok());
  settle();
  EXPECT_EQ(counter("verified_versions"), 1u);
  EXPECT_EQ(get(key), value + 'v');
}

TEST_F(WholeValues, whole_puts_wait_while_the_log_is_cleaned) {
  start(1 << 20, {.create = true, .expected_keys = 16, .cleaning = Cleaning::whole});
  client_ = connected({.whole_value_bytes = 4096});
  for (int i = 0; i < 3000; ++i) {
    const Status status = put("key-" + std::to_string(i % 20), std::string(2000, 'v'));
    ASSERT_TRUE(status.ok()) << i << ": " << status.message();
  }
  EXPECT_GT(counter("cleanings"), 2u);
  EXPECT_EQ(counter("verified_versions"), 0u);
}

TEST_P(PersistentPuts, are_answered_when_they_are_persistent_and_survive_a_cut_at_once) {
  region().commit_when_asked();
  EXPECT_TRUE(put("key", "older", persistent).ok());
  EXPECT_TRUE(put("key", "value", persistent).ok());
  EXPECT_TRUE(put("empty", "", persistent).ok());
  cut_and_restart();
  EXPECT_EQ(get("key"), "value");
  EXPECT_EQ(get("empty"), "");
}

TEST_P(PersistentPuts, hide_versions_that_nobody_waited_for) {
  region().commit_when_asked();
  EXPECT_TRUE(put("key", "standard").ok());
  EXPECT_TRUE(put("key", "kept", persistent).ok());
  EXPECT_TRUE(put("another", "standard").ok());
  cut_and_restart();
  EXPECT_EQ(get("key"), "kept");
}

TEST_P(PersistentPuts, share_one_commit_and_need_no_other) {
  const std::uint64_t before = region().commits();
  const std::array<std::string, 3> keys = {"one", "two", "three"};
  std::vector<Task<Status>> puts;
  for (const std::string& key : keys) {
    puts.push_back(client_->put(bytes_of(key), bytes_of(key), persistent));
  }
  settle();
  for (const Task<Status>& one : puts) {
    EXPECT_EQ(one.finished(), !needs_commits());
  }
  EXPECT_EQ(counter("awaited_versions"), 0u);
  region().commit();
  for (Task<Status>& one : puts) {
    EXPECT_TRUE(loop_.block_on(std::move(one)).ok());
  }
  region().commit_when_asked();
  (void)loop_.run_for(100'000'000);
  EXPECT_EQ(region().commits(), before + 1);
  EXPECT_FALSE(server_->busy());
  EXPECT_EQ(counter("verified_versions"), 0u);
  EXPECT_EQ(server_->durability_latency()->count(), keys.size());
  std::unique_ptr<StoreClient> reader = connected();
  EXPECT_EQ(get(*reader, "two"), "two");
  EXPECT_EQ(static_cast<efactory::EfactoryClient&>(*reader).pure_gets(), 1u);
}

TEST_P(PersistentPuts, are_refused_to_who_may_read_alone) {
  std::unique_ptr<PendingClient> pending =
      engine_->start_client(Host(loop_, near_.nic, nullptr, Faults(), {}, 2), whole).value();
  const PeerAddress server = server_->accept(pending->address(), Rights::read).value();
  client_ = loop_.block_on(pending->connect(server)).value();
  EXPECT_EQ(put("key", "value", persistent).code(), Code::permission_denied);
  EXPECT_EQ(get("key"), "not_found");
}

TEST_P(PersistentPuts, are_lost_where_nothing_is_awaited) {
  start_anew(Faults(efactory::faults::persist_not_awaited));
  EXPECT_TRUE(put("key", "value", persistent).ok());
  cut_and_restart();
  EXPECT_EQ(get("key"), "not_found");
}

TEST_P(PersistentPuts, fail_when_the_medium_has_failed) {
  region().commit_when_asked();
  EXPECT_TRUE(put("key", "value", persistent).ok());
  region().fail();
  EXPECT_EQ(put("key", "value", persistent).ok(), !needs_commits());
}

TEST_P(PersistentPuts, go_on_while_the_log_is_cleaned) {
  for (const Cleaning cleaning : {Cleaning::whole, Cleaning::cheapest}) {
    start(1 << 20, {.create = true, .expected_keys = 16, .cleaning = cleaning});
    region().commit_when_asked();
    client_ = connected({.whole_value_bytes = 4096});
    for (int i = 0; i < 3000; ++i) {
      const std::string value = std::to_string(i) + std::string(2000, 'v');
      const Status status = put("key-" + std::to_string(i % 20), value, persistent);
      ASSERT_TRUE(status.ok()) << i << ": " << status.message();
    }
    EXPECT_GT(counter(cleaning == Cleaning::whole ? "cleanings" : "cleaned_parts"), 2u);
    EXPECT_EQ(counter("verified_versions"), 0u);
    cut_and_restart();
    for (int i = 2980; i < 3000; ++i) {
      EXPECT_EQ(get("key-" + std::to_string(i % 20)), std::to_string(i) + std::string(2000, 'v'));
    }
  }
}

}  // namespace
}  // namespace remora::kv
