// Cleaning where there is no room for copies of all that lives.
#include <map>
#include <string>

#include "kv/efactory/engine.h"
#include "kv/store_testing.h"
#include "pmem/pmem_testing.h"

namespace remora::kv {
namespace {

class CleaningPart : public StoreFixture {
 protected:
  CleaningPart() : StoreFixture(efactory::engine()) {}

  void expect_all(const std::map<std::string, std::string>& model) {
    for (const auto& [key, value] : model) {
      EXPECT_EQ(get(key), value) << key;
    }
  }
};

TEST_F(CleaningPart, a_store_of_which_nearly_half_lives_takes_updates_for_ever) {
  start(1 << 20, {.create = true, .expected_keys = 16});
  std::map<std::string, std::string> model;
  int keys = 0;
  for (; keys < 1000; ++keys) {
    const std::string key = "key-" + std::to_string(keys);
    if (put(key, std::string(1000, 'v')).code() == Code::no_space) {
      break;
    }
    model[key] = std::string(1000, 'v');
  }
  ASSERT_LT(keys, 1000) << "the store was never full";
  // An update needs room for the new version beside the old one.
  constexpr int spare_keys = 8;
  ASSERT_GT(keys, 100 + spare_keys);
  for (int i = 0; i < spare_keys; ++i) {
    const std::string key = "key-" + std::to_string(--keys);
    ASSERT_TRUE(del(key).ok());
    model[key] = "not_found";
  }
  for (int i = 0; i < 6000; ++i) {
    const std::string key = "key-" + std::to_string(i * 7 % keys);
    const std::string value(static_cast<std::size_t>(900 + i % 100),
                            static_cast<char>('a' + i % 26));
    const Status status = put(key, value);
    ASSERT_TRUE(status.ok()) << i << ": " << status.message();
    model[key] = value;
  }
  EXPECT_GT(counter("cleaned_parts"), 5u);
  settle();
  expect_all(model);
  start(0, {.create = false});
  expect_all(model);
}

// Deletions take as much room as these values did, and need none when the log is cleaned.
TEST_F(CleaningPart, a_full_store_of_which_everything_was_deleted_takes_puts_again) {
  start(1 << 20, {.create = true, .expected_keys = 16});
  for (int life = 0; life < 3; ++life) {
    int keys = 0;
    while (put("key-" + std::to_string(keys), "value").ok()) {
      ASSERT_LT(++keys, 100'000) << "the store was never full";
    }
    ASSERT_GT(keys, 1000);
    for (int i = 0; i < keys; ++i) {
      const Status status = del("key-" + std::to_string(i));
      ASSERT_TRUE(status.ok()) << i << ": " << status.message();
    }
    EXPECT_EQ(counter("keys"), 0u);
  }
}

// Each life ends where it is, often in the middle of a cleaning, and leaves what that has copied.
TEST_F(CleaningPart, a_full_store_that_is_killed_again_and_again_takes_puts_and_deletions) {
  start(1 << 20, {.create = true, .expected_keys = 16});
  std::map<std::string, std::string> model;
  int keys = 0;
  for (; put("key-" + std::to_string(keys), std::string(1000, 'v')).ok(); ++keys) {
    model["key-" + std::to_string(keys)] = std::string(1000, 'v');
  }
  for (const int most = keys - keys / 20; keys > most;) {
    const std::string key = "key-" + std::to_string(--keys);
    ASSERT_TRUE(del(key).ok());
    model[key] = "not_found";
  }
  for (int i = 0; i < 300; ++i) {
    for (int step = 0; step < 20 + i % 30; ++step) {
      const std::string key = "key-" + std::to_string((i * 41 + step * 7) % keys);
      if (step % 4 == 3) {
        const Status status = del(key);
        ASSERT_TRUE(status.ok()) << i << ": " << status.message();
        model[key] = "not_found";
        continue;
      }
      const std::string value(static_cast<std::size_t>(900 + step),
                              static_cast<char>('a' + i % 26));
      const Status status = put(key, value);
      ASSERT_TRUE(status.ok()) << i << ": " << status.message();
      model[key] = value;
    }
    (void)loop_.run_for(static_cast<std::uint64_t>(i) * 100);
    start(0, {.create = false, .clean_in_parts = i % 2 == 0});
  }
  expect_all(model);
}

TEST_F(CleaningPart, what_was_deleted_stays_away_though_older_versions_are_in_other_parts) {
  ServerOptions options = {.create = true, .clean_at_percent = 30, .clean_in_parts = true};
  start(1 << 20, options);
  options.create = false;
  std::uint64_t parts = 0;
  std::map<std::string, std::string> model;
  for (int i = 0; i < 4000; ++i) {
    const std::string key = "key-" + std::to_string(i * 7 % 60);
    if (i % 3 == 2) {
      const Status status = del(key);
      ASSERT_TRUE(status.ok()) << status.message();
      model[key] = "not_found";
      continue;
    }
    const std::string value(static_cast<std::size_t>(100 + i % 1500),
                            static_cast<char>('a' + i % 26));
    ASSERT_TRUE(put(key, value).ok()) << i;
    model[key] = value;
    if (i % 500 == 499) {
      settle();
      parts += counter("cleaned_parts");
      start(0, options);
      expect_all(model);
    }
  }
  EXPECT_GT(parts, 5u);
}

// What recovery shows it also keeps: cleaning may drop what a deletion hides.
TEST_F(CleaningPart, a_deletion_that_a_killed_process_left_in_the_caches_survives_a_cut) {
  FakeRegion* region = nullptr;
  make_region_ = [&](std::size_t size) {
    auto made = std::make_unique<FakeRegion>(size, Granularity::cache_line);
    region = made.get();
    return made;
  };
  start(1 << 20, {.create = true});
  ASSERT_TRUE(put("key", "value").ok());
  ASSERT_TRUE(put("other", "value").ok());
  settle();
  region->keep_in_caches(true);
  ASSERT_TRUE(del("key").ok());
  region->keep_in_caches(false);
  restart();
  EXPECT_EQ(get("key"), "not_found");
  region->cut();
  restart();
  EXPECT_EQ(get("key"), "not_found");
  EXPECT_EQ(get("other"), "value");
}

}  // namespace
}  // namespace remora::kv
