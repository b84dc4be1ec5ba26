#include "kv/forca/client.h"
#include "kv/forca/engine.h"
#include "kv/forca/faults.h"
#include "kv/store_testing.h"

namespace remora::kv::forca {
namespace {

class ForcaTest : public StoreFixture {
 protected:
  ForcaTest() : StoreFixture(engine()) {}
};

TEST_F(ForcaTest, asks_for_every_get) {
  EXPECT_TRUE(put("key", "value").ok());
  for (std::uint64_t gets = 1; gets < 4; ++gets) {
    EXPECT_EQ(get("key"), "value");
    EXPECT_EQ(static_cast<ForcaClient&>(*client_).asked_gets(), gets);
  }
}

TEST_F(ForcaTest, falls_back_until_a_version_is_whole) {
  EXPECT_TRUE(put("key", "first value").ok());
  EXPECT_TRUE(put("key", "second value").ok());
  EXPECT_TRUE(put("key", "third value").ok());
  EXPECT_EQ(damage("third value"), 1);
  EXPECT_EQ(get("key"), "second value");
  EXPECT_EQ(damage("second value"), 1);
  EXPECT_EQ(get("key"), "first value");
  restart();
  EXPECT_EQ(get("key"), "first value");
  EXPECT_TRUE(put("key", "fourth value").ok());
  EXPECT_EQ(damage("fourth value"), 1);
  EXPECT_EQ(get("key"), "first value");
}

TEST_F(ForcaTest, does_not_fall_back_behind_a_del) {
  EXPECT_TRUE(put("key", "first value").ok());
  EXPECT_TRUE(del("key").ok());
  EXPECT_TRUE(put("key", "second value").ok());
  EXPECT_EQ(damage("second value"), 1);
  EXPECT_EQ(get("key"), "not_found");
  restart();
  EXPECT_EQ(get("key"), "not_found");
}

TEST_F(ForcaTest, hands_out_torn_values_only_when_it_skips_the_checksum) {
  EXPECT_FALSE(is_torn_while_put("key", std::string(50'000, 'a'), std::string(50'000, 'b')));
  start(4 << 20, {.create = true}, Faults(faults::get_skips_checksum));
  EXPECT_TRUE(is_torn_while_put("key", std::string(50'000, 'a'), std::string(50'000, 'b')));
}

TEST_F(ForcaTest, forgets_the_past_when_records_are_not_linked) {
  start(4 << 20, {.create = true}, Faults(faults::forgets_previous));
  EXPECT_TRUE(put("key", "first value").ok());
  EXPECT_TRUE(put("key", "second value").ok());
  EXPECT_EQ(damage("second value"), 1);
  EXPECT_EQ(get("key"), "not_found");
}

TEST_F(ForcaTest, has_more_records_than_one_chunk_holds) {
  for (int i = 0; i < 2500; ++i) {
    ASSERT_TRUE(put("key-" + std::to_string(i % 5), std::to_string(i)).ok());
  }
  restart();
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(get("key-" + std::to_string(i)), std::to_string(2495 + i));
  }
}

}  // namespace
}  // namespace remora::kv::forca
