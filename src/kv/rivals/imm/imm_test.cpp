#include "kv/rivals/imm/client.h"
#include "kv/rivals/imm/engine.h"
#include "kv/rivals/imm/faults.h"
#include "kv/store_testing.h"

namespace remora::kv::imm {
namespace {

class ImmTest : public StoreFixture {
 protected:
  ImmTest() : StoreFixture(engine()) {}
};

TEST_F(ImmTest, reads_by_itself_at_once) {
  EXPECT_TRUE(put("key", "value").ok());
  EXPECT_EQ(get("key"), "value");
  EXPECT_EQ(static_cast<ImmClient&>(*client_).asked_gets(), 0u);
}

TEST_F(ImmTest, shows_nothing_of_a_value_that_it_was_not_told_of) {
  EXPECT_TRUE(put("key", "value").ok());
  client_ = connected({}, Faults(faults::write_without_imm));
  EXPECT_TRUE(put("key", "unheard").ok());
  EXPECT_TRUE(put("other", "unheard").ok());
  EXPECT_EQ(get("key"), "value");
  EXPECT_EQ(get("other"), "not_found");
  restart();
  EXPECT_EQ(get("key"), "value");
  EXPECT_EQ(get("other"), "not_found");
}

TEST_F(ImmTest, hands_out_torn_values_only_when_the_index_comes_first) {
  EXPECT_FALSE(is_torn_while_put("key", std::string(50'000, 'a'), std::string(50'000, 'b')));
  start(4 << 20, {.create = true}, Faults(faults::index_first));
  EXPECT_TRUE(is_torn_while_put("key", std::string(50'000, 'a'), std::string(50'000, 'b')));
}

TEST_F(ImmTest, knows_which_of_many_grants_was_written) {
  std::vector<std::string> keys;
  for (int i = 0; i < 100; ++i) {
    keys.push_back("key-" + std::to_string(i));
  }
  std::vector<Task<Status>> puts;
  for (const std::string& key : keys) {
    puts.push_back(client_->put(bytes_of(key), bytes_of(key), {}));
  }
  for (Task<Status>& put : puts) {
    EXPECT_TRUE(loop_.block_on(std::move(put)).ok());
  }
  for (const std::string& key : keys) {
    EXPECT_EQ(get(key), key);
  }
}

}  // namespace
}  // namespace remora::kv::imm
