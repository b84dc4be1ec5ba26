#include "kv/common/hopscotch_table.h"

#include <gtest/gtest.h>

#include <map>

#include "kv/log/log_testing.h"
#include "pmem/open_region.h"

namespace remora::kv {
namespace {

constexpr Fault not_persisted = {"not-persisted", "entries are never flushed"};
constexpr HopscotchKind kind = {
    "test-table", {'T', 'E', 'S', 'T', 'T', 'A', 'B', 'L'}, 1, not_persisted};

class HopscotchTableTest : public testing::Test {
 protected:
  HopscotchTableTest() {
    loop_.add_cores(1);
    region_ = make_dram(8 << 20).value();
    pool_ = Pool::create(*region_, {}).value();
    host_.emplace(loop_, device_, region_.get());
    table_ = HopscotchTable::create(*host_, *pool_, kind, 64).value();
  }

  // The word of the entry with the tag, or 0.
  std::uint64_t word_of(Tag tag) {
    const Bucket* bucket = table_->find(tag, [](const Bucket&) { return true; });
    return bucket == nullptr ? 0 : bucket->words[0];
  }

  VirtualLoop loop_{{.seed = 1}};
  NoDevice device_;
  std::unique_ptr<Region> region_;
  std::unique_ptr<Pool> pool_;
  std::optional<Host> host_;
  std::unique_ptr<HopscotchTable> table_;
};

TEST_F(HopscotchTableTest, finds_every_entry_in_its_neighbourhood_however_full_it_is) {
  Random random(7);
  std::map<Tag, std::uint64_t> model;
  for (std::uint64_t i = 1; i <= 2000; ++i) {
    const Tag tag = random.next() | 1;
    model[tag] = i * 64;
    ASSERT_TRUE(table_->insert(tag, {i * 64}).ok());
    if (i % 100 == 0) {
      for (const auto& [known, word] : model) {
        ASSERT_EQ(word_of(known), word) << i;
      }
    }
  }
  EXPECT_EQ(table_->size(), model.size());
  EXPECT_GT(table_->generation(), 3u);
  // Full tables are replaced: at least a quarter of the buckets is in use.
  EXPECT_LT(table_->geometry().windows, 4 * model.size());
}

TEST_F(HopscotchTableTest, takes_many_keys_of_one_home) {
  for (std::uint64_t i = 1; i <= neighbourhood; ++i) {
    ASSERT_TRUE(table_->insert(i, {i * 64}).ok());
  }
  EXPECT_EQ(table_->generation(), 1u);
  for (std::uint64_t i = 1; i <= neighbourhood; ++i) {
    EXPECT_EQ(word_of(i), i * 64);
  }
  // No table that this pool can have sets tags apart that differ in the lowest bits alone.
  EXPECT_EQ(table_->insert(neighbourhood + 1, {64}).code(), Code::no_space);
  EXPECT_EQ(word_of(1), 64u);
}

TEST_F(HopscotchTableTest, moves_entries_to_make_room) {
  const unsigned shift = 64 - static_cast<unsigned>(std::countr_zero(table_->geometry().windows));
  for (std::uint64_t home = 0; home < 12; ++home) {
    ASSERT_TRUE(table_->insert(home << shift | 1, {(home + 1) * 64}).ok());
  }
  ASSERT_TRUE(table_->insert(2, {4096}).ok());
  EXPECT_EQ(table_->generation(), 1u);
  EXPECT_EQ(word_of(2), 4096u);
  for (std::uint64_t home = 0; home < 12; ++home) {
    EXPECT_EQ(word_of(home << shift | 1), (home + 1) * 64);
  }
}

TEST_F(HopscotchTableTest, comes_back_and_frees_what_it_has_replaced) {
  Random random(3);
  std::map<Tag, std::uint64_t> model;
  for (std::uint64_t i = 1; i <= 1000; ++i) {
    const Tag tag = random.next() | 1;
    model[tag] = i * 64;
    ASSERT_TRUE(table_->insert(tag, {i * 64}).ok());
  }
  const std::uint64_t objects = pool_->usage().object_count;
  table_.reset();
  pool_.reset();
  pool_ = Pool::open(*region_, "test").value();
  table_ = HopscotchTable::open(*host_, *pool_, kind).value();
  for (const auto& [tag, word] : model) {
    ASSERT_EQ(word_of(tag), word);
  }
  EXPECT_EQ(pool_->usage().object_count, 1u);
  EXPECT_GT(objects, 1u);
}

TEST_F(HopscotchTableTest, refuses_a_damaged_head) {
  region_->data()[table_->offset() + offsetof(HopscotchHead, buckets)] ^= std::byte{0x10};
  EXPECT_EQ(HopscotchTable::open(*host_, *pool_, kind).status().code(), Code::damaged);
}

TEST_F(HopscotchTableTest, refuses_another_version) {
  constexpr HopscotchKind newer = {kind.root, kind.magic, 2, not_persisted};
  const Status status = HopscotchTable::open(*host_, *pool_, newer).status();
  EXPECT_EQ(status.code(), Code::unsupported) << status.message();
}

TEST_F(HopscotchTableTest, scans_by_tag_whatever_its_size) {
  Random random(5);
  std::set<Tag> tags;
  for (std::uint64_t i = 1; i <= 300; ++i) {
    const Tag tag = random.next() | 1;
    tags.insert(tag);
    ASSERT_TRUE(table_->insert(tag, {i * 64}).ok());
  }
  std::set<Tag> seen;
  Tag from = 0;
  do {
    from = table_->scan(from, [&](const Bucket& bucket) { seen.insert(bucket.tag); });
  } while (from != 0);
  EXPECT_EQ(seen, tags);
}

}  // namespace
}  // namespace remora::kv
