#include "kv/rivals/efactory_published/client.h"
#include "kv/rivals/efactory_published/engine.h"
#include "kv/rivals/efactory_published/faults.h"
#include "kv/store_testing.h"

namespace remora::kv::efactory_published {
namespace {

class PublishedTest : public StoreFixture {
 protected:
  PublishedTest() : StoreFixture(engine()) {}
  PublishedClient& client() { return static_cast<PublishedClient&>(*client_); }
  // Cleans all the time, so that no put has to bring it about.
  void start_cleaning(const Faults& faults = Faults()) {
    start(4 << 20, {.create = true, .expected_keys = 16, .clean_always = true}, faults);
  }
  void start_with(const Fault& fault) {
    start(4 << 20, {.create = true, .expected_keys = 16}, Faults(fault));
  }
  void clean_twice() {
    const std::uint64_t cleanings = counter("cleanings");
    for (int i = 0; i < 10'000 && counter("cleanings") < cleanings + 2; ++i) {
      (void)loop_.run_for(1'000);
    }
    EXPECT_GE(counter("cleanings"), cleanings + 2);
  }
};

class PublishedAskingTest : public StoreFixture {
 protected:
  PublishedAskingTest() : StoreFixture(engine_without_hybrid_reads()) {}
};

TEST_F(PublishedTest, reads_by_itself_what_the_background_has_flagged) {
  EXPECT_TRUE(put("key", "value").ok());
  settle();
  EXPECT_EQ(counter("awaited_versions"), 0u);
  EXPECT_EQ(counter("verified_versions"), 1u);
  EXPECT_EQ(get("key"), "value");
  EXPECT_EQ(client().pure_gets(), 1u);
  EXPECT_EQ(client().asked_gets(), 0u);
}

TEST_F(PublishedAskingTest, asks_for_every_get_without_hybrid_reads) {
  EXPECT_TRUE(put("key", "value").ok());
  settle();
  EXPECT_EQ(get("key"), "value");
  EXPECT_EQ(static_cast<PublishedClient&>(*client_).pure_gets(), 0u);
}

TEST_F(PublishedTest, falls_back_along_the_list_until_a_version_is_whole) {
  EXPECT_TRUE(put("key", "first value").ok());
  settle();
  EXPECT_TRUE(put("key", "second value").ok());
  EXPECT_TRUE(put("key", "third value").ok());
  EXPECT_EQ(damage("second value") + damage("third value"), 2);
  restart();
  EXPECT_EQ(get("key"), "first value");
  EXPECT_TRUE(put("key", "fourth value").ok());
  EXPECT_EQ(get("key"), "fourth value");
}

TEST_F(PublishedTest, loses_the_past_where_versions_are_not_linked) {
  start_with(faults::forgets_previous);
  EXPECT_TRUE(put("key", "first value").ok());
  settle();
  EXPECT_TRUE(put("key", "second value").ok());
  EXPECT_EQ(damage("second value"), 1);
  restart();
  EXPECT_EQ(get("key"), "not_found");
}

TEST_F(PublishedTest, takes_a_torn_version_only_where_recovery_looks_at_no_checksum) {
  EXPECT_TRUE(put("key", "first value").ok());
  EXPECT_TRUE(put("key", "second value").ok());
  EXPECT_EQ(damage("second value"), 1);
  start(0, {.create = false}, Faults(faults::recovery_takes_newest));
  EXPECT_EQ(get("key"), "second valud");
}

// The cleaner waits for a value that does not come.
TEST_F(PublishedTest, asks_for_all_it_gets_while_the_log_is_cleaned) {
  start(4 << 20,
        {.create = true, .expected_keys = 16, .put_timeout_ns = 1'000'000, .clean_always = true});
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(put("key-" + std::to_string(i), std::to_string(i)).ok());
  }
  std::unique_ptr<StoreClient> other = connected_elsewhere();
  const std::string late = "late";
  Task<Status> stuck = other->put(bytes_of(late), bytes_of(late), {});
  while (counter("awaited_versions") == 0) {
    (void)loop_.run_for(100);
  }
  network_.partition(elsewhere_.wire.id(), far_.wire.id());
  (void)loop_.run_for(50'000);
  const std::uint64_t asked = client().asked_gets();
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(get("key-" + std::to_string(i)), std::to_string(i));
  }
  EXPECT_EQ(client().asked_gets(), asked + 10);
  EXPECT_TRUE(put("key-1", "newer").ok());
  EXPECT_EQ(get("key-2"), "2");
  EXPECT_FALSE(loop_.block_on(std::move(stuck)).ok());
  (void)loop_.run_for(2'000'000);
  EXPECT_EQ(counter("invalidated_versions"), 1u);
  EXPECT_GT(counter("moved_versions"), 10u);
  EXPECT_EQ(get("key-1"), "newer");
  EXPECT_EQ(get("late"), "not_found");
}

TEST_F(PublishedTest, reads_by_itself_again_when_the_cleaning_has_ended) {
  start(1 << 20, {.create = true, .expected_keys = 16});
  const std::string value(4'000, 'v');
  for (int i = 0; i < 1'000; ++i) {
    ASSERT_TRUE(put("key-" + std::to_string(i % 10), value + std::to_string(i)).ok()) << i;
  }
  settle();
  EXPECT_GT(counter("cleanings"), 2u);
  const std::uint64_t pure = client().pure_gets();
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(get("key-" + std::to_string(i)), value + std::to_string(990 + i));
  }
  EXPECT_EQ(client().pure_gets(), pure + 10);
  restart();
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(get("key-" + std::to_string(i)), value + std::to_string(990 + i));
  }
}

TEST_F(PublishedTest, cleans_deleted_keys_away) {
  start(1 << 20, {.create = true, .expected_keys = 16});
  const std::string value(4'000, 'v');
  for (int round = 0; round < 20; ++round) {
    for (int i = 0; i < 40; ++i) {
      const Status status = put("key-" + std::to_string(i), value);
      ASSERT_TRUE(status.ok()) << round << " " << i << " " << status.message();
    }
    for (int i = 0; i < 40; ++i) {
      ASSERT_TRUE(del("key-" + std::to_string(i)).ok());
    }
  }
  EXPECT_EQ(get("key-1"), "not_found");
  EXPECT_EQ(counter("keys"), 0u);
}

// PrePTR of a version that was put while its predecessor moved leads to the copy.
TEST_F(PublishedTest, keeps_the_list_of_a_key_that_is_put_while_the_log_is_cleaned) {
  start_cleaning();
  for (int i = 0; i < 300; ++i) {
    ASSERT_TRUE(put("key-" + std::to_string(i % 3), "value " + std::to_string(i)).ok());
    EXPECT_NE(get("key-" + std::to_string(i % 3)), "not_found") << i;
  }
  clean_twice();
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(get("key-" + std::to_string(i)), "value " + std::to_string(297 + i));
  }
}

}  // namespace
}  // namespace remora::kv::efactory_published
