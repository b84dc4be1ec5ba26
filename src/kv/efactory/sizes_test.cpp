// The size of the index follows the keys that there are.
#include <gtest/gtest.h>

#include <string>

#include "kv/efactory/client.h"
#include "kv/efactory/engine.h"
#include "kv/local_store.h"
#include "kv/store_testing.h"
#include "pmem/pmem_testing.h"

namespace remora::kv {
namespace {

constexpr std::uint64_t millisecond = 1'000'000;

class IndexSizes : public StoreFixture, public testing::WithParamInterface<Granularity> {
 protected:
  IndexSizes() : StoreFixture(efactory::engine()) {
    make_region_ = [](std::size_t size) {
      auto region = std::make_unique<FakeRegion>(size, GetParam());
      region->commit_when_asked();
      return region;
    };
    start(8 << 20, {.create = true, .expected_keys = 1});
  }
  LocalStore& local() { return *server_->local(); }
  void put_here(int number, LocalStore::Expiry expires = 0) {
    const ConstBytes piece = as_bytes("value");
    EXPECT_TRUE(local().put(bytes_of(name(number)), std::span(&piece, 1), expires).ok());
  }
  void del_here(int number) { EXPECT_TRUE(local().del(bytes_of(name(number))).ok()); }
  static std::string name(int number) { return "key-" + std::to_string(number); }
  void clear_here() {
    Result<LocalStore::Mark> mark = local().clear();
    for (int tries = 0; mark.code() == Code::in_use && tries < 3; ++tries) {
      EXPECT_TRUE(loop_.block_on(local().room()).ok());
      mark = local().clear();
    }
    EXPECT_TRUE(mark.ok()) << mark.status().message();
  }
  void rest() { (void)loop_.run_for(200 * millisecond); }
  // Round trips of a scan, ten keys in each.
  int trips() {
    struct Sink final : ScanSink {
      void key(ConstBytes) override {}
    } sink;
    int trips = 0;
    ScanCursor cursor = 0;
    do {
      cursor = local().scan(cursor, 10, sink);
      ++trips;
    } while (cursor != 0);
    return trips;
  }
};

INSTANTIATE_TEST_SUITE_P(media, IndexSizes,
                         testing::Values(Granularity::cache_line, Granularity::page),
                         [](const testing::TestParamInfo<Granularity>& param) {
                           return param.param == Granularity::page ? "page" : "cache_line";
                         });

TEST_P(IndexSizes, shrinks_after_deletions_and_grows_again) {
  const std::uint64_t empty_bytes = counter("index_bytes");
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 3'000; ++i) {
      put_here(i);
    }
    rest();
    EXPECT_GT(counter("index_bytes"), 100 * empty_bytes);
    EXPECT_GT(trips(), 100);
    for (int i = 0; i < 3'000; ++i) {
      if (i != 1'234) {
        del_here(i);
      }
    }
    rest();
    EXPECT_LE(counter("index_bytes"), 4 * empty_bytes);
    EXPECT_LE(trips(), 4);
    EXPECT_EQ(get(name(1'234)), "value");
    EXPECT_EQ(get(name(7)), "not_found");
    EXPECT_EQ(local().keys(), 1u);
  }
  restart();
  EXPECT_EQ(local().keys(), 1u);
  EXPECT_EQ(get(name(1'234)), "value");
}

TEST_P(IndexSizes, shrinks_when_keys_expire) {
  for (int i = 0; i < 3'000; ++i) {
    put_here(i, loop_.wall_ms() + 50);
  }
  put_here(5'000);
  (void)loop_.run_for(2'000 * millisecond);
  EXPECT_EQ(counter("expired_keys"), 3'000u);
  EXPECT_LE(trips(), 4);
  EXPECT_EQ(scan(), std::set<std::string>{name(5'000)});
}

// Clients that READ go on, and find what is there.
TEST_P(IndexSizes, readers_go_on_while_it_shrinks) {
  for (int i = 0; i < 2'000; ++i) {
    put_here(i);
  }
  rest();
  int wrong = 0;
  int looks = 0;
  for (int i = 0; i < 2'000; ++i) {
    if (i % 100 != 0) {
      del_here(i);
    }
    if (i % 10 == 0) {
      wrong += get(name(i / 1'000 * 1'000)) == "value" ? 0 : 1;
      wrong += get(name(1'900)) == "value" ? 0 : 1;
      wrong += i > 50 && get(name(i - 9)) != "not_found" ? 1 : 0;
      ++looks;
    }
  }
  rest();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(looks, 200);
  const std::uint64_t pure = static_cast<efactory::EfactoryClient&>(*client_).pure_gets();
  EXPECT_EQ(get(name(100)), "value");
  EXPECT_EQ(static_cast<efactory::EfactoryClient&>(*client_).pure_gets(), pure + 1);
}

TEST_P(IndexSizes, clearing_leaves_the_smallest_index_and_all_space) {
  const std::uint64_t empty_bytes = counter("index_bytes");
  const std::uint64_t empty_log_bytes = counter("log_bytes_in_use");
  for (int i = 0; i < 3'000; ++i) {
    put_here(i, i % 2 == 0 ? 0 : loop_.wall_ms() + 100'000);
  }
  rest();
  EXPECT_GT(counter("log_bytes_in_use"), 2 * empty_log_bytes + 200'000);
  clear_here();
  EXPECT_EQ(local().keys(), 0u);
  EXPECT_EQ(local().keys_with_expiry(), 0u);
  EXPECT_EQ(counter("index_bytes"), empty_bytes);
  EXPECT_EQ(get(name(8)), "not_found");
  put_here(8);
  EXPECT_EQ(local().keys(), 1u);
  EXPECT_EQ(get(name(8)), "value");
  rest();
  EXPECT_EQ(trips(), 1);
  EXPECT_LE(counter("log_bytes_in_use"), empty_log_bytes + (256 << 10));
  restart();
  EXPECT_EQ(scan(), std::set<std::string>{name(8)});
  EXPECT_EQ(local().keys(), 1u);
  EXPECT_EQ(get(name(9)), "not_found");
}

TEST_P(IndexSizes, a_store_that_is_full_takes_as_much_again_after_a_clearing) {
  const std::string value(30'000, 'v');
  const ConstBytes piece = bytes_of(value);
  const auto fill = [&] {
    int puts = 0;
    for (int refusals = 0; refusals < 3;) {
      if (local().put(bytes_of(name(puts)), std::span(&piece, 1)).ok()) {
        ++puts;
        refusals = 0;
      } else {
        ++refusals;
        (void)loop_.block_on(local().room());
      }
    }
    return puts;
  };
  const int first = fill();
  EXPECT_GT(first, 60);
  for (int round = 0; round < 5; ++round) {
    clear_here();
    EXPECT_GE(fill() + 4, first);
  }
}

// Nobody finds by READs what is gone, nor does a value bring its key back that was on its way.
TEST_P(IndexSizes, clients_that_read_and_write_meanwhile_find_nothing_that_is_gone) {
  const std::unique_ptr<StoreClient> other = connected_elsewhere();
  for (int round = 0; round < 20; ++round) {
    for (int i = 0; i < 50; ++i) {
      put_here(i);
    }
    rest();
    EXPECT_EQ(get(*other, name(3)), "value");
    const std::string large(20'000, 'n');
    Task<Status> slow = client_->put(bytes_of(name(60)), bytes_of(large), {});
    (void)loop_.run_for(static_cast<std::uint64_t>(round) * 300);
    const bool was_acknowledged = slow.finished();
    clear_here();
    EXPECT_EQ(get(*other, name(3)), "not_found");
    EXPECT_EQ(get(name(3)), "not_found");
    EXPECT_TRUE(loop_.block_on(std::move(slow)).ok());
    const std::string after = get(*other, name(60));
    EXPECT_TRUE(after == "not_found" || (!was_acknowledged && after == large));
    EXPECT_EQ(get(name(60)), after);
  }
}

TEST_P(IndexSizes, clearing_ends_a_change_of_size) {
  for (int round = 0; round < 30; ++round) {
    for (int i = 0; i < 400; ++i) {
      put_here(i);
    }
    (void)loop_.run_for(static_cast<std::uint64_t>(round) * 2'000);
    clear_here();
    EXPECT_EQ(local().keys(), 0u);
    EXPECT_EQ(get(name(7)), "not_found");
    put_here(7);
    EXPECT_EQ(get(name(7)), "value");
  }
  rest();
  EXPECT_EQ(scan(), std::set<std::string>{name(7)});
}

TEST_P(IndexSizes, expired_keys_do_not_count_before_they_are_deleted) {
  for (int i = 0; i < 500; ++i) {
    put_here(i, loop_.wall_ms() + 5 + static_cast<std::uint64_t>(i % 2) * 100'000);
  }
  const std::uint64_t before = counter("expired_keys");
  loop_.set_wall_ahead(20);
  EXPECT_EQ(counter("expired_keys"), before);
  EXPECT_EQ(local().keys(), 250u);
  EXPECT_EQ(local().keys_with_expiry(), 250u);
}

}  // namespace
}  // namespace remora::kv
