#include "kv/rivals/rpc/client.h"
#include "kv/rivals/rpc/engine.h"
#include "kv/store_testing.h"

namespace remora::kv::rpc_store {
namespace {

class RpcStoreTest : public StoreFixture {
 protected:
  RpcStoreTest() : StoreFixture(engine()) {}
};

TEST_F(RpcStoreTest, carries_values_in_messages_and_larger_ones_by_the_staging_area) {
  for (const std::size_t size : {inline_bytes - 1, inline_bytes, inline_bytes + 1, 8 * inline_bytes,
                                 2 * inline_bytes, inline_bytes}) {
    const std::string value(size, static_cast<char>('a' + size % 26));
    EXPECT_TRUE(put(std::string(1024, 'k'), value).ok()) << size;
    EXPECT_EQ(get(std::string(1024, 'k')), value) << size;
  }
}

TEST_F(RpcStoreTest, stages_one_value_at_a_time) {
  std::vector<std::string> keys;
  std::vector<std::string> values;
  for (std::size_t i = 0; i < 20; ++i) {
    keys.push_back("key-" + std::to_string(i));
    values.push_back(std::string(5000 + i * 1000, static_cast<char>('a' + i)));
  }
  std::vector<Task<Status>> puts;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    puts.push_back(client_->put(bytes_of(keys[i]), bytes_of(values[i]), {}));
  }
  for (Task<Status>& put : puts) {
    EXPECT_TRUE(loop_.block_on(std::move(put)).ok());
  }
  for (std::size_t i = 0; i < keys.size(); ++i) {
    EXPECT_EQ(get(keys[i]), values[i]);
  }
}

}  // namespace
}  // namespace remora::kv::rpc_store
