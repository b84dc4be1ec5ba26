#include "pmem/pool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <string>

#include "base/random.h"
#include "pmem/open_region.h"
#include "pmem/pmem_testing.h"

namespace remora {
namespace {

constexpr pool_format::Uuid some_uuid = {7};

class PoolTest : public testing::TestWithParam<Granularity> {
 protected:
  PoolTest() { keep(Pool::create(region_, some_uuid)); }

  void keep(Result<std::unique_ptr<Pool>> pool) {
    ASSERT_TRUE(pool.ok()) << pool.status().message();
    pool_ = std::move(pool).value();
  }
  // The process is killed: no shutdown, and memory is as it was.
  void reopen() {
    pool_.reset();
    keep(Pool::open(region_, "the pool"));
  }
  // The power is cut: what is not persistent is gone.
  void cut_and_reopen() {
    pool_.reset();
    region_.cut();
    keep(Pool::open(region_, "the pool"));
  }
  Offset reserve(std::uint64_t size_bytes) {
    Result<Offset> offset = pool_->reserve(size_bytes);
    EXPECT_TRUE(offset.ok()) << offset.status().message();
    return offset.ok() ? *offset : 0;
  }
  void commit(const Transaction& transaction) {
    Result<Ticket> ticket = pool_->commit(transaction);
    ASSERT_TRUE(ticket.ok()) << ticket.status().message();
    const Status status = pool_->wait(*ticket);
    ASSERT_TRUE(status.ok()) << status.message();
  }
  // An object with that text, under that root.
  Offset make(const std::string& root, const std::string& text, bool sealed = false) {
    const Offset offset = reserve(text.size());
    std::memcpy(pool_->object(offset).data(), text.data(), text.size());
    Transaction transaction;
    EXPECT_TRUE((sealed ? transaction.publish_sealed(offset, text.size())
                        : transaction.publish(offset, text.size()))
                    .ok());
    EXPECT_TRUE(transaction.set_root(root, offset).ok());
    commit(transaction);
    return offset;
  }
  void remove(const std::string& root) {
    Transaction transaction;
    ASSERT_TRUE(transaction.free(*pool_->root(root)).ok());
    ASSERT_TRUE(transaction.set_root(root, 0).ok());
    commit(transaction);
  }
  std::string text_at(const std::string& root, std::size_t size) {
    Result<Offset> offset = pool_->root(root);
    return offset.ok() ? std::string(as_text(pool_->object(*offset).first(size))) : "no such root";
  }

  FakeRegion region_{pool_format::smallest_pool_bytes, GetParam()};
  std::unique_ptr<Pool> pool_;
};

INSTANTIATE_TEST_SUITE_P(Media, PoolTest,
                         testing::Values(Granularity::byte, Granularity::cache_line,
                                         Granularity::page),
                         [](const auto& media) {
                           return media.param == Granularity::page         ? "page"
                                  : media.param == Granularity::cache_line ? "cache_line"
                                                                           : "byte";
                         });

TEST_P(PoolTest, a_new_pool_is_empty) {
  EXPECT_TRUE(pool_->root_names().empty());
  EXPECT_EQ(pool_->root("any").code(), Code::not_found);
  const PoolUsage usage = pool_->usage();
  EXPECT_EQ(usage.size_bytes, pool_format::smallest_pool_bytes);
  EXPECT_EQ(usage.object_count, 0u);
  EXPECT_EQ(usage.object_bytes, 0u);
  EXPECT_EQ(usage.free_bytes, pool_->header().block_count * pool_format::block_bytes);
  EXPECT_EQ(usage.largest_free_bytes, usage.free_bytes);
}

TEST_P(PoolTest, an_empty_pool_opens_again) {
  cut_and_reopen();
  EXPECT_EQ(pool_->header().uuid, some_uuid);
  EXPECT_EQ(pool_->replayed_records(), 0u);
}

TEST_P(PoolTest, create_refuses_what_is_there_already) {
  EXPECT_EQ(Pool::create(region_, some_uuid).code(), Code::already_exists);
}

TEST_P(PoolTest, create_refuses_a_region_that_is_too_small) {
  FakeRegion small(pool_format::smallest_pool_bytes - 1, GetParam());
  EXPECT_EQ(Pool::create(small, some_uuid).code(), Code::invalid_argument);
  EXPECT_EQ(Pool::open(small, "the pool").code(), Code::damaged);
}

TEST_P(PoolTest, open_refuses_a_region_without_a_pool) {
  FakeRegion blank(pool_format::smallest_pool_bytes, GetParam());
  EXPECT_EQ(Pool::open(blank, "the pool").code(), Code::damaged);
}

TEST_P(PoolTest, what_a_root_leads_to_is_found_again) {
  make("greeting", "hello");
  make("farewell", "good bye", true);
  reopen();
  EXPECT_EQ(text_at("greeting", 5), "hello");
  EXPECT_EQ(text_at("farewell", 8), "good bye");
  cut_and_reopen();
  EXPECT_EQ(text_at("greeting", 5), "hello");
  EXPECT_EQ(text_at("farewell", 8), "good bye");
}

TEST_P(PoolTest, reserved_space_is_free_after_reopening) {
  reserve(64);
  reserve(10'000);
  EXPECT_LT(pool_->usage().free_bytes, pool_->header().block_count * pool_format::block_bytes);
  reopen();
  EXPECT_EQ(pool_->usage().free_bytes, pool_->header().block_count * pool_format::block_bytes);
}

TEST_P(PoolTest, cancelled_space_is_free_at_once) {
  const Offset offset = reserve(10'000);
  ASSERT_TRUE(pool_->cancel(offset).ok());
  EXPECT_EQ(pool_->usage().free_bytes, pool_->header().block_count * pool_format::block_bytes);
  EXPECT_EQ(pool_->cancel(offset).code(), Code::invalid_argument);
}

TEST_P(PoolTest, an_unacknowledged_transaction_is_whole_or_absent_after_a_cut) {
  const Offset offset = reserve(100);
  Transaction transaction;
  ASSERT_TRUE(transaction.publish_sealed(offset, 100).ok());
  ASSERT_TRUE(transaction.set_root("r", offset).ok());
  Result<Ticket> ticket = pool_->commit(transaction);
  ASSERT_TRUE(ticket.ok());
  const bool persistent = pool_->persistent(*ticket);
  EXPECT_EQ(persistent, GetParam() != Granularity::page);
  cut_and_reopen();
  EXPECT_EQ(pool_->root("r").ok(), persistent);
  EXPECT_EQ(pool_->usage().object_count, persistent ? 1u : 0u);
  EXPECT_EQ(pool_->is_live(offset), persistent);
}

TEST_P(PoolTest, a_transaction_with_sealed_objects_only_does_not_block) {
  const std::uint64_t blocked = region_.blocked();
  const Offset offset = reserve(100);
  Transaction transaction;
  ASSERT_TRUE(transaction.publish_sealed(offset, 100).ok());
  ASSERT_TRUE(pool_->commit(transaction).ok());
  EXPECT_EQ(region_.blocked(), blocked);
}

TEST_P(PoolTest, words_are_read_back_before_and_after_the_commit) {
  const Offset offset = make("r", "a word will be here");
  Transaction transaction;
  ASSERT_TRUE(transaction.set(offset + 8, 1234).ok());
  Result<Ticket> ticket = pool_->commit(transaction);
  ASSERT_TRUE(ticket.ok());
  EXPECT_EQ(pool_->load(offset + 8), 1234u);
  ASSERT_TRUE(pool_->wait(*ticket).ok());
  EXPECT_EQ(pool_->load(offset + 8), 1234u);
  cut_and_reopen();
  EXPECT_EQ(pool_->load(offset + 8), 1234u);
}

TEST_P(PoolTest, the_last_of_two_values_for_one_word_counts) {
  const Offset offset = make("r", "12345678");
  Transaction transaction;
  ASSERT_TRUE(transaction.set(offset, 1).ok());
  ASSERT_TRUE(transaction.set(offset, 2).ok());
  commit(transaction);
  EXPECT_EQ(pool_->load(offset), 2u);
}

TEST_P(PoolTest, a_word_may_be_set_in_an_object_that_is_published_with_it) {
  const Offset offset = reserve(64);
  Transaction transaction;
  ASSERT_TRUE(transaction.publish(offset, 64).ok());
  ASSERT_TRUE(transaction.set(offset + 56, 5).ok());
  ASSERT_TRUE(transaction.set_root("r", offset).ok());
  commit(transaction);
  cut_and_reopen();
  EXPECT_EQ(pool_->load(offset + 56), 5u);
}

TEST_P(PoolTest, an_empty_transaction_is_fine) {
  commit(Transaction{});
  cut_and_reopen();
  EXPECT_EQ(pool_->usage().object_count, 0u);
}

TEST_P(PoolTest, a_root_is_created_replaced_and_removed) {
  const Offset first = make("r", "first");
  const Offset second = reserve(64);
  Transaction replace;
  ASSERT_TRUE(replace.publish(second, 64).ok());
  ASSERT_TRUE(replace.free(first).ok());
  ASSERT_TRUE(replace.set_root("r", second).ok());
  commit(replace);
  EXPECT_EQ(*pool_->root("r"), second);
  EXPECT_EQ(pool_->root_names().size(), 1u);
  cut_and_reopen();
  EXPECT_EQ(*pool_->root("r"), second);
  EXPECT_FALSE(pool_->is_live(first));
  remove("r");
  EXPECT_EQ(pool_->root("r").code(), Code::not_found);
  cut_and_reopen();
  EXPECT_EQ(pool_->root("r").code(), Code::not_found);
  EXPECT_EQ(pool_->usage().object_count, 0u);
}

TEST_P(PoolTest, several_roots_may_lead_to_one_object) {
  const Offset offset = make("a", "shared");
  Transaction transaction;
  ASSERT_TRUE(transaction.set_root("b", offset).ok());
  commit(transaction);
  cut_and_reopen();
  EXPECT_EQ(*pool_->root("a"), *pool_->root("b"));
}

TEST_P(PoolTest, a_root_name_may_have_48_bytes) {
  const std::string name(48, 'n');
  make(name, "long");
  cut_and_reopen();
  EXPECT_EQ(text_at(name, 4), "long");
  EXPECT_EQ(pool_->root_names(), std::vector<std::string>{name});
  EXPECT_EQ(pool_->root(std::string(47, 'n')).code(), Code::not_found);
  EXPECT_EQ(pool_->root(std::string(49, 'n')).code(), Code::not_found);
}

TEST_P(PoolTest, there_are_64_roots) {
  for (int i = 0; i < 64; ++i) {
    make("root " + std::to_string(i), std::to_string(i));
  }
  const Offset offset = reserve(64);
  Transaction transaction;
  ASSERT_TRUE(transaction.publish(offset, 64).ok());
  ASSERT_TRUE(transaction.set_root("one more", offset).ok());
  EXPECT_EQ(pool_->commit(transaction).code(), Code::no_space);
  EXPECT_FALSE(pool_->is_live(offset));
  remove("root 30");
  commit(transaction);
  cut_and_reopen();
  EXPECT_EQ(pool_->root_names().size(), 64u);
  EXPECT_EQ(text_at("root 63", 2), "63");
  EXPECT_TRUE(pool_->root("one more").ok());
}

TEST_P(PoolTest, usage_counts_what_is_live) {
  make("a", std::string(100, 'a'));
  make("b", std::string(5000, 'b'));
  const PoolUsage usage = pool_->usage();
  EXPECT_EQ(usage.object_count, 2u);
  EXPECT_EQ(usage.object_bytes, 128u + 5120u);
  EXPECT_EQ(usage.free_bytes, (pool_->header().block_count - 1 - 5) * pool_format::block_bytes);
  EXPECT_LE(usage.largest_free_bytes, usage.free_bytes);
  std::map<Offset, std::uint64_t> seen;
  pool_->for_each_object(
      [&seen](Offset offset, std::uint64_t size_bytes) { seen.emplace(offset, size_bytes); });
  EXPECT_EQ(seen,
            (std::map<Offset, std::uint64_t>{{*pool_->root("a"), 128}, {*pool_->root("b"), 5120}}));
}

TEST_P(PoolTest, a_full_pool_has_room_again_after_a_free) {
  int made = 0;
  Result<Offset> offset = pool_->reserve(20'000);
  for (; offset.ok(); offset = pool_->reserve(20'000)) {
    Transaction transaction;
    ASSERT_TRUE(transaction.publish(*offset, 20'000).ok());
    ASSERT_TRUE(transaction.set_root(std::to_string(made++), *offset).ok());
    commit(transaction);
  }
  EXPECT_EQ(offset.code(), Code::no_space);
  ASSERT_GT(made, 2);
  for (int round = 0; round < 50; ++round) {
    const std::string root = std::to_string(round % made);
    remove(root);
    make(root, std::string(20'000, 'x'));
    ASSERT_EQ(pool_->reserve(20'000).code(), Code::no_space);
  }
  cut_and_reopen();
  EXPECT_EQ(pool_->usage().object_count, static_cast<std::uint64_t>(made));
}

TEST_P(PoolTest, leaks_nothing_over_many_lives) {
  Random random(5);
  std::map<std::string, std::string> model;
  for (int life = 0; life < 30; ++life) {
    for (int step = 0; step < 20; ++step) {
      const std::string root = "r" + std::to_string(random.below(12));
      if (model.contains(root)) {
        remove(root);
        model.erase(root);
      } else {
        model[root] = std::string(random.between(1, 9000), static_cast<char>('a' + life % 26));
        make(root, model[root], random.chance(1, 2));
      }
    }
    reserve(random.between(1, 5000));  // never published
    random.chance(1, 2) ? reopen() : cut_and_reopen();
    ASSERT_EQ(pool_->usage().object_count, model.size());
    ASSERT_EQ(pool_->root_names().size(), model.size());
    for (const auto& [root, text] : model) {
      ASSERT_EQ(text_at(root, text.size()), text);
    }
  }
}

TEST(PoolFailure, closes_the_pool_for_good) {
  FakeRegion region(pool_format::smallest_pool_bytes, Granularity::page);
  Result<std::unique_ptr<Pool>> pool = Pool::create(region, some_uuid);
  ASSERT_TRUE(pool.ok());
  const Offset offset = *(*pool)->reserve(64);
  region.fail();
  Transaction transaction;
  ASSERT_TRUE(transaction.publish(offset, 64).ok());
  EXPECT_EQ((*pool)->commit(transaction).code(), Code::io_error);
  EXPECT_EQ((*pool)->commit(Transaction{}).code(), Code::io_error);
  EXPECT_EQ((*pool)->reserve(64).code(), Code::io_error);
  EXPECT_EQ((*pool)->wait(Ticket{}).code(), Code::io_error);
}

TEST(PoolSizes, objects_have_64_bytes_to_64_megabytes) {
  Result<std::unique_ptr<Region>> region = make_dram(192 << 20);
  ASSERT_TRUE(region.ok());
  Result<std::unique_ptr<Pool>> pool = Pool::create(**region, some_uuid);
  ASSERT_TRUE(pool.ok());
  std::map<std::string, std::uint64_t> sizes;
  for (std::uint64_t size_bytes = 64; size_bytes <= 64 << 20; size_bytes *= 2) {
    Result<Offset> offset = (*pool)->reserve(size_bytes);
    ASSERT_TRUE(offset.ok());
    EXPECT_EQ((*pool)->object(*offset).size(), size_bytes);
    (*pool)->object(*offset).front() = std::byte{1};
    (*pool)->object(*offset).back() = std::byte{2};
    Transaction transaction;
    ASSERT_TRUE(transaction.publish_sealed(*offset, size_bytes).ok());
    ASSERT_TRUE(transaction.set_root(std::to_string(size_bytes), *offset).ok());
    ASSERT_TRUE((*pool)->commit(transaction).ok());
    sizes.emplace(std::to_string(size_bytes), size_bytes);
  }
  EXPECT_EQ((*pool)->reserve((64 << 20) + 1).code(), Code::invalid_argument);
  *pool = std::move(Pool::open(**region, "the pool")).value();
  for (const auto& [root, size_bytes] : sizes) {
    const Bytes object = (*pool)->object(*(*pool)->root(root));
    EXPECT_EQ(object.size(), size_bytes);
    EXPECT_EQ(object.front(), std::byte{1});
    EXPECT_EQ(object.back(), std::byte{2});
  }
}

}  // namespace
}  // namespace remora
