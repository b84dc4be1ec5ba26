#include "kv/erda/table.h"

#include <gtest/gtest.h>

#include <map>

#include "kv/log/log_testing.h"
#include "pmem/open_region.h"

namespace remora::kv::erda {
namespace {

class TableTest : public testing::Test {
 protected:
  TableTest() {
    loop_.add_cores(1);
    region_ = make_dram(8 << 20).value();
    pool_ = Pool::create(*region_, {}).value();
    host_.emplace(loop_, device_, region_.get());
    table_ = Table::create(*host_, *pool_, 64).value();
  }

  // The word of the entry with the tag, or 0.
  std::uint64_t word_of(Tag tag) {
    const Bucket* bucket = table_->find(tag, [](const Bucket&) { return true; });
    return bucket == nullptr ? 0 : bucket->versions;
  }

  VirtualLoop loop_{{.seed = 1}};
  NoDevice device_;
  std::unique_ptr<Region> region_;
  std::unique_ptr<Pool> pool_;
  std::optional<Host> host_;
  std::unique_ptr<Table> table_;
};

TEST(Versions, keep_the_latest_two) {
  std::uint64_t word = 0;
  EXPECT_EQ(decode_versions(word).newest, 0u);
  word = advance(word, 64);
  EXPECT_EQ(decode_versions(word).newest, 64u);
  EXPECT_EQ(decode_versions(word).previous, 0u);
  word = advance(word, 128);
  EXPECT_EQ(decode_versions(word).newest, 128u);
  EXPECT_EQ(decode_versions(word).previous, 64u);
  word = advance(word, largest_pool_bytes - 64);
  EXPECT_EQ(decode_versions(word).newest, largest_pool_bytes - 64);
  EXPECT_EQ(decode_versions(word).previous, 128u);
  const std::uint64_t sizes = with_size(with_size(0, 0, 640), 1, 16 << 20);
  EXPECT_EQ(size_hint(sizes, 0), 640u);
  EXPECT_EQ(size_hint(sizes, 1), 16u << 20);
}

TEST_F(TableTest, finds_every_entry_in_its_neighbourhood_however_full_it_is) {
  Random random(7);
  std::map<Tag, std::uint64_t> model;
  for (std::uint64_t i = 1; i <= 2000; ++i) {
    const Tag tag = random.next() | 1;
    model[tag] = i * 64;
    ASSERT_TRUE(table_->insert(tag, i * 64, 0).ok());
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

TEST_F(TableTest, takes_many_keys_of_one_home) {
  for (std::uint64_t i = 1; i <= neighbourhood; ++i) {
    ASSERT_TRUE(table_->insert(i, i * 64, 0).ok());
  }
  EXPECT_EQ(table_->generation(), 1u);
  for (std::uint64_t i = 1; i <= neighbourhood; ++i) {
    EXPECT_EQ(word_of(i), i * 64);
  }
  // No table that this pool can have sets tags apart that differ in the lowest bits alone.
  EXPECT_EQ(table_->insert(neighbourhood + 1, 64, 0).code(), Code::no_space);
  EXPECT_EQ(word_of(1), 64u);
}

TEST_F(TableTest, moves_entries_to_make_room) {
  const unsigned shift = 64 - static_cast<unsigned>(std::countr_zero(table_->geometry().windows));
  for (std::uint64_t home = 0; home < 12; ++home) {
    ASSERT_TRUE(table_->insert(home << shift | 1, (home + 1) * 64, 0).ok());
  }
  ASSERT_TRUE(table_->insert(2, 4096, 0).ok());
  EXPECT_EQ(table_->generation(), 1u);
  EXPECT_EQ(word_of(2), 4096u);
  for (std::uint64_t home = 0; home < 12; ++home) {
    EXPECT_EQ(word_of(home << shift | 1), (home + 1) * 64);
  }
}

TEST_F(TableTest, comes_back_and_frees_what_it_has_replaced) {
  Random random(3);
  std::map<Tag, std::uint64_t> model;
  for (std::uint64_t i = 1; i <= 1000; ++i) {
    const Tag tag = random.next() | 1;
    model[tag] = i * 64;
    ASSERT_TRUE(table_->insert(tag, i * 64, 0).ok());
  }
  const std::uint64_t objects = pool_->usage().object_count;
  table_.reset();
  pool_.reset();
  pool_ = Pool::open(*region_, "test").value();
  table_ = Table::open(*host_, *pool_).value();
  for (const auto& [tag, word] : model) {
    ASSERT_EQ(word_of(tag), word);
  }
  EXPECT_EQ(pool_->usage().object_count, 1u);
  EXPECT_GT(objects, 1u);
}

TEST_F(TableTest, refuses_a_damaged_head) {
  region_->data()[table_->offset() + offsetof(TableHead, buckets)] ^= std::byte{0x10};
  EXPECT_EQ(Table::open(*host_, *pool_).status().code(), Code::damaged);
}

TEST_F(TableTest, scans_by_tag_whatever_its_size) {
  Random random(5);
  std::set<Tag> tags;
  for (std::uint64_t i = 1; i <= 300; ++i) {
    const Tag tag = random.next() | 1;
    tags.insert(tag);
    ASSERT_TRUE(table_->insert(tag, i * 64, 0).ok());
  }
  std::set<Tag> seen;
  Tag from = 0;
  do {
    from = table_->scan(from, [&](const Bucket& bucket) { seen.insert(bucket.tag); });
  } while (from != 0);
  EXPECT_EQ(seen, tags);
}

// The example of docs/formats/rivals.md.
TEST(Versions, replace_the_older_of_two_offsets) {
  const std::uint64_t first = advance(0, 0x12000);
  EXPECT_EQ(first, 0x8000024000000000u);
  const std::uint64_t second = advance(first, 0x12100);
  EXPECT_EQ(second, 0x0000024000000484u);
  EXPECT_EQ(decode_versions(second).newest, 0x12100u);
  EXPECT_EQ(decode_versions(second).previous, 0x12000u);
}

}  // namespace
}  // namespace remora::kv::erda
