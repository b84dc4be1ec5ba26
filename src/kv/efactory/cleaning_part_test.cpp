// Cleaning of a part of the log: where little of it lives, and where there is no room for copies of
// all that does.
#include <map>
#include <string>

#include "kv/efactory/engine.h"
#include "kv/store_testing.h"
#include "pmem/pmem_testing.h"

namespace remora::kv {
namespace {

class CleaningPart : public StoreFixture {
 protected:
  void fill_and_empty(int lives) {
    for (int life = 0; life < lives; ++life) {
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
  fill_and_empty(3);
}

// Each growth leaves a rest of almost a segment, and all of them more than the reserve.
TEST_F(CleaningPart, a_full_store_in_a_pool_that_was_grown_by_odd_sizes_can_be_emptied) {
  constexpr std::uint64_t created_bytes = 512 << 10;
  start(1 << 20, {.create = true, .expected_keys = 16});
  client_.reset();
  server_.reset();
  pool_.reset();
  region_ = make_dram(1 << 20).value();
  pool_ = Pool::create(*region_, {}, Faults(), created_bytes).value();
  ASSERT_TRUE(engine_
                  ->start_server(Host(loop_, far_.nic, region_.get()), *pool_,
                                 {.create = true, .expected_keys = 16})
                  .ok());
  for (int i = 1; i <= 8; ++i) {
    ASSERT_TRUE(pool_->grow(created_bytes + static_cast<std::uint64_t>(i) * (36 << 10)).ok());
  }
  restart();
  fill_and_empty(3);
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
    start(0, {.create = false, .cleaning = i % 2 == 0 ? Cleaning::parts : Cleaning::whole});
  }
  expect_all(model);
}

TEST_F(CleaningPart, what_was_deleted_stays_away_though_older_versions_are_in_other_parts) {
  ServerOptions options = {.create = true, .clean_at_percent = 30, .cleaning = Cleaning::parts};
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

TEST_F(CleaningPart, segments_of_which_little_lives_go_for_few_copies) {
  start(1 << 20, {.create = true, .expected_keys = 16});
  std::map<std::string, std::string> model;
  constexpr std::uint64_t keys = 20;
  constexpr std::uint64_t puts = 6000;
  for (std::uint64_t i = 0; i < puts; ++i) {
    const std::string key = "key-" + std::to_string(i * 7 % keys);
    model[key] = std::string(900 + i % 200, static_cast<char>('a' + i % 26));
    const Status status = put(key, model[key], {Durability::persistent});
    ASSERT_TRUE(status.ok()) << i << ": " << status.message();
    if (i >= keys) {
      const std::string asked = "key-" + std::to_string(i * 3 % keys);
      ASSERT_EQ(get(asked), model[asked]) << i;
    }
  }
  EXPECT_GT(counter("cleaned_parts"), 5u);
  EXPECT_EQ(counter("cleanings"), 0u);
  EXPECT_LT(counter("moved_versions"), puts / 8);
  EXPECT_EQ(counter("get_requests"), 0u) << "gets READ meanwhile";
  settle();
  expect_all(model);
  restart();
  expect_all(model);
}

// Deletions that nothing leads to any more are copied from part to part: a cleaning of all ends
// them.
TEST_F(CleaningPart, deletions_are_not_copied_again_and_again) {
  start(1 << 20, {.create = true, .expected_keys = 16});
  const auto key_of = [](int i) { return "key-" + std::to_string(i); };
  constexpr int keys = 2000;
  for (int i = 0; i < keys; ++i) {
    ASSERT_TRUE(put(key_of(i), "value").ok()) << i;
    ASSERT_TRUE(del(key_of(i)).ok()) << i;
  }
  restart();
  EXPECT_EQ(counter("keys"), 0u);
  for (int i = 0; counter("cleanings") + counter("cleaned_parts") < 12; ++i) {
    ASSERT_LT(i, 20'000);
    ASSERT_TRUE(put("fill", std::string(2000, 'f')).ok());
  }
  EXPECT_LE(counter("moved_versions"), keys + 20u);
  EXPECT_EQ(get(key_of(0)), "not_found");
  restart();
  EXPECT_EQ(counter("keys"), 1u);
}

// Versions that never came, or came too late: their segments go, and what was before them stays, in
// another segment or as a copy.
class CleaningPartGivenUp : public CleaningPart {
 protected:
  CleaningPartGivenUp() { start(1 << 20, {.create = true, .put_timeout_ns = patience_ns}); }

  // So that what comes next is in another segment.
  void fill_a_segment() {
    settle();
    for (int i = 0; i < 30; ++i) {
      ASSERT_TRUE(put("fill", std::string(2000, 'f')).ok());
    }
    settle();
  }
  void clean_a_part() {
    const std::uint64_t parts = counter("cleaned_parts");
    for (int i = 0; counter("cleaned_parts") == parts; ++i) {
      ASSERT_LT(i, 2000);
      ASSERT_TRUE(put("fill", std::string(2000, 'f')).ok());
    }
  }
  // The client dies between its request and its WRITE.
  void give_up(const std::string& key) {
    std::unique_ptr<StoreClient> other = connected();
    const std::string value = "that never comes";
    {
      const AbandonScope dies;
      Task<Status> one = other->put(bytes_of(key), bytes_of(value));
      while (counter("awaited_versions") == 0) {
        ASSERT_EQ(loop_.step(), RunState::running);
      }
    }
    other.reset();
    (void)loop_.run_for(5 * patience_ns);
  }
  // All of it is there when nobody waits for it any more. What lives beside it keeps its segment.
  void come_late_among_living(const std::string& key) {
    const auto put_living = [this](int number) {
      EXPECT_TRUE(put("live-" + std::to_string(number), std::string(1500, 'l')).ok());
    };
    for (int i = 0; i < 10; ++i) {
      put_living(i);
    }
    const std::string value = "late value";
    Task<Status> late = client_->put(bytes_of(key), bytes_of(value));
    while (damage("late value") == 0) {
      ASSERT_EQ(loop_.step(), RunState::running);
    }
    EXPECT_TRUE(loop_.block_on(std::move(late)).ok());
    (void)loop_.run_for(5 * patience_ns);
    EXPECT_EQ(damage("late valud"), 1);
    for (int i = 10; i < 20; ++i) {
      put_living(i);
    }
  }

  static constexpr std::uint64_t patience_ns = 1'000'000;
};

TEST_F(CleaningPartGivenUp, lead_to_what_was_before_until_they_go) {
  ASSERT_TRUE(put("key", "value").ok());
  fill_a_segment();
  give_up("key");
  give_up("nothing");
  EXPECT_EQ(counter("invalidated_versions"), 2u);
  for (int i = 0; i < 8; ++i) {
    clean_a_part();
    EXPECT_EQ(get("key"), "value") << i;
    EXPECT_EQ(get("nothing"), "not_found") << i;
  }
  settle();
  EXPECT_EQ(counter("keys"), 2u);
  restart();
  EXPECT_EQ(get("key"), "value");
  EXPECT_EQ(get("nothing"), "not_found");
}

TEST_F(CleaningPartGivenUp, and_complete_by_now_are_told_where_a_deletion_went) {
  ASSERT_TRUE(put("key", "value").ok());
  ASSERT_TRUE(del("key").ok());
  fill_a_segment();
  come_late_among_living("key");
  EXPECT_EQ(counter("invalidated_versions"), 1u);
  for (int i = 0; i < 8; ++i) {
    EXPECT_EQ(get("key"), "not_found") << i;
    clean_a_part();
  }
  restart();
  EXPECT_EQ(get("key"), "not_found");
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
