// Several keys at once, by the local store: the contract (kv/local_store.h, kv/multi_write.h), and
// what a cut in the middle leaves.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <string>
#include <vector>

#include "kv/efactory/engine.h"
#include "kv/local_store.h"
#include "kv/log/survey.h"
#include "kv/store_testing.h"
#include "pmem/pmem_testing.h"

namespace remora::kv {
namespace {

class TogetherTest : public StoreFixture, public testing::WithParamInterface<Granularity> {
 protected:
  TogetherTest() : StoreFixture(efactory::engine()) {
    make_region_ = [](std::size_t size) {
      auto region = std::make_unique<FakeRegion>(size, GetParam());
      region->commit_when_asked();
      return region;
    };
    start(4 << 20, {.create = true, .expected_keys = 16});
  }
  LocalStore& local() { return *server_->local(); }
  ConstBytes kept(std::string text) { return bytes_of(texts_.emplace_back(std::move(text))); }
  Write a_put(std::string key, std::string value, std::uint64_t expires = 0) {
    return {kept(std::move(key)), kept(std::move(value)), expires};
  }
  Write a_del(std::string key) { return {kept(std::move(key)), std::nullopt}; }
  Result<LocalStore::Mark> write(const std::vector<Write>& writes,
                                 const std::vector<Condition>& conditions = {}) {
    return local().write_together({conditions, writes});
  }
  Status there(const std::vector<Write>& writes, const std::vector<Condition>& conditions = {},
               PutOptions options = {}) {
    return loop_.block_on(client_->write_together({conditions, writes}, options));
  }
  std::uint64_t version_there(const std::string& key) {
    std::string value(1000, '\0');
    const Result<StoreClient::Versioned> found = loop_.block_on(
        client_->get_version(bytes_of(key), std::as_writable_bytes(std::span(value))));
    return found.ok() ? found->version : 0;
  }
  LocalStore::Mark put_here(const std::string& key, const std::string& value,
                            std::uint64_t expires = 0) {
    const ConstBytes piece = bytes_of(value);
    return local().put(bytes_of(key), std::span(&piece, 1), expires).value();
  }
  std::string get_here(const std::string& key) {
    const std::optional<LocalStore::Found> found = local().get(bytes_of(key));
    return !found ? "not_found" : found->damaged ? "damaged" : std::string(as_text(found->value));
  }
  std::uint64_t version_of(const std::string& key) {
    const std::optional<LocalStore::Found> found = local().get(bytes_of(key));
    return found ? found->version : 0;
  }
  std::string all_here(const std::vector<std::string>& keys) {
    std::string text;
    for (const std::string& key : keys) {
      text += get_here(key) + " ";
    }
    return text;
  }
  void sleep_ms(std::uint64_t span) { (void)loop_.run_for(span * 1'000'000); }
  // As a power cut that took these bytes: what was on its way from the caches.
  void lose(std::string_view text) {
    const std::string_view pool = as_text(region_->bytes());
    const std::size_t at = pool.find(text);
    ASSERT_NE(at, std::string_view::npos) << text;
    std::fill_n(region_->data() + at, text.size(), std::byte{0});
  }

  std::deque<std::string> texts_;
};

INSTANTIATE_TEST_SUITE_P(media, TogetherTest,
                         testing::Values(Granularity::cache_line, Granularity::page),
                         [](const testing::TestParamInfo<Granularity>& param) {
                           return param.param == Granularity::page ? "page" : "cache_line";
                         });

TEST_P(TogetherTest, writes_all_keys) {
  put_here("old", "1");
  put_here("gone", "2");
  const Result<LocalStore::Mark> mark =
      write({a_put("old", "3"), a_del("gone"), a_put("new", "4"), a_del("never there")});
  ASSERT_TRUE(mark.ok()) << mark.status().message();
  EXPECT_EQ(*mark, local().now());
  EXPECT_EQ(all_here({"old", "gone", "new", "never there"}), "3 not_found 4 not_found ");
  EXPECT_EQ(get("old"), "3");
  EXPECT_EQ(get("gone"), "not_found");
  EXPECT_EQ(local().keys(), 2u);
  EXPECT_TRUE(loop_.block_on(local().persistent(*mark)).ok());
  restart();
  EXPECT_EQ(all_here({"old", "gone", "new"}), "3 not_found 4 ");
}

TEST_P(TogetherTest, becomes_persistent_by_one_commit) {
  std::vector<Write> writes;
  for (int i = 0; i < 100; ++i) {
    writes.push_back(a_put("key-" + std::to_string(i), "value"));
  }
  const auto& region = static_cast<FakeRegion&>(*region_);
  const std::uint64_t before = region.commits();
  const LocalStore::Mark mark = write(writes).value();
  EXPECT_EQ(region.commits(), before);
  EXPECT_TRUE(loop_.block_on(local().persistent(mark)).ok());
  EXPECT_LE(region.commits() - before, 1u);
}

TEST_P(TogetherTest, refuses_a_key_that_stands_twice) {
  EXPECT_EQ(write({a_put("a", "1"), a_put("b", "2"), a_put("a", "3")}).code(),
            Code::invalid_argument);
  std::vector<Write> many;
  for (int i = 0; i < 100; ++i) {
    many.push_back(a_put("key-" + std::to_string(i % 99), "v"));
  }
  EXPECT_EQ(write(many).code(), Code::invalid_argument);
  EXPECT_EQ(local().keys(), 0u);
  many.pop_back();
  EXPECT_TRUE(write(many).ok());
  EXPECT_EQ(local().keys(), 99u);
}

TEST_P(TogetherTest, refuses_impossible_sizes) {
  EXPECT_EQ(write({a_put("a", "1"), a_put("", "2")}).code(), Code::invalid_argument);
  EXPECT_EQ(write({a_put("a", "1"), a_del(std::string(1025, 'k'))}).code(), Code::invalid_argument);
  EXPECT_EQ(get_here("a"), "not_found");
}

TEST_P(TogetherTest, of_nothing_is_nothing) {
  const LocalStore::Mark before = local().now();
  EXPECT_EQ(write({}).value(), before);
  EXPECT_EQ(write({a_del("a"), a_del("b")}).value(), before);
}

TEST_P(TogetherTest, heeds_conditions) {
  put_here("a", "1");
  const std::uint64_t version = version_of("a");
  const ConstBytes a = as_bytes("a");
  const ConstBytes b = as_bytes("b");
  EXPECT_EQ(write({a_put("b", "2")}, {{a, version + 1}}).code(), Code::conflict);
  EXPECT_EQ(write({a_put("b", "2")}, {{a, 0}}).code(), Code::conflict);
  EXPECT_EQ(write({a_put("b", "2")}, {{a, version}, {b, 1}}).code(), Code::conflict);
  EXPECT_EQ(get_here("b"), "not_found");
  EXPECT_TRUE(write({a_put("b", "2"), a_put("a", "3")}, {{a, version}, {b, 0}}).ok());
  EXPECT_EQ(all_here({"a", "b"}), "3 2 ");
  EXPECT_EQ(write({a_put("b", "4")}, {{a, version}}).code(), Code::conflict);
  EXPECT_TRUE(write({}, {{a, version_of("a")}}).ok());
  EXPECT_EQ(write({}, {{a, version}}).code(), Code::conflict);
}

TEST_P(TogetherTest, takes_a_key_whose_time_has_come_for_none) {
  put_here("a", "1", loop_.wall_ms() + 5);
  const std::uint64_t version = version_of("a");
  sleep_ms(6);
  const ConstBytes a = as_bytes("a");
  EXPECT_EQ(write({a_put("b", "2")}, {{a, version}}).code(), Code::conflict);
  EXPECT_TRUE(write({a_put("b", "2")}, {{a, 0}}).ok());
}

TEST_P(TogetherTest, gives_keys_their_times) {
  ASSERT_TRUE(write({a_put("a", "1", loop_.wall_ms() + 20), a_put("b", "2")}).ok());
  EXPECT_EQ(all_here({"a", "b"}), "1 2 ");
  EXPECT_EQ(local().keys_with_expiry(), 1u);
  sleep_ms(25);
  EXPECT_EQ(all_here({"a", "b"}), "not_found 2 ");
  EXPECT_EQ(get("a"), "not_found");
}

TEST_P(TogetherTest, waits_for_no_value_that_a_condition_names) {
  const std::string large(60'000, 'n');
  put_here("key", "old");
  const std::uint64_t version = version_of("key");
  Task<Status> slow = client_->put(bytes_of("key"), bytes_of(large), {});
  bool was_on_its_way = false;
  while (!slow.finished()) {
    const Code code = write({a_put("b", "2")}, {{as_bytes("key"), version}}).code();
    EXPECT_TRUE(code == Code::ok || code == Code::in_use || code == Code::conflict);
    was_on_its_way = was_on_its_way || code == Code::in_use;
    (void)loop_.run_for(100);
  }
  EXPECT_TRUE(slow.take().ok());
  EXPECT_TRUE(was_on_its_way);
  EXPECT_EQ(write({a_put("b", "2")}, {{as_bytes("key"), version}}).code(), Code::conflict);
}

TEST_P(TogetherTest, refuses_a_condition_on_a_damaged_key) {
  const std::string value(1000, 'd');
  put_here("a", value);
  const std::uint64_t version = version_of("a");
  ASSERT_TRUE(server_->finish().ok());
  damage(value);
  restart();
  EXPECT_EQ(write({a_put("b", "2")}, {{as_bytes("a"), version}}).code(), Code::damaged);
  EXPECT_EQ(get_here("b"), "not_found");
  EXPECT_TRUE(write({a_put("b", "2"), a_put("a", "mended")}).ok());
  EXPECT_EQ(all_here({"a", "b"}), "mended 2 ");
}

TEST_P(TogetherTest, writes_ten_thousand_keys_and_more_than_segments_hold) {
  start(64 << 20, {.create = true, .expected_keys = 16});
  std::vector<Write> writes;
  for (int i = 0; i < 10'000; ++i) {
    writes.push_back(a_put("key-" + std::to_string(i), std::string(100, 'v')));
  }
  writes.push_back(a_put("large", std::string(3 << 20, 'l')));
  writes.push_back(a_put("larger", std::string(5 << 20, 'l')));
  writes.push_back(a_put("last", "1"));
  ASSERT_TRUE(write(writes).ok());
  EXPECT_EQ(local().keys(), 10'003u);
  restart();
  EXPECT_EQ(local().keys(), 10'003u);
  EXPECT_EQ(get_here("larger").size(), 5u << 20);
  EXPECT_EQ(get_here("key-9999"), std::string(100, 'v'));
}

// Of all sizes, beyond the room that there is.
TEST_P(TogetherTest, writes_nothing_when_there_is_no_room_for_all) {
  start(2 << 20, {.create = true, .expected_keys = 16});
  Random random(7);
  int refused = 0;
  for (int i = 0; i < 400; ++i) {
    std::vector<Write> writes;
    std::vector<std::string> before;
    for (std::uint64_t key = random.below(20); key < 600; key += random.between(1, 60)) {
      const std::uint64_t most = random.chance(1, 10) ? 60'000 : 3'000;
      writes.push_back(a_put("key-" + std::to_string(key),
                             std::string(random.below(most), static_cast<char>('a' + i % 26))));
      before.push_back(get_here("key-" + std::to_string(key)));
    }
    Result<LocalStore::Mark> mark = write(writes);
    if (mark.code() == Code::no_space && loop_.block_on(local().room()).ok()) {
      mark = write(writes);
    }
    ASSERT_TRUE(mark.ok() || mark.code() == Code::no_space) << mark.status().message();
    refused += mark.ok() ? 0 : 1;
    for (std::size_t k = 0; k < writes.size(); ++k) {
      const std::string now = get_here(std::string(as_text(writes[k].key)));
      ASSERT_TRUE(now == (mark.ok() ? std::string(as_text(*writes[k].value)) : before[k]));
    }
  }
  EXPECT_GT(refused, 10);
  EXPECT_LT(refused, 390);
  restart();
  EXPECT_GT(local().keys(), 0u);
}

// --- Natives ---

TEST_P(TogetherTest, natives_write_all_keys_or_none) {
  EXPECT_TRUE(there({a_put("a", "1"), a_put("b", "2")}).ok());
  EXPECT_EQ(all_here({"a", "b"}), "1 2 ");
  EXPECT_EQ(there({a_put("a", "3"), a_put("a", "4")}).code(), Code::invalid_argument);
  EXPECT_EQ(there({a_put("a", "3"), a_put(std::string(1025, 'k'), "4")}).code(),
            Code::invalid_argument);
  EXPECT_TRUE(there({a_put("a", "3"), a_del("b"), a_put("c", "4")}).ok());
  EXPECT_EQ(all_here({"a", "b", "c"}), "3 not_found 4 ");
  EXPECT_TRUE(there({}).ok());
}

TEST_P(TogetherTest, a_persistent_one_of_a_native_survives_a_cut) {
  auto& region = static_cast<FakeRegion&>(*region_);
  const std::uint64_t before = region.commits();
  EXPECT_TRUE(there({a_put("a", "1"), a_put("b", "2")}, {}, {Durability::persistent}).ok());
  EXPECT_LE(region.commits() - before, 1u);
  region.cut();
  restart();
  EXPECT_EQ(all_here({"a", "b"}), "1 2 ");
}

TEST_P(TogetherTest, natives_are_told_versions_that_conditions_name) {
  EXPECT_EQ(version_there("a"), 0u);
  EXPECT_TRUE(put("a", "1").ok());
  const std::uint64_t version = version_there("a");
  EXPECT_NE(version, 0u);
  EXPECT_EQ(version, version_of("a"));
  settle();
  EXPECT_EQ(version_there("a"), version);
  const ConstBytes a = as_bytes("a");
  EXPECT_EQ(there({a_put("b", "2")}, {{a, version + 1}}).code(), Code::conflict);
  EXPECT_EQ(get("b"), "not_found");
  EXPECT_TRUE(there({a_put("a", "3")}, {{a, version}}).ok());
  EXPECT_EQ(there({a_put("a", "4")}, {{a, version}}).code(), Code::conflict);
  EXPECT_EQ(get("a"), "3");
  EXPECT_NE(version_there("a"), version);
}

TEST_P(TogetherTest, natives_name_a_key_in_one_condition) {
  const ConstBytes a = as_bytes("a");
  EXPECT_EQ(there({a_put("b", "1")}, {{a, 0}, {as_bytes("c"), 0}, {a, 0}}).code(),
            Code::invalid_argument);
  EXPECT_EQ(get("b"), "not_found");
  EXPECT_TRUE(there({a_put("b", "1")}, {{a, 0}, {as_bytes("c"), 0}}).ok());
}

TEST_P(TogetherTest, natives_write_more_than_a_message_holds) {
  std::vector<Write> writes;
  for (int i = 0; i < 500; ++i) {
    writes.push_back(a_put("key-" + std::to_string(i), std::string(300, 'v')));
  }
  writes.push_back(a_put("large", std::string(100'000, 'l')));
  EXPECT_TRUE(there(writes, {{as_bytes("key-7"), 0}}).ok());
  EXPECT_EQ(local().keys(), 501u);
  EXPECT_EQ(get_here("large"), std::string(100'000, 'l'));
  EXPECT_EQ(there(writes, {{as_bytes("key-7"), 0}}).code(), Code::conflict);
  writes.push_back(a_put("too much", std::string(4 << 20, 'l')));
  EXPECT_EQ(there(writes).code(), Code::no_space);
  EXPECT_EQ(get_here("too much"), "not_found");
}

TEST_P(TogetherTest, a_client_that_leaves_in_the_middle_leaves_nothing) {
  std::vector<Write> writes;
  for (int i = 0; i < 500; ++i) {
    writes.push_back(a_put("key-" + std::to_string(i), std::string(300, 'v')));
  }
  std::unique_ptr<StoreClient> other = connected_elsewhere();
  {
    Task<Status> half = other->write_together({{}, writes}, {});
    (void)loop_.run_for(20'000);
    EXPECT_FALSE(half.finished());
    network_.partition(elsewhere_.wire.id(), far_.wire.id());
    (void)loop_.run_for(5'000'000'000);
    EXPECT_TRUE(half.finished());
    EXPECT_FALSE(half.take().ok());
  }
  network_.heal(elsewhere_.wire.id(), far_.wire.id());
  other.reset();
  EXPECT_EQ(local().keys(), 0u);
  EXPECT_TRUE(there(writes).ok());
  EXPECT_EQ(local().keys(), 500u);
}

TEST_P(TogetherTest, readers_may_write_nothing) {
  std::unique_ptr<PendingClient> pending =
      engine_->start_client(Host(loop_, near_.nic, nullptr), {}).value();
  const PeerAddress server = server_->accept(pending->address(), Rights::read).value();
  const std::unique_ptr<StoreClient> reader =
      std::move(loop_.block_on(pending->connect(server))).value();
  const std::vector<Write> writes = {a_put("a", "1"), a_put("b", "2")};
  EXPECT_EQ(loop_.block_on(reader->write_together({{}, writes}, {})).code(),
            Code::permission_denied);
}

// --- Power cuts ---

TEST_P(TogetherTest, is_not_there_when_a_cut_took_a_part) {
  const std::string first = "the first value";
  const std::string middle = "the middle value";
  const std::string last = "the last value";
  for (const std::string& lost : {first, middle, last}) {
    start(4 << 20, {.create = true, .expected_keys = 16});
    put_here("a", "old");
    put_here("d", "deleted");
    sleep_ms(100);
    ASSERT_TRUE(write({a_put("a", first), a_put("b", middle), a_del("d"), a_put("c", last)}).ok());
    EXPECT_EQ(all_here({"a", "b", "c", "d"}), first + " " + middle + " " + last + " not_found ");
    lose(lost);
    for (int life = 0; life < 3; ++life) {
      restart();
      EXPECT_EQ(all_here({"a", "b", "c", "d"}), "old not_found not_found deleted ") << lost;
    }
    put_here("b", "new");
    restart();
    EXPECT_EQ(all_here({"a", "b", "c", "d"}), "old new not_found deleted ") << lost;
  }
}

TEST_P(TogetherTest, takes_what_came_later_along) {
  put_here("a", "old");
  sleep_ms(100);
  ASSERT_TRUE(write({a_put("a", "together"), a_put("b", "lost value")}).ok());
  put_here("a", "later");
  ASSERT_TRUE(write({a_put("c", "later"), a_put("d", "later")}).ok());
  lose("lost value");
  restart();
  EXPECT_EQ(all_here({"a", "b", "c", "d"}), "old not_found not_found not_found ");
  // No more of it is known when the power goes again.
  sleep_ms(600);
  restart();
  EXPECT_EQ(all_here({"a", "b", "c", "d"}), "old not_found not_found not_found ");
}

TEST_P(TogetherTest, is_damaged_and_not_lost_once_it_was_persistent) {
  put_here("a", "old");
  ASSERT_TRUE(write({a_put("a", "together"), a_put("b", "damaged value")}).ok());
  sleep_ms(100);
  damage("damaged value");
  restart();
  EXPECT_EQ(all_here({"a", "b"}), "together damaged ");
}

TEST_P(TogetherTest, survives_the_cleaning_of_a_part_of_it) {
  start(1 << 20, {.create = true, .expected_keys = 16, .cleaning = Cleaning::parts});
  const std::string value(3000, 'v');
  std::uint64_t version = 0;
  for (int i = 0; i < 600; ++i) {
    std::vector<Write> writes = {a_put("fixed", "f"),
                                 a_put("key-" + std::to_string(i % 30), value)};
    if (version != 0) {
      writes.erase(writes.begin());
    }
    writes.push_back(a_put("last", std::to_string(i)));
    Result<LocalStore::Mark> mark = write(writes);
    while (mark.code() == Code::no_space && loop_.block_on(local().room()).ok()) {
      mark = write(writes);
    }
    ASSERT_TRUE(mark.ok()) << i << ": " << mark.status().message();
    version = version_of("fixed");
    (void)loop_.run_for(20'000);
    texts_.clear();
  }
  EXPECT_GT(counter("cleaned_parts"), 2u);
  restart();
  EXPECT_EQ(get_here("last"), "599");
  EXPECT_EQ(get_here("fixed"), "f");
  EXPECT_EQ(get_here("key-29"), value);
  EXPECT_EQ(local().keys(), 32u);
}

TEST_P(TogetherTest, is_told_of_by_a_survey_as_by_recovery) {
  put_here("a", "old");
  sleep_ms(2000);  // a survey replays no log of the pool
  ASSERT_TRUE(write({a_put("a", "together"), a_put("b", "lost value")}).ok());
  put_here("c", "later");
  EXPECT_EQ(survey_store(region_->bytes(), pool_.get()).keys, 3u);
  lose("lost value");
  const Survey survey = survey_store(region_->bytes(), pool_.get());
  EXPECT_EQ(survey.keys, 1u);
  EXPECT_TRUE(survey.findings.empty());
}

}  // namespace
}  // namespace remora::kv
