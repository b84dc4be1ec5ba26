// What Redis itself answers is held against these in tests/resp.
#include <gmock/gmock.h>

#include "front/resp/commands_testing.h"
#include "front/resp/limits.h"

namespace remora::resp {
namespace {

using testing::HasSubstr;

class LcsTest : public CommandsTest {
 protected:
  LcsTest() {
    EXPECT_EQ(ask("SET a ohmytext"), "+OK|");
    EXPECT_EQ(ask("SET b mynewtext"), "+OK|");
  }
};

TEST_F(LcsTest, tells_what_two_values_have_in_common) {
  EXPECT_EQ(ask("LCS a b"), "$6|mytext|");
  EXPECT_EQ(ask("LCS a b LEN"), ":6|");
  EXPECT_EQ(ask("LCS a b LEN WITHMATCHLEN"), ":6|");
  EXPECT_EQ(ask("LCS a a"), "$8|ohmytext|");
}

TEST_F(LcsTest, tells_where_the_pieces_lie_the_last_first) {
  const std::string last = "*2|:4|:7|*2|:5|:8|";
  const std::string first = "*2|:2|:3|*2|:0|:1|";
  EXPECT_EQ(ask("LCS a b IDX"), "*4|$7|matches|*2|*2|" + last + "*2|" + first + "$3|len|:6|");
  EXPECT_EQ(ask("LCS a b IDX MINMATCHLEN 4 WITHMATCHLEN"),
            "*4|$7|matches|*1|*3|" + last + ":4|$3|len|:6|");
  EXPECT_EQ(ask("LCS a b IDX MINMATCHLEN -9"), ask("LCS a b IDX"));
  session_.protocol = Protocol::three;
  EXPECT_EQ(ask("LCS a b IDX MINMATCHLEN 99"), "%2|$7|matches|*0|$3|len|:6|");
}

TEST_F(LcsTest, takes_keys_that_are_not_there_for_empty_values) {
  EXPECT_EQ(ask("LCS a none"), "$0||");
  EXPECT_EQ(ask("LCS none a LEN"), ":0|");
  EXPECT_EQ(ask("LCS none other IDX"), "*4|$7|matches|*0|$3|len|:0|");
}

TEST_F(LcsTest, refuses_options_that_make_no_sense) {
  EXPECT_EQ(ask("LCS a"), "-ERR wrong number of arguments for 'lcs' command|");
  EXPECT_EQ(ask("LCS a b NOSUCH"), "-ERR syntax error|");
  EXPECT_EQ(ask("LCS a b MINMATCHLEN"), "-ERR syntax error|");
  EXPECT_EQ(ask("LCS a b MINMATCHLEN x"), "-ERR value is not an integer or out of range|");
  EXPECT_EQ(ask("LCS a none LEN IDX"),
            "-ERR If you want both the length and indexes, please just use IDX.|");
}

TEST_F(LcsTest, refuses_values_whose_table_would_be_too_large) {
  EXPECT_EQ(ask("SET fits " + std::string(2047, 'x')), "+OK|");
  EXPECT_EQ(ask("SET large " + std::string(2048, 'x')), "+OK|");
  EXPECT_EQ(ask("LCS fits fits LEN"), ":2047|");
  EXPECT_EQ(ask("LCS fits large LEN"),
            "-ERR Insufficient memory, transient memory for LCS exceeds proto-max-bulk-len|");
  EXPECT_EQ(ask("LCS none large"), "$0||");
  // What is wrong with the options is told first.
  EXPECT_EQ(ask("LCS large large NOSUCH"), "-ERR syntax error|");
  // A row alone can be too long.
  EXPECT_EQ(ask("SETRANGE huge 5000000 x"), ":5000001|");
  EXPECT_THAT(ask("LCS none huge"), HasSubstr("exceeds proto-max-bulk-len"));
}

TEST_F(LcsTest, is_bounded_in_exec_with_all_that_searches_there) {
  EXPECT_EQ(ask("SET fits " + std::string(2047, 'x')), "+OK|");
  const std::string enough =
      "-ERR the commands before it in EXEC have searched enough; send it by itself|";
  const auto run = [&](const std::vector<std::string>& lines) {
    EXPECT_EQ(ask("MULTI"), "+OK|");
    for (const std::string& line : lines) {
      EXPECT_EQ(ask(line), "+QUEUED|");
    }
    return ask("EXEC");
  };
  for (int i = 0; i < 2; ++i) {  // each by itself
    EXPECT_EQ(run({"LCS a b LEN", "LCS a fits LEN", "LCS fits fits LEN"}), "*3|:6|:1|:2047|");
  }
  EXPECT_EQ(run({"LCS fits fits LEN", "LCS a b LEN", "BITCOUNT a", "BITPOS a 1", "KEYS a",
                 "SCAN 0 MATCH a", "GET a", "STRLEN fits"}),
            "*8|:2047|" + enough + enough + enough + enough + enough + "$8|ohmytext|:2047|");
  // By itself each of them runs.
  EXPECT_EQ(ask("LCS fits fits LEN"), ":2047|");
  EXPECT_EQ(ask("LCS fits fits LEN"), ":2047|");
  // As much by other commands.
  EXPECT_EQ(ask("SETRANGE huge 16777215 x"), ":16777216|");
  for (const char* const first : {"BITCOUNT huge", "BITPOS huge 1"}) {
    EXPECT_THAT(run({first, "LCS a b"}), testing::EndsWith("|" + enough)) << first;
  }
  for (std::uint64_t i = 0; i < limits::exec_search_bytes / limits::key_search_bytes; ++i) {
    const std::string key = std::to_string(i);
    ASSERT_TRUE(store_.put(as_bytes(key), {}, 0).ok());
  }
  for (const char* const first : {"KEYS none", "SCAN 0 COUNT 1000000 MATCH none"}) {
    EXPECT_THAT(run({first, "LCS a b"}), testing::EndsWith("|" + enough)) << first;
  }
}

TEST_F(LcsTest, tells_nothing_of_a_damaged_value) {
  store_.damaged_key = "b";
  EXPECT_THAT(ask("LCS a b"), HasSubstr("-DAMAGED "));
  EXPECT_THAT(ask("LCS b a LEN"), HasSubstr("-DAMAGED "));
}

TEST_F(LcsTest, has_two_keys) {
  EXPECT_EQ(ask("COMMAND GETKEYS LCS a b IDX"), "*2|$1|a|$1|b|");
}

}  // namespace
}  // namespace remora::resp
