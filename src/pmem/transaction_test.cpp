#include "pmem/transaction.h"

#include <gtest/gtest.h>

#include <string>

#include "pmem/allocator.h"
#include "pmem/size_classes.h"

namespace remora {
namespace {

constexpr Offset somewhere = 0x10000;

TEST(Transaction, is_empty_at_first) {
  const Transaction transaction{};
  EXPECT_TRUE(transaction.published().empty());
  EXPECT_TRUE(transaction.freed().empty());
  EXPECT_TRUE(transaction.words().empty());
  EXPECT_TRUE(transaction.roots().empty());
}

TEST(Transaction, remembers_what_it_was_told) {
  Transaction transaction;
  ASSERT_TRUE(transaction.publish(64, 10).ok());
  ASSERT_TRUE(transaction.publish_sealed(128, 20).ok());
  ASSERT_TRUE(transaction.free(192).ok());
  ASSERT_TRUE(transaction.set(256, 7).ok());
  ASSERT_TRUE(transaction.set_root("name", 64).ok());
  ASSERT_EQ(transaction.published().size(), 2u);
  EXPECT_FALSE(transaction.published()[0].sealed);
  EXPECT_TRUE(transaction.published()[1].sealed);
  EXPECT_EQ(transaction.published()[1].content_bytes, 20u);
  ASSERT_EQ(transaction.freed().size(), 1u);
  EXPECT_EQ(transaction.freed()[0], 192u);
  ASSERT_EQ(transaction.words().size(), 1u);
  EXPECT_EQ(transaction.words()[0].value, 7u);
  ASSERT_EQ(transaction.roots().size(), 1u);
  EXPECT_EQ(std::string(transaction.roots()[0].name.data()), "name");
}

TEST(Transaction, publishes_at_most_16_objects) {
  Transaction transaction;
  for (std::size_t i = 0; i < Transaction::most_objects; ++i) {
    ASSERT_TRUE(transaction.publish(somewhere + i * 64, 64).ok());
  }
  EXPECT_EQ(transaction.publish(somewhere, 64).code(), Code::no_space);
  EXPECT_EQ(transaction.published().size(), Transaction::most_objects);
}

TEST(Transaction, frees_at_most_16_objects) {
  Transaction transaction;
  for (std::size_t i = 0; i < Transaction::most_objects; ++i) {
    ASSERT_TRUE(transaction.free(somewhere + i * 64).ok());
  }
  EXPECT_EQ(transaction.free(somewhere).code(), Code::no_space);
  EXPECT_EQ(transaction.freed().size(), Transaction::most_objects);
}

TEST(Transaction, sets_at_most_32_words) {
  Transaction transaction;
  for (std::size_t i = 0; i < Transaction::most_words; ++i) {
    ASSERT_TRUE(transaction.set(somewhere + i * 8, i).ok());
  }
  EXPECT_EQ(transaction.set(somewhere, 0).code(), Code::no_space);
  EXPECT_EQ(transaction.words().size(), Transaction::most_words);
}

TEST(Transaction, changes_at_most_4_roots) {
  Transaction transaction;
  for (std::size_t i = 0; i < Transaction::most_roots; ++i) {
    ASSERT_TRUE(transaction.set_root(std::to_string(i), somewhere).ok());
  }
  EXPECT_EQ(transaction.set_root("more", somewhere).code(), Code::no_space);
  EXPECT_EQ(transaction.roots().size(), Transaction::most_roots);
}

TEST(Transaction, never_outgrows_one_log_record) {
  Transaction transaction;
  std::size_t sealed = 0;
  while (transaction.publish_sealed(somewhere + sealed * 64, 64).ok()) {
    ++sealed;
  }
  constexpr std::size_t total = 1;  // one word, however many objects and roots change
  EXPECT_EQ(sealed, (pool_format::record_entries - total) / (words_per_object + 1));
  std::size_t words = 0;
  while (transaction.set(somewhere + words * 8, 0).ok()) {
    ++words;
  }
  EXPECT_EQ(sealed * (words_per_object + 1) + total + words, pool_format::record_entries);
  EXPECT_EQ(transaction.free(somewhere).code(), Code::no_space);
  EXPECT_EQ(transaction.set_root("x", somewhere).code(), Code::no_space);
  EXPECT_TRUE(transaction.freed().empty());
  EXPECT_TRUE(transaction.roots().empty());
}

TEST(Transaction, what_is_refused_leaves_room_for_what_fits) {
  Transaction transaction;
  for (std::size_t i = 0; i < Transaction::most_words; ++i) {
    ASSERT_TRUE(transaction.set(somewhere + i * 8, i).ok());
  }
  for (int i = 0; i < 100; ++i) {
    ASSERT_FALSE(transaction.set(somewhere, 0).ok());
    ASSERT_FALSE(transaction.set_root("", somewhere).ok());
  }
  EXPECT_TRUE(transaction.publish(somewhere, 64).ok());
  EXPECT_TRUE(transaction.set_root("x", somewhere).ok());
}

TEST(Transaction, refuses_a_word_that_is_not_aligned) {
  Transaction transaction;
  for (const Offset odd : {1u, 4u, 7u}) {
    EXPECT_EQ(transaction.set(somewhere + odd, 0).code(), Code::invalid_argument);
  }
  EXPECT_TRUE(transaction.words().empty());
}

TEST(Transaction, refuses_content_that_no_object_can_have) {
  Transaction transaction;
  EXPECT_TRUE(transaction.publish(somewhere, largest_object_bytes).ok());
  EXPECT_EQ(transaction.publish(somewhere, largest_object_bytes + 1).code(),
            Code::invalid_argument);
  EXPECT_EQ(transaction.publish_sealed(somewhere, largest_object_bytes + 1).code(),
            Code::invalid_argument);
  EXPECT_EQ(transaction.published().size(), 1u);
}

TEST(Transaction, takes_root_names_of_1_to_48_bytes) {
  Transaction transaction;
  EXPECT_TRUE(transaction.set_root("a", somewhere).ok());
  EXPECT_TRUE(transaction.set_root(std::string(48, 'b'), somewhere).ok());
  EXPECT_EQ(transaction.set_root("", somewhere).code(), Code::invalid_argument);
  EXPECT_EQ(transaction.set_root(std::string(49, 'c'), somewhere).code(), Code::invalid_argument);
  EXPECT_EQ(transaction.set_root(std::string_view("a\0b", 3), somewhere).code(),
            Code::invalid_argument);
  EXPECT_EQ(transaction.roots().size(), 2u);
}

TEST(Transaction, every_refusal_says_why) {
  Transaction transaction;
  for (const Status& status : {transaction.set(1, 0), transaction.set_root("", somewhere),
                               transaction.publish(somewhere, largest_object_bytes + 1)}) {
    EXPECT_FALSE(status.message().empty());
  }
}

}  // namespace
}  // namespace remora
