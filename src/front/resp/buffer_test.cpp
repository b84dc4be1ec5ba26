#include "front/resp/buffer.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>

namespace remora::resp {
namespace {

TEST(Buffer, keeps_what_is_appended_and_not_dropped) {
  Spares spares;
  Buffer buffer(spares);
  std::string expected;
  for (int i = 0; i < 1000; ++i) {
    const std::string piece(static_cast<std::size_t>(i % 97), static_cast<char>('a' + i % 26));
    buffer.append(piece);
    expected += piece;
    if (i % 3 == 0) {
      const std::size_t dropped = expected.size() * static_cast<std::size_t>(i % 11) / 10;
      if (dropped <= expected.size()) {
        buffer.drop(dropped);
        expected.erase(0, dropped);
      }
    }
    ASSERT_EQ(buffer.bytes(), expected) << i;
  }
}

TEST(Buffer, has_the_room_that_it_was_told_of_until_it_is_empty) {
  Spares spares;
  Buffer buffer(spares);
  buffer.assign("first", 1 << 20);
  const char* const place = buffer.bytes().data();
  buffer.drop(0);
  EXPECT_GE(buffer.room().size(), (1u << 20) - 5);
  std::memcpy(buffer.room().data(), " part", 5);
  buffer.add(5);
  EXPECT_EQ(buffer.bytes(), "first part");
  EXPECT_EQ(buffer.bytes().data(), place);
  buffer.drop(10);
  EXPECT_EQ(buffer.capacity(), 0u);
}

TEST(Buffer, takes_nothing_as_such) {
  Spares spares;
  Buffer buffer(spares);
  buffer.append({});
  buffer.assign("", 0);
  buffer.drop(0);
  EXPECT_TRUE(buffer.empty());
  EXPECT_TRUE(buffer.room().empty());
  EXPECT_EQ(buffer.capacity(), 0u);
}

TEST(Buffer, keeps_no_large_block_for_a_little) {
  Spares spares;
  Buffer buffer(spares);
  buffer.append(std::string(1 << 20, 'v') + "rest");
  buffer.drop(1 << 20);
  EXPECT_EQ(buffer.bytes(), "rest");
  EXPECT_LT(buffer.capacity(), 100u);
}

TEST(Spares, are_used_again_and_bounded) {
  Spares spares;
  const char* place = nullptr;
  {
    Buffer buffer(spares);
    buffer.reserve(1 << 20);
    place = buffer.room().data();
  }
  Buffer again(spares);
  again.reserve(900'000);
  EXPECT_EQ(again.room().data(), place);
  Buffer small(spares);
  again.release();
  small.reserve(100);  // for which it would be too large
  EXPECT_EQ(small.capacity(), 100u);
  for (int i = 0; i < 100; ++i) {
    spares.give({std::make_unique_for_overwrite<char[]>(1 << 20), 1 << 20});
  }
  EXPECT_EQ(spares.bytes(), limits::spare_bytes);
}

}  // namespace
}  // namespace remora::resp
