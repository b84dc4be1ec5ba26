// Memory that goes bad while a store serves: who notices, and what is said of it from then on.
#include <gtest/gtest.h>

#include <cstddef>

#include "kv/efactory/engine.h"
#include "kv/local_store.h"
#include "kv/log/object_format.h"
#include "kv/store_testing.h"

namespace remora::kv::efactory {
namespace {

class ScrubTest : public StoreFixture {
 protected:
  ScrubTest() : StoreFixture(engine()) {
    EXPECT_TRUE(put("key", "a value that goes bad").ok());
    EXPECT_TRUE(put("other", "a value that stays").ok());
    EXPECT_TRUE(put("large", large_).ok());
    settle();
  }
  std::string get_with(VerifyReads policy, const std::string& key) {
    const std::unique_ptr<StoreClient> client =
        connected({.whole_gets = false, .verify_reads = policy});
    return get(*client, key);
  }
  void scrub() {
    const std::uint64_t before = counter("scrub_passes");
    ASSERT_TRUE(server_->scrub().ok());
    for (int i = 0; i < 1000 && counter("scrub_passes") == before; ++i) {
      settle();
    }
    ASSERT_EQ(counter("scrub_passes"), before + 1);
  }

  const std::string large_ = std::string(20'000, 'x') + " large and bad";
};

TEST_F(ScrubTest, finds_what_went_bad_and_calls_it_damaged) {
  scrub();
  EXPECT_EQ(counter("scrub_last_damaged"), 0u);
  EXPECT_EQ(counter("scrub_last_keys"), 3u);
  ASSERT_EQ(damage("a value that goes bad"), 1);
  scrub();
  EXPECT_EQ(counter("scrub_last_damaged"), 1u);
  EXPECT_EQ(get_with(VerifyReads::never, "key"), "damaged");
  EXPECT_EQ(get_with(VerifyReads::never, "other"), "a value that stays");
  EXPECT_TRUE(put("key", "new").ok());
  settle();
  scrub();
  EXPECT_EQ(counter("scrub_last_damaged"), 0u);
  EXPECT_EQ(get_with(VerifyReads::never, "key"), "new");
}

TEST_F(ScrubTest, is_not_needed_for_reads_that_are_verified) {
  ASSERT_EQ(damage("a value that goes bad"), 1);
  EXPECT_EQ(get_with(VerifyReads::never, "key"), "a value that goes bae");
  EXPECT_EQ(get_with(VerifyReads::automatic, "key"), "damaged");
  // From then on the server knows, whoever asks.
  EXPECT_EQ(get_with(VerifyReads::never, "key"), "damaged");
  ASSERT_EQ(damage("large and bad"), 1);
  EXPECT_EQ(get_with(VerifyReads::always, "large"), "damaged");
  EXPECT_EQ(get_with(VerifyReads::always, "other"), "a value that stays");
}

TEST_F(ScrubTest, passes_by_itself_in_the_time_that_it_has) {
  start(4 << 20, {.create = true, .expected_keys = 16, .scrub_ns = 1'000'000'000});
  EXPECT_TRUE(put("key", "a value").ok());
  (void)loop_.run_for(3'000'000'000);
  EXPECT_GE(counter("scrub_passes"), 1u);
  start(4 << 20, {.create = true, .expected_keys = 16, .scrub_ns = 0});
  EXPECT_TRUE(put("key", "a value").ok());
  (void)loop_.run_for(3'000'000'000);
  EXPECT_EQ(counter("scrub_passes"), 0u);
}

TEST_F(ScrubTest, verifies_what_the_process_itself_reads_if_it_is_told_to) {
  start(4 << 20, {.create = true, .expected_keys = 16, .verify_reads = VerifyReads::always});
  EXPECT_TRUE(put("key", "a value that goes bad").ok());
  settle();
  EXPECT_FALSE(server_->local()->get(bytes_of("key"))->damaged);
  ASSERT_EQ(damage("a value that goes bad"), 1);
  EXPECT_TRUE(server_->local()->get(bytes_of("key"))->damaged);
}

// Two versions of one key; the newer one is damaged, and all else stays as it is.
class HeaderDamageTest : public ScrubTest {
 protected:
  HeaderDamageTest() {
    EXPECT_TRUE(put(name_, "the value before").ok());
    EXPECT_TRUE(put(name_, "the value after").ok());
    settle();
  }
  // A byte of the newest version's header, or of what follows it.
  void spoil(std::size_t from_header) {
    const std::size_t key = as_text(region_->bytes()).rfind(name_);
    ASSERT_NE(key, std::string_view::npos);
    region_->data()[key - sizeof(object_format::Header) + from_header] ^= std::byte{1};
  }
  void spoil_key() { spoil(sizeof(object_format::Header)); }
  void expect_damaged() {
    EXPECT_EQ(get_with(VerifyReads::never, name_), "damaged");
    const std::optional<LocalStore::Found> found = server_->local()->get(bytes_of(name_));
    EXPECT_TRUE(found && found->damaged && found->value.empty());
    EXPECT_EQ(get_with(VerifyReads::never, "other"), "a value that stays");
    EXPECT_EQ(get_with(VerifyReads::never, "absent"), "not_found");
    EXPECT_EQ(counter("damaged_keys"), 1u);
    EXPECT_EQ(counter("damaged_headers"), 1u);
  }

  const std::string name_ = "the name of a key";
};

TEST_F(HeaderDamageTest, a_key_that_went_bad_answers_so_and_no_older_version_comes_back) {
  spoil_key();
  scrub();
  EXPECT_EQ(counter("scrub_last_damaged"), 1u);
  expect_damaged();
}

TEST_F(HeaderDamageTest, a_length_that_went_bad_too) {
  spoil(offsetof(object_format::Header, value_bytes));
  scrub();
  expect_damaged();
}

TEST_F(HeaderDamageTest, a_get_notices_a_key_that_went_bad_before_any_scrub) {
  spoil_key();
  expect_damaged();
}

TEST_F(HeaderDamageTest, a_put_or_a_del_makes_the_key_good_again) {
  spoil_key();
  scrub();
  EXPECT_TRUE(put(name_, "new").ok());
  EXPECT_EQ(get_with(VerifyReads::never, name_), "new");
  EXPECT_EQ(counter("damaged_keys"), 0u);
  EXPECT_EQ(counter("damaged_headers"), 1u) << "it is in the log still";
  spoil_key();
  EXPECT_EQ(get_with(VerifyReads::never, name_), "damaged");
  EXPECT_TRUE(del(name_).ok());
  EXPECT_EQ(get_with(VerifyReads::never, name_), "not_found");
  EXPECT_FALSE(server_->local()->get(bytes_of(name_)).has_value());
}

TEST_F(HeaderDamageTest, cleaning_leaves_it_damaged_and_loses_nothing_behind_it) {
  start(4 << 20, {.create = true, .expected_keys = 16, .clean_always = true});
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(put("key-" + std::to_string(i), "value of " + std::to_string(i)).ok());
    if (i == 50) {
      ASSERT_TRUE(put(name_, "a value").ok());
    }
  }
  settle();
  ASSERT_GE(damage(name_), 1);
  (void)loop_.run_for(100'000'000);
  EXPECT_GE(counter("cleanings"), 1u);
  EXPECT_EQ(get_with(VerifyReads::never, name_), "damaged");
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(get("key-" + std::to_string(i)), "value of " + std::to_string(i));
  }
}

}  // namespace
}  // namespace remora::kv::efactory
