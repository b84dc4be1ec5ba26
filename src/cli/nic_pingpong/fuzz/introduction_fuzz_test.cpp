#include <gtest/gtest.h>

#include <string>

#include "base/corpus_testing.h"
#include "cli/nic_pingpong/fuzz/introduction_fuzz.h"
#include "cli/nic_pingpong/introduction.h"

namespace remora::cli {
namespace {

TEST(Introduction, holds_for_its_corpus_and_changes_of_it) {
  EXPECT_GE(try_corpus(REMORA_INTRODUCTION_CORPUS, fuzz_introduction), 3);
}

TEST(Introduction, is_understood_as_ibv_rc_pingpong_says_it) {
  const auto address = parse_introduction("0001:00002a:abcdef:00000000000000000000ffff0a000001");
  ASSERT_TRUE(address.has_value());
  EXPECT_EQ(address->number, 42u);
  EXPECT_EQ(address->first_packet, 0xabcdefu);
  EXPECT_EQ(address->gid[12], 10);
  EXPECT_EQ(introduction_text(*address), "0000:00002a:abcdef:00000000000000000000ffff0a000001");
}

TEST(Introduction, of_another_form_is_refused) {
  for (const char* text : {"", "0001", "0001:00002a:abcdef", "0001:1000000:abcdef:00",
                           "10000:00002a:abcdef:00000000000000000000ffff0a000001",
                           "0001:00002a:abcdef:00000000000000000000ffff0a00000",
                           "0001:00002a:abcdef:00000000000000000000ffff0a00000x",
                           "0001:-0002a:abcdef:00000000000000000000ffff0a000001"}) {
    EXPECT_FALSE(parse_introduction(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace remora::cli
