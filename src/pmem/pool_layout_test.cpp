#include "pmem/pool_layout.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "pmem/pmem_testing.h"
#include "pmem/pool_checks.h"

namespace remora {
namespace {

using pool_format::block_bytes;
using pool_format::Extension;

constexpr std::uint64_t mebibyte = 1 << 20;

PoolLayout pool_of(std::uint64_t size_bytes) {
  return pool_format::plan(size_bytes, no_uuid);
}

// The first page of the pool's file.
std::vector<std::byte> page_of(const PoolLayout& layout) {
  std::vector<std::byte> page(page_bytes);
  std::memcpy(page.data(), &layout.header(), sizeof layout.header());
  std::ranges::copy(std::as_bytes(layout.extensions()),
                    page.begin() + pool_format::extension_place(0));
  return page;
}

void expect_same(const PoolLayout& one, const PoolLayout& other) {
  EXPECT_EQ(one.size_bytes(), other.size_bytes());
  EXPECT_EQ(one.header().blocks, other.header().blocks);
  ASSERT_EQ(one.pieces().size(), other.pieces().size());
  for (std::size_t i = 0; i < one.pieces().size(); ++i) {
    EXPECT_EQ(one.pieces()[i].table, other.pieces()[i].table);
    EXPECT_EQ(one.pieces()[i].first_block, other.pieces()[i].first_block);
    EXPECT_EQ(one.pieces()[i].block_count, other.pieces()[i].block_count);
  }
}

TEST(PoolLayout, pieces_lie_one_behind_the_other) {
  const PoolLayout layout = *pool_of(mebibyte).grown_to(3 * mebibyte)->grown_to(67 * mebibyte);
  ASSERT_EQ(layout.pieces().size(), 3u);
  EXPECT_EQ(layout.size_bytes(), 67 * mebibyte);
  Offset end = layout.header().summary;
  std::uint64_t words = 0;
  for (const PoolPiece& piece : layout.pieces()) {
    EXPECT_GE(piece.summary, end);
    EXPECT_EQ(piece.first_word, words);
    EXPECT_GE(piece.table, piece.summary + piece.word_count * word_bytes);
    EXPECT_GE(piece.word_count * 64 * pool_format::blocks_per_group, piece.block_count);
    EXPECT_GE(layout.place_of(piece.first_block),
              piece.table + piece.block_count * sizeof(pool_format::BlockEntry));
    EXPECT_EQ(layout.block_at(layout.place_of(piece.first_block)), piece.first_block);
    end = layout.place_of(piece.end_block());
    words += piece.word_count;
  }
  EXPECT_LE(end, layout.size_bytes());
  EXPECT_LT(layout.size_bytes() - end, 2 * block_bytes);
  EXPECT_EQ(layout.summary_words(), words);
}

TEST(PoolLayout, knows_of_every_block_where_its_entry_and_its_group_are) {
  const PoolLayout layout = *pool_of(mebibyte).grown_to(4 * mebibyte);
  const PoolPiece& first = layout.pieces()[0];
  const PoolPiece& second = layout.pieces()[1];
  EXPECT_EQ(layout.entry_of(first.end_block() - 1),
            first.table + (first.block_count - 1) * sizeof(pool_format::BlockEntry));
  EXPECT_EQ(layout.entry_of(second.first_block), second.table);
  EXPECT_EQ(layout.group_of(0), 0u);
  EXPECT_EQ(layout.group_of(second.first_block), first.word_count * 64);
  EXPECT_EQ(layout.group_of(second.first_block + 256), first.word_count * 64 + 1);
  EXPECT_EQ(layout.summary_place(0), first.summary);
  EXPECT_EQ(layout.summary_place(first.word_count + 1), second.summary + word_bytes);
  EXPECT_TRUE(layout.is_summary(second.summary));
  EXPECT_FALSE(layout.is_summary(second.table));
  EXPECT_TRUE(layout.is_structure(second.table));
  EXPECT_FALSE(layout.is_structure(layout.place_of(second.first_block)));
  EXPECT_FALSE(layout.is_structure(layout.place_of(0)));
}

TEST(PoolLayout, is_read_as_it_was_written) {
  PoolLayout layout = pool_of(mebibyte);
  for (std::uint64_t i = 0; i < 5; ++i) {
    const Result<PoolLayout> read = PoolLayout::read(page_of(layout), layout.size_bytes(), "p");
    ASSERT_TRUE(read.ok()) << read.status().message();
    expect_same(*read, layout);
    EXPECT_EQ(PoolLayout::read(page_of(layout), layout.size_bytes() - 1, "p").code(),
              Code::damaged);
    layout = *layout.grown_to(layout.size_bytes() + 100'000 * (i + 1));
  }
}

TEST(PoolLayout, refuses_sizes_that_cannot_be) {
  const PoolLayout layout = pool_of(mebibyte);
  const auto refusal = [&layout](std::uint64_t size_bytes) {
    const Status status = layout.grown_to(size_bytes).status();
    EXPECT_EQ(status.code(), Code::invalid_argument) << size_bytes;
    return std::string(status.message());
  };
  EXPECT_NE(refusal(mebibyte / 2).find("cannot become smaller"), std::string::npos);
  EXPECT_NE(refusal(mebibyte).find("1 MiB already"), std::string::npos);
  EXPECT_NE(refusal(mebibyte + 4095).find("1 MiB already"), std::string::npos);
  EXPECT_NE(refusal(mebibyte + 28 * 1024).find("32 KiB or more"), std::string::npos);
  EXPECT_NE(refusal(pool_format::largest_pool_bytes + 4096).find("64 TiB"), std::string::npos);
  EXPECT_NE(refusal(~std::uint64_t{0}).find("64 TiB"), std::string::npos);
  EXPECT_TRUE(layout.grown_to(mebibyte + 32 * 1024).ok());
  EXPECT_TRUE(layout.grown_to(pool_format::largest_pool_bytes).ok());
}

TEST(PoolLayout, grows_as_often_as_its_header_has_room) {
  PoolLayout layout = pool_of(mebibyte);
  for (std::size_t i = 0; i < pool_format::most_extensions; ++i) {
    layout = *layout.grown_to(layout.size_bytes() + pool_format::smallest_growth_bytes);
  }
  expect_same(*PoolLayout::read(page_of(layout), layout.size_bytes(), "p"), layout);
  const Status refused = layout.grown_to(2 * layout.size_bytes()).status();
  EXPECT_EQ(refused.code(), Code::unsupported);
  EXPECT_NE(refused.message().find("remora backup"), std::string_view::npos);
}

TEST(PoolLayout, refuses_extensions_with_any_bit_changed) {
  const PoolLayout layout = *pool_of(mebibyte).grown_to(2 * mebibyte)->grown_to(3 * mebibyte);
  const std::vector<std::byte> sound = page_of(layout);
  for (std::size_t bit = 64; bit < 8 * pool_format::extension_place(2); ++bit) {
    std::vector<std::byte> page = sound;
    page[bit / 8] ^= std::byte{1} << (bit % 8);
    const Result<PoolLayout> read = PoolLayout::read(page, 3 * mebibyte, "p");
    EXPECT_FALSE(read.ok()) << bit;
    // Nothing of it is lost: what is damaged is made again.
    if (bit >= 12 * 8) {
      expect_same(PoolLayout::guess(page, 3 * mebibyte), layout);
    }
  }
}

TEST(PoolLayout, refuses_extensions_that_do_not_follow_each_other) {
  const PoolLayout layout = *pool_of(mebibyte).grown_to(2 * mebibyte)->grown_to(3 * mebibyte);
  std::vector<std::byte> page = page_of(layout);
  Extension second = layout.extensions()[1];
  second.begin += block_bytes;
  second.checksum = checksum_of(second);
  std::memcpy(page.data() + pool_format::extension_place(1), &second, sizeof second);
  EXPECT_EQ(PoolLayout::read(page, 4 * mebibyte, "p").code(), Code::damaged);
}

TEST(PoolLayout, is_made_again_without_a_header) {
  const PoolLayout layout = *pool_of(mebibyte).grown_to(2 * mebibyte)->grown_to(5 * mebibyte);
  std::vector<std::byte> page = page_of(layout);
  std::ranges::fill(std::span(page).first(sizeof(pool_format::Header)), std::byte{0x55});
  expect_same(PoolLayout::guess(page, 5 * mebibyte), layout);
  // What a growth left that was cut still says where the pool ends.
  expect_same(PoolLayout::guess(page_of(pool_of(mebibyte)), mebibyte), pool_of(mebibyte));
  std::vector<std::byte> cut = page_of(*pool_of(mebibyte).grown_to(2 * mebibyte));
  std::memcpy(cut.data(), &pool_of(mebibyte).header(), sizeof(pool_format::Header));
  expect_same(PoolLayout::guess(cut, 2 * mebibyte), pool_of(mebibyte));
}

TEST(PoolLayout, takes_any_first_page_for_a_guess) {
  Random random(5);
  std::vector<std::byte> page = page_of(*pool_of(mebibyte).grown_to(2 * mebibyte));
  for (int round = 0; round < 2000; ++round) {
    for (int i = 0; i < 4; ++i) {
      page[random.below(400)] = static_cast<std::byte>(random.next());
    }
    const std::uint64_t file_bytes = random.between(pool_format::smallest_pool_bytes, 4 * mebibyte);
    EXPECT_LE(PoolLayout::guess(page, file_bytes).size_bytes(), file_bytes);
  }
}

}  // namespace
}  // namespace remora
