#include "kv/rivals/ca/client.h"
#include "kv/rivals/ca/engine.h"
#include "kv/store_testing.h"

namespace remora::kv::ca {
namespace {

class CaTest : public StoreFixture {
 protected:
  CaTest() : StoreFixture(engine()) {}
};

TEST_F(CaTest, reads_by_itself_at_once) {
  EXPECT_TRUE(put("key", "value").ok());
  EXPECT_EQ(get("key"), "value");
  EXPECT_EQ(static_cast<CaClient&>(*client_).asked_gets(), 0u);
}

TEST_F(CaTest, hands_out_what_is_there_torn_or_not) {
  EXPECT_TRUE(put("key", "old").ok());
  EXPECT_TRUE(put("key", "a value that is torn").ok());
  EXPECT_EQ(damage("a value that is torn"), 1);
  EXPECT_EQ(get("key"), "a value that is toro");
  restart();
  EXPECT_EQ(get("key"), "a value that is toro");
}

TEST_F(CaTest, leads_readers_to_a_value_before_it_comes) {
  EXPECT_TRUE(is_torn_while_put("key", std::string(50'000, 'a'), std::string(50'000, 'b')));
}

}  // namespace
}  // namespace remora::kv::ca
