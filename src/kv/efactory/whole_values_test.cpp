// Values that travel within the request of a put and the answer to a get.
#include <array>
#include <memory>
#include <string>

#include "kv/efactory/client.h"
#include "kv/efactory/engine.h"
#include "kv/store_testing.h"

namespace remora::kv {
namespace {

class WholeValues : public StoreFixture {
 protected:
  WholeValues() : StoreFixture(efactory::engine()) {}
};

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

TEST_F(WholeValues, large_and_persistent_values_are_written_by_the_client_as_ever) {
  client_ = connected({.whole_value_bytes = 100});
  const std::string large(101, 'v');
  EXPECT_TRUE(put("large", large).ok());
  settle();
  EXPECT_EQ(counter("verified_versions"), 1u);
  EXPECT_TRUE(put("kept", "value", {.durability = Durability::persistent}).ok());
  EXPECT_EQ(get("large"), large);
  EXPECT_EQ(get("kept"), "value");
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
  start(1 << 20, {.create = true, .expected_keys = 16});
  client_ = connected({.whole_value_bytes = 4096});
  for (int i = 0; i < 3000; ++i) {
    const Status status = put("key-" + std::to_string(i % 20), std::string(2000, 'v'));
    ASSERT_TRUE(status.ok()) << i << ": " << status.message();
  }
  EXPECT_GT(counter("cleanings"), 2u);
  EXPECT_EQ(counter("verified_versions"), 0u);
}

}  // namespace
}  // namespace remora::kv
