#include <map>
#include <memory>
#include <string>

#include "kv/efactory/client.h"
#include "kv/efactory/engine.h"
#include "kv/store_testing.h"
#include "pmem/pmem_testing.h"

namespace remora::kv {
namespace {

// For flows that outlive the line in which they begin.
const std::string a_key = "key";
const std::string a_value = "value";

class EfactoryTest : public StoreFixture {
 protected:
  EfactoryTest() : StoreFixture(efactory::engine()) {}
};

TEST_F(EfactoryTest, reads_by_itself_what_is_durable) {
  EXPECT_TRUE(put("key", "value").ok());
  auto& client = static_cast<efactory::EfactoryClient&>(*client_);
  EXPECT_EQ(get("key"), "value");
  EXPECT_EQ(client.asked_gets(), 1u);
  settle();
  EXPECT_EQ(get("key"), "value");
  EXPECT_EQ(client.pure_gets(), 1u);
  EXPECT_FALSE(server_->busy());
}

// Of so many keys to so many windows, about ten find theirs full.
TEST_F(EfactoryTest, reads_by_itself_what_found_its_window_full) {
  constexpr int keys = 6000;
  start(16 << 20, {.create = true, .expected_keys = keys});
  for (int i = 0; i < keys; ++i) {
    ASSERT_TRUE(put("key-" + std::to_string(i), std::to_string(i)).ok());
  }
  settle();
  for (int i = 0; i < keys; ++i) {
    ASSERT_EQ(get("key-" + std::to_string(i)), std::to_string(i));
  }
  EXPECT_EQ(static_cast<efactory::EfactoryClient&>(*client_).pure_gets(), std::uint64_t{keys});
}

TEST_F(EfactoryTest, asks_always_without_hybrid_reads) {
  engine_ = &efactory::engine_without_hybrid_reads();
  start(4 << 20, {.create = true});
  EXPECT_TRUE(put("key", "value").ok());
  settle();
  EXPECT_EQ(get("key"), "value");
  EXPECT_EQ(static_cast<efactory::EfactoryClient&>(*client_).pure_gets(), 0u);
}

TEST_F(EfactoryTest, persists_a_put_that_asks_for_it) {
  EXPECT_TRUE(put("key", "value", {.durability = Durability::persistent}).ok());
  EXPECT_FALSE(server_->busy() && counter("awaited_versions") > 1);
  auto& client = static_cast<efactory::EfactoryClient&>(*client_);
  EXPECT_EQ(get("key"), "value");
  EXPECT_EQ(client.pure_gets(), 1u);
}

// The verifier takes a version out of the queue before it makes it persistent.
TEST_F(EfactoryTest, scans_list_what_a_get_finds) {
  const std::string key = "key";
  const std::string value = "new value";
  ASSERT_TRUE(put("there", "a value").ok());
  Task<Status> late = client_->put(bytes_of(key), bytes_of(value));
  while (damage(value) == 0) {
    ASSERT_EQ(loop_.step(), RunState::running);
  }
  ASSERT_TRUE(loop_.block_on(std::move(late)).ok());
  ASSERT_EQ(get(key), to_string(Code::not_found));
  EXPECT_EQ(scan(), (std::set<std::string>{"there"}));
  EXPECT_EQ(damage("new valud"), 1);  // now it has come
  EXPECT_EQ(scan(), (std::set<std::string>{"key", "there"}));
  EXPECT_EQ(get(key), value);
}

TEST_F(EfactoryTest, is_busy_until_everything_acknowledged_is_verified) {
  for (int i = 0; i < 40; ++i) {
    ASSERT_TRUE(put("key-" + std::to_string(i), std::string(500, 'v')).ok());
  }
  while (server_->busy()) {
    ASSERT_EQ(loop_.step(), RunState::running);
  }
  EXPECT_EQ(counter("awaited_versions"), 0u);
  EXPECT_EQ(counter("verified_versions"), 40u);
}

// What one client has on its way is bounded; it goes on when that has arrived, and others do not
// notice.
TEST_F(EfactoryTest, bounds_what_a_client_has_on_its_way) {
  start(4 << 20, {.create = true, .client_operations = 4, .client_bytes = 8192});
  std::unique_ptr<StoreClient> other = connected_elsewhere();
  const std::string value(1000, 'v');
  std::vector<std::string> keys;
  for (int i = 0; i < 12; ++i) {
    keys.push_back("key-" + std::to_string(i));
  }
  std::vector<Task<Status>> puts;
  for (const std::string& key : keys) {
    puts.push_back(client_->put(bytes_of(key), bytes_of(value), {}));
  }
  std::uint64_t most = 0;
  for (Task<Status>& one : puts) {
    while (!one.finished()) {
      ASSERT_EQ(loop_.step(), RunState::running);
      most = std::max(most, counter("awaited_versions"));
    }
    EXPECT_TRUE(one.take().ok());
  }
  EXPECT_LE(most, 4u);
  EXPECT_GE(most, 3u);
  EXPECT_TRUE(loop_.block_on(other->put(bytes_of("other"), bytes_of(value), {})).ok());
  const Status large = put("large", std::string(9000, 'v'));
  EXPECT_EQ(large.code(), Code::invalid_argument);
  EXPECT_NE(large.message().find("client_bytes"), std::string_view::npos) << large.message();
  settle();
  for (const std::string& key : keys) {
    EXPECT_EQ(get(key), value);
  }
}

TEST_F(EfactoryTest, cleans_its_log_for_ever) {
  start(1 << 20, {.create = true, .expected_keys = 16, .cleaning = Cleaning::whole});
  std::map<std::string, std::string> model;
  std::unique_ptr<StoreClient> other = connected();
  for (int i = 0; i < 6000; ++i) {
    const std::string key = "key-" + std::to_string(i * 7 % 50);
    model[key] =
        std::string(static_cast<std::size_t>(100 + i % 1500), static_cast<char>('a' + i % 26));
    const Status status = put(key, model[key]);
    ASSERT_TRUE(status.ok()) << i << ": " << status.message();
    if (i % 5 == 0) {
      const std::string asked = "key-" + std::to_string(i * 3 % 50);
      const std::string got = get(*other, asked);
      ASSERT_EQ(got, model.contains(asked) ? model[asked] : "not_found") << i;
    }
  }
  EXPECT_GT(counter("cleanings"), 5u);
  settle();
  for (const auto& [key, value] : model) {
    EXPECT_EQ(get(key), value);
  }
  start(0, {.create = false});
  for (const auto& [key, value] : model) {
    EXPECT_EQ(get(key), value);
  }
}

// Cleaning waits for every client to end what it began before. A put that waits for the disk cannot
// end before the disk has answered, however long that takes.
TEST_F(EfactoryTest, cleaning_cuts_off_nobody_who_waits_for_the_disk) {
  FakeRegion* disk = nullptr;
  make_region_ = [&](std::size_t size) {
    auto region = std::make_unique<FakeRegion>(size, Granularity::page);
    disk = region.get();
    return region;
  };
  const std::uint64_t patience_ns = 1'000'000;
  start(1 << 20, {.create = true, .clean_always = true, .client_timeout_ns = patience_ns});
  const std::uint64_t rounds = counter("rounds");
  const std::string value(1000, 'v');
  Task<Status> slow = client_->put(bytes_of(a_key), bytes_of(value), {Durability::persistent});
  (void)loop_.run_for(10 * patience_ns);
  EXPECT_GT(counter("rounds"), rounds) << "cleaning has begun";
  EXPECT_FALSE(slow.finished());
  EXPECT_TRUE(client_->failure().ok()) << client_->failure().message();
  disk->commit();
  disk->commit_when_asked();
  const Status status = loop_.block_on(std::move(slow));
  EXPECT_TRUE(status.ok()) << status.message();
  (void)loop_.run_for(10 * patience_ns);
  EXPECT_GT(counter("cleanings"), 0u);
  EXPECT_EQ(get("key"), value);
}

TEST_F(EfactoryTest, cleaning_does_not_wait_for_ever) {
  make_region_ = [](std::size_t size) {
    return std::make_unique<FakeRegion>(size, Granularity::page);
  };
  const std::uint64_t patience_ns = 1'000'000;
  start(1 << 20, {.create = true, .clean_always = true, .client_timeout_ns = patience_ns});
  Task<Status> slow = client_->put(bytes_of(a_key), bytes_of(a_value), {Durability::persistent});
  (void)loop_.run_for(50 * patience_ns);
  EXPECT_EQ(server_->clients(), 0u);
  EXPECT_FALSE(loop_.block_on(std::move(slow)).ok());
}

TEST_F(EfactoryTest, cleaning_goes_on_without_a_client_that_is_silent) {
  const std::uint64_t patience_ns = 1'000'000;
  start(1 << 20, {.create = true, .client_timeout_ns = patience_ns});
  std::unique_ptr<StoreClient> silent = connected_elsewhere();
  network_.partition(elsewhere_.wire.id(), far_.wire.id());
  const std::string value(1000, 'v');
  for (int i = 0; i < 2000; ++i) {
    const Status status = put("key", value);
    ASSERT_TRUE(status.ok()) << i << ": " << status.message();
  }
  EXPECT_GT(counter("cleaned_parts"), 0u);
  EXPECT_EQ(server_->clients(), 1u);
  EXPECT_TRUE(client_->failure().ok());
}

// Each leaves copies of what lives; together they must not take the room that cleaning needs.
TEST_F(EfactoryTest, any_number_of_cleanings_may_be_cut_short) {
  start(1 << 20, {.create = true, .expected_keys = 16, .cleaning = Cleaning::whole});
  std::map<std::string, std::string> model;
  int puts = 0;
  int cut_short = 0;
  for (int life = 0; life < 60; ++life) {
    const auto moved = static_cast<std::uint64_t>(1 + life * 13 % 60);
    for (int i = 0; i < 3000 && counter("moved_versions") < moved; ++i, ++puts) {
      const std::string key = "key-" + std::to_string(puts * 7 % 100);
      if (puts % 10 == 9) {
        ASSERT_TRUE(del(key).ok());
        model.erase(key);
        continue;
      }
      model[key] = std::string(static_cast<std::size_t>(100 + puts * 31 % 2900),
                               static_cast<char>('a' + puts % 26));
      const Status status = put(key, model[key], {Durability::persistent});
      ASSERT_TRUE(status.ok()) << "life " << life << ": " << status.message();
    }
    cut_short += counter("cleanings") == 0 ? 1 : 0;
    start(0, {.cleaning = Cleaning::whole});
    for (const auto& [key, value] : model) {
      ASSERT_EQ(get(key), value) << "life " << life;
    }
  }
  EXPECT_GT(cut_short, 40);
}

TEST_F(EfactoryTest, says_that_it_is_full_and_goes_on_when_something_is_deleted) {
  start(1 << 20, {.create = true, .expected_keys = 16});
  const std::string value(4000, 'v');
  int count = 0;
  Status status;
  while ((status = put("key-" + std::to_string(count), value)).ok()) {
    ASSERT_LT(++count, 1000);
  }
  EXPECT_EQ(status.code(), Code::no_space) << status.message();
  EXPECT_GT(count, 50);
  for (int i = 0; i < count; ++i) {
    EXPECT_EQ(get("key-" + std::to_string(i)), value);
  }
  for (int i = 0; i < count / 2; ++i) {
    EXPECT_TRUE(del("key-" + std::to_string(i)).ok());
  }
  for (int i = 0; i < count / 4; ++i) {
    status = put("new-" + std::to_string(i), value);
    EXPECT_TRUE(status.ok()) << status.message();
  }
}

// On page media, whose commits are made when the test says so.
class EfactoryPagesTest : public EfactoryTest {
 protected:
  EfactoryPagesTest() {
    make_region_ = [](std::size_t size) {
      return std::make_unique<FakeRegion>(size, Granularity::page);
    };
    start(4 << 20, {.create = true, .expected_keys = 16});
  }
  FakeRegion& pages() { return static_cast<FakeRegion&>(*region_); }
  void cut_and_restart() {
    client_.reset();
    server_.reset();
    pool_.reset();
    pages().cut();
    pages().commit_when_asked();
    restart();
  }
  void pass_ms(std::uint64_t span) { (void)loop_.run_for(span * 1'000'000); }

  static constexpr PutOptions persistent = {.durability = Durability::persistent};
};

TEST_F(EfactoryPagesTest, persistent_puts_share_one_commit_and_need_no_other) {
  const std::uint64_t before = pages().commits();
  std::vector<std::string> keys;
  for (int i = 0; i < 8; ++i) {
    keys.push_back("key-" + std::to_string(i));
  }
  std::vector<Task<Status>> puts;
  for (const std::string& key : keys) {
    puts.push_back(client_->put(bytes_of(key), bytes_of(std::string(300, 'v')), persistent));
  }
  pass_ms(1);
  for (const Task<Status>& one : puts) {
    EXPECT_FALSE(one.finished());
  }
  pages().commit();
  for (Task<Status>& one : puts) {
    EXPECT_TRUE(loop_.block_on(std::move(one)).ok());
  }
  pages().commit_when_asked();
  pass_ms(100);
  EXPECT_EQ(pages().commits(), before + 1);
  EXPECT_FALSE(server_->busy());
  EXPECT_EQ(get("key-3"), std::string(300, 'v'));
  EXPECT_EQ(static_cast<efactory::EfactoryClient&>(*client_).pure_gets(), 1u);
}

TEST_F(EfactoryPagesTest, what_a_persistent_put_left_survives_a_cut) {
  Task<Status> one = client_->put(bytes_of(a_key), bytes_of(a_value), persistent);
  pass_ms(1);
  pages().commit();
  EXPECT_TRUE(loop_.block_on(std::move(one)).ok());
  cut_and_restart();
  EXPECT_EQ(get("key"), "value");
}

TEST_F(EfactoryPagesTest, verifies_a_value_whose_client_was_to_ask_and_is_gone) {
  pages().commit_when_asked();
  {
    const AbandonScope dies;
    Task<Status> one = client_->put(bytes_of(a_key), bytes_of(a_value), persistent);
    while (counter("awaited_versions") == 0) {
      ASSERT_EQ(loop_.step(), RunState::running);
    }
  }
  client_.reset();
  pass_ms(200);
  EXPECT_EQ(counter("verified_versions") + counter("invalidated_versions"), 1u);
  EXPECT_FALSE(server_->busy());
}

// A process that is killed while it cleans, one that recovers and is gone again, and then a cut.
class EfactoryKilledTest : public EfactoryPagesTest,
                           public testing::WithParamInterface<Cleaning> {};

INSTANTIATE_TEST_SUITE_P(cleaning, EfactoryKilledTest,
                         testing::Values(Cleaning::whole, Cleaning::parts, Cleaning::cheapest),
                         [](const testing::TestParamInfo<Cleaning>& param) {
                           return param.param == Cleaning::whole   ? "whole"
                                  : param.param == Cleaning::parts ? "parts"
                                                                   : "cheapest";
                         });

TEST_P(EfactoryKilledTest, a_kill_in_a_cleaning_and_a_cut_after_it_lose_nothing) {
  start(1 << 20, {.create = true, .expected_keys = 16, .cleaning = GetParam()});
  pages().commit_when_asked();
  std::map<std::string, std::string> model;
  std::size_t puts = 0;
  int lost = 0;
  for (std::size_t life = 0; life < 40; ++life) {
    for (int i = 0; i < 3000 && counter("moved_versions") < 1u + life * 7 % 60; ++i, ++puts) {
      const std::string key = "key-" + std::to_string(puts * 7 % 100);
      model[key] = "persistent " + std::to_string(puts) + std::string(100 + puts * 31 % 1900, 'p');
      ASSERT_TRUE(put(key, model[key], persistent).ok());
    }
    // Newer versions, at the last of which the server has not looked when it dies.
    std::map<std::string, std::string> visible;
    std::deque<Task<Status>> unverified;
    for (const auto& [key, value] : model) {
      visible[key] = "visible " + std::to_string(++puts);
    }
    for (const auto& [key, value] : visible) {
      unverified.push_back(client_->put(bytes_of(key), bytes_of(value)));
    }
    for (Task<Status>& one : unverified) {
      (void)loop_.block_on(std::move(one));
    }
    client_.reset();
    server_.reset();
    pool_ = Pool::open(*region_, "test").value();
    // It recovers, and has no time for anything else.
    server_ = engine_->start_server(Host(loop_, far_.nic, region_.get()), *pool_, {}).value();
    server_.reset();
    pool_.reset();
    pages().cut();
    start(0, {.cleaning = GetParam()});
    for (auto& [key, value] : model) {
      const std::string found = get(key);
      if (found != value) {
        ASSERT_TRUE(visible.contains(key)) << key << " of life " << life;
        ASSERT_EQ(found, visible[key]) << key << " of life " << life;
        value = found;
      } else if (visible.contains(key)) {
        ++lost;
      }
    }
  }
  // A part that is cleaned makes what it rests on durable.
  EXPECT_TRUE(lost > 0 || GetParam() != Cleaning::whole) << "the cuts took nothing";
}

// A value that comes too late: the last byte of it is wrong until the test lets it come.
class EfactoryLateTest : public EfactoryPagesTest {
 protected:
  EfactoryLateTest() {
    start(4 << 20, {.create = true, .expected_keys = 16, .put_timeout_ns = 1'000'000});
    EXPECT_TRUE(put("key", "old value").ok());
    while (server_->busy()) {
      pages().commit();
      pass_ms(1);
    }
    Task<Status> late = client_->put(bytes_of(a_key), bytes_of(value_));
    while (damage("new value") == 0) {
      EXPECT_EQ(loop_.step(), RunState::running);
    }
    EXPECT_TRUE(loop_.block_on(std::move(late)).ok());
    pass_ms(3);
    EXPECT_EQ(counter("invalidated_versions"), 1u);
    EXPECT_EQ(get("key"), "old value");
  }
  void value_comes() { EXPECT_EQ(damage("new valud"), 1); }

  const std::string value_ = "new value";
};

// A cut could take the mark and leave the value, which was told not to be there. So it is there.
TEST_F(EfactoryLateTest, a_value_counts_that_comes_before_its_mark_is_persistent) {
  value_comes();
  std::string found(100, 0);
  Task<Result<std::size_t>> one =
      client_->get(bytes_of(a_key), std::as_writable_bytes(std::span(found)));
  pass_ms(1);
  EXPECT_FALSE(one.finished()) << "what a get returns is persistent first";
  pages().commit();
  const Result<std::size_t> size = loop_.block_on(std::move(one));
  ASSERT_TRUE(size.ok()) << size.status().message();
  EXPECT_EQ(found.substr(0, *size), "new value");
  cut_and_restart();
  EXPECT_EQ(get("key"), "new value");
}

TEST_F(EfactoryLateTest, a_value_counts_no_more_that_comes_after_its_mark_is_persistent) {
  pages().commit();
  pass_ms(1);
  value_comes();
  pages().commit_when_asked();
  EXPECT_EQ(get("key"), "old value");
  cut_and_restart();
  EXPECT_EQ(get("key"), "old value");
}

}  // namespace
}  // namespace remora::kv
