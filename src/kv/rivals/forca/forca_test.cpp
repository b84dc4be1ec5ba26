#include "kv/rivals/forca/client.h"
#include "kv/rivals/forca/engine.h"
#include "kv/rivals/forca/faults.h"
#include "kv/store_testing.h"

namespace remora::kv::forca {
namespace {

class ForcaTest : public StoreFixture {
 protected:
  ForcaTest() : StoreFixture(engine()) {}
};

class ForcaAlwaysTest : public StoreFixture {
 protected:
  ForcaAlwaysTest() : StoreFixture(engine_that_verifies_always()) {}
};

TEST_F(ForcaTest, verifies_a_version_once_and_remembers) {
  EXPECT_TRUE(put("key", "first value").ok());
  EXPECT_TRUE(put("key", "second value").ok());
  EXPECT_EQ(get("key"), "second value");
  EXPECT_EQ(damage("second value"), 1);
  EXPECT_EQ(get("key"), "second valud");  // the last bit of it
  restart();
  EXPECT_EQ(get("key"), "first value") << "what is remembered ends with the server";
}

TEST_F(ForcaTest, does_not_take_a_newer_version_for_the_one_that_it_remembers) {
  EXPECT_TRUE(put("key", "first value").ok());
  EXPECT_EQ(get("key"), "first value");
  EXPECT_TRUE(put("key", "second value").ok());
  EXPECT_EQ(damage("second value"), 1);
  EXPECT_EQ(get("key"), "first value");
}

TEST_F(ForcaAlwaysTest, verifies_a_version_at_every_get) {
  EXPECT_TRUE(put("key", "first value").ok());
  EXPECT_TRUE(put("key", "second value").ok());
  EXPECT_EQ(get("key"), "second value");
  EXPECT_EQ(damage("second value"), 1);
  EXPECT_EQ(get("key"), "first value");
}

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
