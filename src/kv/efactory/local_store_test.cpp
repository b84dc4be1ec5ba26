// The contract of the local store (kv/local_store.h), and that natives and it see the same.
#include "kv/local_store.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "kv/efactory/client.h"
#include "kv/efactory/engine.h"
#include "kv/store_testing.h"
#include "pmem/pmem_testing.h"

namespace remora::kv {
namespace {

constexpr std::uint64_t millisecond_ns = 1'000'000;

class LocalStoreTest : public StoreFixture, public testing::WithParamInterface<Granularity> {
 protected:
  LocalStoreTest() : StoreFixture(efactory::engine()) {
    make_region_ = [](std::size_t size) {
      auto region = std::make_unique<FakeRegion>(size, GetParam());
      region->commit_when_asked();
      return region;
    };
    start(4 << 20, {.create = true, .expected_keys = 16});
  }
  LocalStore& local() { return *server_->local(); }
  LocalStore::Mark put_here(const std::string& key, const std::string& value,
                            LocalStore::Expiry expires = 0) {
    const ConstBytes piece = bytes_of(value);
    Result<LocalStore::Mark> mark = local().put(bytes_of(key), std::span(&piece, 1), expires);
    EXPECT_TRUE(mark.ok()) << mark.status().message();
    return mark.ok() ? *mark : 0;
  }
  std::string get_here(const std::string& key) {
    const std::optional<LocalStore::Found> found = local().get(bytes_of(key));
    return found ? std::string(as_text(found->value)) : "not_found";
  }
  std::set<std::string> scan_here() {
    struct Sink final : ScanSink {
      void key(ConstBytes key) override { keys.insert(std::string(as_text(key))); }
      std::set<std::string> keys;
    } sink;
    ScanCursor cursor = 0;
    do {
      cursor = local().scan(cursor, 10, sink);
    } while (cursor != 0);
    return sink.keys;
  }
  std::uint64_t in_ms(std::uint64_t span) { return loop_.wall_ms() + span; }
  void sleep_ms(std::uint64_t span) { (void)loop_.run_for(span * millisecond_ns); }
};

INSTANTIATE_TEST_SUITE_P(media, LocalStoreTest,
                         testing::Values(Granularity::cache_line, Granularity::page),
                         [](const testing::TestParamInfo<Granularity>& param) {
                           return param.param == Granularity::page ? "page" : "cache_line";
                         });

TEST_P(LocalStoreTest, gives_back_what_was_put) {
  put_here("key", "value");
  EXPECT_EQ(get_here("key"), "value");
  put_here("key", "another");
  EXPECT_EQ(get_here("key"), "another");
  EXPECT_EQ(get_here("nothing"), "not_found");
  EXPECT_EQ(local().keys(), 1u);
}

TEST_P(LocalStoreTest, joins_the_pieces_of_a_value) {
  const std::string one = "one,";
  const std::string two = "two";
  const std::array<ConstBytes, 3> pieces = {bytes_of(one), {}, bytes_of(two)};
  EXPECT_TRUE(local().put(as_bytes("key"), pieces).ok());
  EXPECT_EQ(get_here("key"), "one,two");
  EXPECT_EQ(get("key"), "one,two");
}

TEST_P(LocalStoreTest, refuses_impossible_sizes) {
  const std::string large(limits::value_bytes + 1, 'v');
  const ConstBytes piece = bytes_of(large);
  EXPECT_EQ(local().put(as_bytes("key"), std::span(&piece, 1)).code(), Code::invalid_argument);
  EXPECT_EQ(local().put({}, {}).code(), Code::invalid_argument);
  EXPECT_EQ(local().put(bytes_of(std::string(1025, 'k')), {}).code(), Code::invalid_argument);
}

TEST_P(LocalStoreTest, shares_its_keys_with_natives) {
  put_here("here", "1");
  EXPECT_EQ(get("here"), "1");
  EXPECT_TRUE(put("there", "2").ok());
  EXPECT_EQ(get_here("there"), "2");
  EXPECT_TRUE(put("here", "3").ok());
  EXPECT_EQ(get_here("here"), "3");
  EXPECT_TRUE(del("there").ok());
  EXPECT_EQ(get_here("there"), "not_found");
  EXPECT_TRUE(local().del(as_bytes("here")).ok());
  EXPECT_EQ(get("here"), "not_found");
  EXPECT_EQ(local().keys(), 0u);
}

TEST_P(LocalStoreTest, shows_the_version_before_one_whose_value_is_on_its_way) {
  const std::string large(60'000, 'n');
  put_here("key", "old");
  Task<Status> slow = client_->put(bytes_of("key"), bytes_of(large), {});
  std::set<std::string> seen;
  while (!slow.finished()) {
    seen.insert(get_here("key"));
    (void)loop_.run_for(100);
  }
  EXPECT_TRUE(slow.take().ok());
  EXPECT_EQ(get_here("key"), large);
  seen.erase(large);
  EXPECT_EQ(seen, std::set<std::string>{"old"});
}

TEST_P(LocalStoreTest, natives_read_by_themselves_what_was_put_here) {
  const LocalStore::Mark mark = put_here("key", "value");
  EXPECT_TRUE(loop_.block_on(local().persistent(mark)).ok());
  settle();
  EXPECT_EQ(get("key"), "value");
  EXPECT_EQ(static_cast<efactory::EfactoryClient&>(*client_).pure_gets(), 1u);
}

TEST_P(LocalStoreTest, marks_grow_and_become_persistent) {
  const LocalStore::Mark one = put_here("a", "1");
  const LocalStore::Mark two = put_here("b", "2");
  const LocalStore::Mark three = local().del(as_bytes("a")).value();
  EXPECT_LT(one, two);
  EXPECT_LT(two, three);
  EXPECT_EQ(local().now(), three);
  EXPECT_EQ(local().del(as_bytes("nothing")).value(), three);
  EXPECT_TRUE(loop_.block_on(local().persistent(two)).ok());
  EXPECT_GE(local().persistent_now(), two);
  EXPECT_TRUE(loop_.block_on(local().persistent(three)).ok());
  EXPECT_EQ(local().persistent_now(), three);
}

TEST_P(LocalStoreTest, becomes_persistent_without_anybody_asking) {
  const LocalStore::Mark mark = put_here("key", "value");
  EXPECT_LT(local().persistent_now(), mark);
  sleep_ms(60);
  EXPECT_EQ(local().persistent_now(), mark);
  EXPECT_FALSE(server_->busy());
}

TEST_P(LocalStoreTest, one_commit_serves_all_who_wait) {
  std::vector<Task<Status>> waits;
  for (int i = 0; i < 100; ++i) {
    waits.push_back(local().persistent(put_here("key-" + std::to_string(i), "value")));
  }
  const auto& region = static_cast<FakeRegion&>(*region_);
  const std::uint64_t before = region.commits();
  for (Task<Status>& wait : waits) {
    EXPECT_EQ(loop_.run_until(wait), RunState::finished);
    EXPECT_TRUE(wait.take().ok());
  }
  EXPECT_LE(region.commits() - before, 2u);
}

TEST_P(LocalStoreTest, comes_back_with_what_was_put) {
  for (int i = 0; i < 300; ++i) {
    put_here("key-" + std::to_string(i % 100), std::to_string(i));
  }
  EXPECT_TRUE(local().del(as_bytes("key-7")).ok());
  restart();
  EXPECT_EQ(local().keys(), 99u);
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(get_here("key-" + std::to_string(i)), i == 7 ? "not_found" : std::to_string(200 + i));
  }
  put_here("key-7", "back");
  EXPECT_EQ(get_here("key-7"), "back");
}

TEST_P(LocalStoreTest, scans_all_keys) {
  std::set<std::string> keys;
  for (int i = 0; i < 500; ++i) {
    keys.insert("key-" + std::to_string(i));
    put_here("key-" + std::to_string(i), "v");
    (void)loop_.run_for(1'000);
  }
  EXPECT_TRUE(local().del(as_bytes("key-3")).ok());
  keys.erase("key-3");
  EXPECT_EQ(scan_here(), keys);
  EXPECT_EQ(local().keys(), keys.size());
}

TEST_P(LocalStoreTest, makes_room_by_cleaning_and_says_when_there_is_none) {
  start(1 << 20, {.create = true, .expected_keys = 16});
  const std::string value(4000, 'v');
  const ConstBytes piece = bytes_of(value);
  for (int i = 0; i < 2000; ++i) {
    const std::string key = "key-" + std::to_string(i % 20);
    Result<LocalStore::Mark> mark = local().put(bytes_of(key), std::span(&piece, 1));
    for (int tries = 0; mark.code() == Code::no_space && tries < 3; ++tries) {
      ASSERT_TRUE(loop_.block_on(local().room()).ok()) << i;
      mark = local().put(bytes_of(key), std::span(&piece, 1));
    }
    ASSERT_TRUE(mark.ok()) << i << ": " << mark.status().message();
  }
  EXPECT_GT(counter("cleaned_parts"), 2u);
  int more = 0;
  Status status;
  while (status.ok()) {
    const std::string key = "more-" + std::to_string(more++);
    const Result<LocalStore::Mark> mark = local().put(bytes_of(key), std::span(&piece, 1));
    status = mark.ok() ? Status() : loop_.block_on(local().room());
    ASSERT_LT(more, 2000);
  }
  EXPECT_EQ(status.code(), Code::no_space);
  EXPECT_EQ(get_here("key-7"), value);
}

// --- Several writes ---

TEST_P(LocalStoreTest, writes_several_keys_at_once) {
  put_here("old", "1");
  const std::string value = "value";
  std::size_t made = 0;
  const std::vector<LocalStore::Write> writes = {{as_bytes("a"), as_bytes(value)},
                                                 {as_bytes("old"), std::nullopt},
                                                 {as_bytes("b"), as_bytes(value), in_ms(10)},
                                                 {as_bytes("a"), as_bytes("last")}};
  const Result<LocalStore::Mark> mark = local().write_all(writes, made);
  ASSERT_TRUE(mark.ok());
  EXPECT_EQ(*mark, local().now());
  EXPECT_EQ(made, writes.size());
  EXPECT_EQ(scan_here(), (std::set<std::string>{"a", "b"}));
  EXPECT_EQ(get_here("a"), "last");
  sleep_ms(20);
  EXPECT_EQ(get_here("b"), "not_found");
}

TEST_P(LocalStoreTest, makes_none_of_several_writes_when_one_has_an_impossible_size) {
  std::size_t made = 0;
  const std::string key(1025, 'k');
  const std::vector<LocalStore::Write> writes = {{as_bytes("a"), as_bytes("1")},
                                                 {as_bytes(key), as_bytes("2")}};
  EXPECT_EQ(local().write_all(writes, made).code(), Code::invalid_argument);
  EXPECT_EQ(made, 0u);
  EXPECT_EQ(get_here("a"), "not_found");
}

// Of all sizes, up to more than a segment has, until the store is full and beyond.
TEST_P(LocalStoreTest, makes_none_of_several_writes_when_there_is_no_room_for_all) {
  start(2 << 20, {.create = true, .expected_keys = 16});
  Random random(7);
  int refused = 0;
  int refused_for_good = 0;
  for (int i = 0; i < 3000; ++i) {
    std::vector<std::string> keys;
    std::vector<std::string> values;
    for (std::uint64_t left = random.between(2, 8); left > 0; --left) {
      keys.push_back("key-" + std::to_string(random.below(600)));
      const std::uint64_t most = random.chance(1, 10) ? 40'000 : 4'000;
      values.emplace_back(random.below(most), static_cast<char>('a' + i % 26));
    }
    std::vector<LocalStore::Write> writes;
    for (std::size_t k = 0; k < keys.size(); ++k) {
      writes.push_back({bytes_of(keys[k]), bytes_of(values[k])});
    }
    writes.push_back({bytes_of(keys[0]), std::nullopt});
    const LocalStore::Mark before = local().now();
    std::size_t made = 0;
    const Result<LocalStore::Mark> mark = local().write_all(writes, made);
    ASSERT_EQ(made, mark.ok() ? writes.size() : 0) << i;
    if (!mark.ok()) {
      ASSERT_EQ(mark.code(), Code::no_space) << mark.status().message();
      ASSERT_EQ(local().now(), before);
      ++refused;
      if (!loop_.block_on(local().room()).ok()) {
        ++refused_for_good;
        for (int k = 0; k < 3; ++k) {
          (void)local().del(bytes_of("key-" + std::to_string(random.below(600))));
        }
      }
    }
  }
  EXPECT_GT(refused, 20);
  EXPECT_GT(refused_for_good, 20);
}

// --- Expiry ---

TEST_P(LocalStoreTest, a_key_whose_time_has_come_is_not_there_for_anybody) {
  put_here("key", "before");
  put_here("key", "value", in_ms(20));
  put_here("stays", "value", in_ms(100'000));
  EXPECT_TRUE(loop_.block_on(local().persistent(local().now())).ok());
  settle();
  EXPECT_EQ(get("key"), "value");
  EXPECT_EQ(local().get(as_bytes("stays"))->expires, in_ms(0) + 100'000);
  EXPECT_EQ(local().keys_with_expiry(), 2u);
  sleep_ms(21);
  EXPECT_EQ(get("key"), "not_found");
  EXPECT_EQ(get(*connected_elsewhere(), "key"), "not_found");
  EXPECT_EQ(scan(), std::set<std::string>{"stays"});
  EXPECT_EQ(scan_here(), std::set<std::string>{"stays"});
  EXPECT_EQ(get_here("key"), "not_found");
  EXPECT_EQ(local().keys(), 1u);
}

TEST_P(LocalStoreTest, natives_that_ask_find_no_key_whose_time_has_come) {
  engine_ = &efactory::engine_without_hybrid_reads();
  start(4 << 20, {.create = true});
  put_here("key", "before");
  put_here("key", "value", in_ms(20));
  EXPECT_EQ(get("key"), "value");
  sleep_ms(21);
  EXPECT_EQ(get("key"), "not_found");
}

TEST_P(LocalStoreTest, an_expired_key_can_be_put_again) {
  put_here("key", "value", in_ms(5));
  sleep_ms(6);
  put_here("key", "again");
  EXPECT_EQ(get_here("key"), "again");
  EXPECT_EQ(get("key"), "again");
  EXPECT_EQ(local().keys_with_expiry(), 0u);
}

TEST_P(LocalStoreTest, the_background_forgets_expired_keys) {
  for (int i = 0; i < 1000; ++i) {
    put_here("key-" + std::to_string(i), "value", in_ms(i % 2 == 0 ? 10 : 1'000'000));
    (void)loop_.run_for(1'000);
  }
  sleep_ms(3'000);
  EXPECT_EQ(local().keys(), 500u);
  EXPECT_EQ(local().keys_with_expiry(), 500u);
  EXPECT_EQ(counter("expired_keys"), 500u);
}

// Entries of the index that lead to tombstones leave it: room in memory for the next keys.
TEST_P(LocalStoreTest, keys_that_come_and_expire_for_ever_need_no_larger_index) {
  start(16 << 20, {.create = true, .expected_keys = 64, .clean_at_percent = 100});
  const std::uint64_t before = counter("index_bytes");
  ASSERT_NE(before, 0u);
  for (int i = 0; i < 4000; ++i) {
    put_here("key-" + std::to_string(i), "value", in_ms(10));
    sleep_ms(10);
  }
  EXPECT_EQ(counter("index_bytes"), before);
}

TEST_P(LocalStoreTest, no_older_version_comes_back_after_a_restart) {
  put_here("key", "before");
  put_here("key", "value", in_ms(20));
  put_here("later", "value", in_ms(20'000));
  sleep_ms(21);
  restart();
  EXPECT_EQ(get_here("key"), "not_found");
  EXPECT_EQ(get_here("later"), "value");
  sleep_ms(3'000);
  EXPECT_EQ(local().keys(), 1u);
  sleep_ms(20'000);
  EXPECT_EQ(get("later"), "not_found");
}

TEST_P(LocalStoreTest, a_clock_that_is_set_back_brings_no_key_back) {
  put_here("key", "before");
  put_here("key", "value", in_ms(20));
  put_here("asked for", "value", in_ms(20));
  sleep_ms(21);
  EXPECT_EQ(get_here("asked for"), "not_found");
  sleep_ms(3'000);  // the background finds the other
  loop_.set_wall_back(10'000);
  restart();
  EXPECT_EQ(get_here("asked for"), "not_found");
  EXPECT_EQ(get_here("key"), "not_found");
  EXPECT_EQ(get("key"), "not_found");
  // What is put now lives by the clock as it is.
  put_here("key", "again", in_ms(20));
  EXPECT_EQ(get_here("key"), "again");
}

// The image that a cut leaves is what the medium has, and no more.
TEST_P(LocalStoreTest, no_older_version_comes_back_after_a_power_cut) {
  start(1 << 20, {.create = true, .expected_keys = 16});
  for (int round = 0; round < 12; ++round) {
    for (int i = 0; i < 20; ++i) {
      put_here("key-" + std::to_string(i), "older");
      put_here("key-" + std::to_string(i), std::string(900, 'v'), in_ms(10));
    }
    EXPECT_TRUE(loop_.block_on(local().persistent(local().now())).ok());
    sleep_ms(11);
    // Some are forgotten by a get; all the while the log is cleaned.
    for (int i = 0; i < 10; ++i) {
      EXPECT_EQ(get_here("key-" + std::to_string(i)), "not_found");
      EXPECT_TRUE(put("fill", std::string(2000, 'f')).ok());
      (void)loop_.run_for(static_cast<std::uint64_t>(1'000 * round));
    }
    client_.reset();
    server_.reset();
    pool_.reset();
    static_cast<FakeRegion&>(*region_).cut();
    restart();
    for (int i = 0; i < 20; ++i) {
      EXPECT_EQ(get_here("key-" + std::to_string(i)), "not_found") << round;
    }
  }
}

TEST_P(LocalStoreTest, cleaning_drops_what_has_expired_and_carries_times_along) {
  start(1 << 20, {.create = true, .expected_keys = 64, .cleaning = Cleaning::whole});
  const std::uint64_t far = in_ms(1'000'000);
  put_here("far", "value", far);
  for (int i = 0; i < 40; ++i) {
    put_here("key-" + std::to_string(i), "older");
    put_here("key-" + std::to_string(i), std::string(1000, 'v'), in_ms(10));
  }
  sleep_ms(11);
  for (int i = 0; counter("cleanings") < 3; ++i) {
    ASSERT_LT(i, 5000);
    const std::string value(2000, 'f');
    const ConstBytes piece = bytes_of(value);
    if (!local().put(as_bytes("fill"), std::span(&piece, 1)).ok()) {
      ASSERT_TRUE(loop_.block_on(local().room()).ok());
    }
    (void)loop_.run_for(2'000);
  }
  EXPECT_EQ(local().keys(), 2u);
  EXPECT_EQ(local().get(as_bytes("far"))->expires, far);
  restart();
  EXPECT_EQ(local().keys(), 2u);
  EXPECT_EQ(get_here("key-1"), "not_found");
  EXPECT_EQ(local().get(as_bytes("far"))->expires, far);
}

// Whoever is told "ok" believes that it will be kept some time.
TEST_P(LocalStoreTest, takes_no_more_when_the_medium_has_failed) {
  client_ = connected({.whole_value_bytes = 100});
  put_here("key", "kept");
  sleep_ms(200);
  static_cast<FakeRegion&>(*region_).fail();
  put_here("key", "value");
  sleep_ms(200);
  const std::string key = "another";
  const ConstBytes piece = bytes_of(key);
  const bool takes_more = local().put(bytes_of(key), std::span(&piece, 1)).ok();
  EXPECT_EQ(takes_more, GetParam() != Granularity::page);
  EXPECT_EQ(put("whole", "value").ok(), takes_more);
  EXPECT_EQ(local().del(bytes_of(key)).ok(), takes_more);
}

TEST_P(LocalStoreTest, says_of_no_key_that_it_is_kept_when_its_commit_has_failed) {
  if (GetParam() != Granularity::page) {
    return;  // there are no commits
  }
  client_.reset();  // with natives no commit blocks
  server_.reset();
  pool_ = Pool::open(*region_, "test").value();
  server_ = engine_->start_server(Host(loop_, far_.nic, region_.get()), *pool_, {}).value();
  EXPECT_TRUE(loop_.block_on(local().persistent(put_here("kept", "value"))).ok());
  sleep_ms(200);
  EXPECT_TRUE(local().failure().ok());
  static_cast<FakeRegion&>(*region_).fail();
  const LocalStore::Mark mark = put_here("new", "value");
  for (int i = 0; i < 3; ++i) {
    const std::optional<Status> at_once = local().persistent_at_once();
    ASSERT_TRUE(at_once);
    EXPECT_EQ(at_once->code(), Code::io_error) << i;
    EXPECT_EQ(loop_.block_on(local().persistent(mark)).code(), Code::io_error) << i;
  }
  EXPECT_LT(local().persistent_now(), mark);
  EXPECT_EQ(local().failure().code(), Code::io_error);
  EXPECT_FALSE(local().is_in_doubt(bytes_of("kept")));
  EXPECT_TRUE(local().is_in_doubt(bytes_of("new")));
}

TEST_P(LocalStoreTest, has_failed_when_a_commit_of_natives_has) {
  if (GetParam() != Granularity::page) {
    return;  // there are no commits
  }
  EXPECT_TRUE(put("native", std::string(10'000, 'v')).ok());
  sleep_ms(200);
  static_cast<FakeRegion&>(*region_).fail();
  EXPECT_TRUE(put("native", std::string(10'000, 'w')).ok());
  sleep_ms(200);
  EXPECT_EQ(local().failure().code(), Code::io_error);
  EXPECT_EQ(get("native"), "io_error");
}

TEST_P(LocalStoreTest, whole_puts_of_natives_do_not_wait_as_long_as_changes_of_its_own) {
  client_ = connected({.whole_value_bytes = 100});
  put_here("here", "value");
  sleep_ms(10);
  EXPECT_EQ(local().persistent_now() == local().now(), GetParam() != Granularity::page);
  EXPECT_TRUE(put("there", "value").ok());
  sleep_ms(10);
  EXPECT_EQ(local().persistent_now(), local().now());
}

}  // namespace
}  // namespace remora::kv
