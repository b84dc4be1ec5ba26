#include "kv/rivals/erda/client.h"
#include "kv/rivals/erda/engine.h"
#include "kv/rivals/erda/faults.h"
#include "kv/store_testing.h"

namespace remora::kv::erda {
namespace {

class ErdaTest : public StoreFixture {
 protected:
  ErdaTest() : StoreFixture(engine()) {}
  ErdaClient& client() { return static_cast<ErdaClient&>(*client_); }
};

TEST_F(ErdaTest, takes_the_previous_version_when_the_newest_is_torn) {
  EXPECT_TRUE(put("key", "first value").ok());
  EXPECT_TRUE(put("key", "second value").ok());
  EXPECT_EQ(damage("second value"), 1);
  EXPECT_EQ(get("key"), "first value");
  EXPECT_EQ(client().previous_gets(), 1u);
  EXPECT_EQ(client().asked_gets(), 0u);
}

TEST_F(ErdaTest, takes_the_previous_version_while_the_newest_is_on_its_way) {
  EXPECT_FALSE(is_torn_while_put("key", std::string(50'000, 'a'), std::string(50'000, 'b')));
}

TEST_F(ErdaTest, gives_up_when_neither_version_is_whole) {
  EXPECT_TRUE(put("key", "first value").ok());
  EXPECT_TRUE(put("key", "second value").ok());
  EXPECT_TRUE(put("key", "third value").ok());
  EXPECT_EQ(damage("second value"), 1);
  EXPECT_EQ(damage("third value"), 1);
  EXPECT_EQ(get("key"), "timed_out");
  EXPECT_TRUE(put("key", "fourth value").ok());
  EXPECT_EQ(get("key"), "fourth value");
}

TEST_F(ErdaTest, has_no_key_whose_only_version_is_torn) {
  EXPECT_TRUE(put("key", "only value").ok());
  EXPECT_EQ(damage("only value"), 1);
  EXPECT_EQ(get("key"), "not_found");
}

TEST_F(ErdaTest, recovers_by_the_two_offsets_alone) {
  EXPECT_TRUE(put("lost", "lost first").ok());
  EXPECT_TRUE(put("lost", "lost second").ok());
  EXPECT_TRUE(put("lost", "lost third").ok());
  EXPECT_TRUE(put("kept", "kept first").ok());
  EXPECT_TRUE(put("kept", "kept second").ok());
  EXPECT_EQ(damage("lost second") + damage("lost third") + damage("kept second"), 3);
  restart();
  EXPECT_EQ(get("lost"), "not_found");
  EXPECT_EQ(get("kept"), "kept first");
  EXPECT_EQ(client().previous_gets(), 0u);
}

TEST_F(ErdaTest, keeps_the_whole_version_when_a_put_follows_a_torn_one) {
  EXPECT_TRUE(put("key", "first value").ok());
  EXPECT_TRUE(put("key", "second value").ok());
  EXPECT_EQ(damage("second value"), 1);
  restart();
  EXPECT_TRUE(put("key", "third value").ok());
  EXPECT_EQ(damage("third value"), 1);
  EXPECT_EQ(get("key"), "first value");
}

TEST_F(ErdaTest, loses_the_whole_version_when_recovery_keeps_the_torn_one) {
  EXPECT_TRUE(put("key", "first value").ok());
  EXPECT_TRUE(put("key", "second value").ok());
  EXPECT_EQ(damage("second value"), 1);
  start(0, {.create = false}, Faults(faults::recovery_keeps_torn));
  EXPECT_TRUE(put("key", "third value").ok());
  EXPECT_EQ(damage("third value"), 1);
  EXPECT_EQ(get("key"), "timed_out");
}

TEST_F(ErdaTest, reads_again_when_the_sizes_are_wrong) {
  EXPECT_TRUE(put("key", "small").ok());
  EXPECT_TRUE(put("key", std::string(20'000, 'l')).ok());
  EXPECT_EQ(get("key"), std::string(20'000, 'l'));
  EXPECT_TRUE(put("key", "small again").ok());
  EXPECT_EQ(get("key"), "small again");
}

TEST_F(ErdaTest, learns_of_a_larger_table_when_it_misses) {
  std::unique_ptr<StoreClient> other = connected();
  for (int i = 0; i < 200; ++i) {
    ASSERT_TRUE(put("key-" + std::to_string(i), "v").ok());
  }
  EXPECT_GT(counter("index_generation"), 1u);
  EXPECT_EQ(get(*other, "key-1"), "v");
  restart();
  for (int i = 0; i < 200; ++i) {
    ASSERT_EQ(get("key-" + std::to_string(i)), "v");
  }
}

}  // namespace
}  // namespace remora::kv::erda
