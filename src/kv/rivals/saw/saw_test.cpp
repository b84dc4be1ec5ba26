#include "kv/rivals/saw/client.h"
#include "kv/rivals/saw/engine.h"
#include "kv/rivals/saw/faults.h"
#include "kv/store_testing.h"

namespace remora::kv::saw {
namespace {

class SawTest : public StoreFixture {
 protected:
  SawTest() : StoreFixture(engine()) {}
};

TEST_F(SawTest, reads_by_itself_at_once) {
  EXPECT_TRUE(put("key", "value").ok());
  EXPECT_EQ(get("key"), "value");
  EXPECT_EQ(static_cast<SawClient&>(*client_).asked_gets(), 0u);
}

TEST_F(SawTest, reads_by_itself_what_found_its_window_full) {
  constexpr int keys = 6000;
  start(16 << 20, {.create = true, .expected_keys = keys});
  for (int i = 0; i < keys; ++i) {
    ASSERT_TRUE(put("key-" + std::to_string(i), std::to_string(i)).ok());
  }
  for (int i = 0; i < keys; ++i) {
    ASSERT_EQ(get("key-" + std::to_string(i)), std::to_string(i));
  }
  EXPECT_EQ(static_cast<SawClient&>(*client_).asked_gets(), 0u);
}

TEST_F(SawTest, asks_where_there_is_no_entry) {
  EXPECT_EQ(get("nothing"), "not_found");
  EXPECT_EQ(static_cast<SawClient&>(*client_).asked_gets(), 1u);
}

TEST_F(SawTest, learns_of_a_larger_index_when_it_misses) {
  std::unique_ptr<StoreClient> other = connected();
  for (int i = 0; i < 200; ++i) {
    ASSERT_TRUE(put("key-" + std::to_string(i), "v").ok());
  }
  EXPECT_GT(counter("index_generation"), 1u);
  auto& client = static_cast<SawClient&>(*other);
  EXPECT_EQ(get(client, "key-1"), "v");
  EXPECT_EQ(client.asked_gets(), 1u);
  EXPECT_EQ(get(client, "key-2"), "v");
  EXPECT_EQ(client.asked_gets(), 1u);
}

TEST_F(SawTest, orders_versions_by_their_space_before_and_after_recovery) {
  // Puts of two clients overlap: whatever commits last, the same version counts later.
  for (int round = 0; round < 20; ++round) {
    std::unique_ptr<StoreClient> other = connected();
    const std::string key = "key";
    const std::string large(60'000, 'l');
    const std::string small = std::to_string(round);
    Task<Status> slow = client_->put(bytes_of(key), bytes_of(large), {});
    Task<Status> fast = other->put(bytes_of(key), bytes_of(small), {});
    EXPECT_TRUE(loop_.block_on(std::move(fast)).ok());
    EXPECT_TRUE(loop_.block_on(std::move(slow)).ok());
    const std::string before = get("key");
    other.reset();
    restart();
    ASSERT_EQ(get("key"), before);
  }
}

TEST_F(SawTest, hands_out_torn_values_only_when_the_index_comes_first) {
  EXPECT_FALSE(is_torn_while_put("key", std::string(50'000, 'a'), std::string(50'000, 'b')));
  start(4 << 20, {.create = true}, Faults(faults::index_first));
  EXPECT_TRUE(is_torn_while_put("key", std::string(50'000, 'a'), std::string(50'000, 'b')));
}

}  // namespace
}  // namespace remora::kv::saw
