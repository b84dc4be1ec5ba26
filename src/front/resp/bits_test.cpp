// What Redis itself answers is held against these in tests/resp.
#include "front/resp/commands_testing.h"

namespace remora::resp {
namespace {

using BitsTest = CommandsTest;

TEST_F(BitsTest, are_set_and_read_one_by_one) {
  EXPECT_EQ(ask("SETBIT k 7 1"), ":0|");
  EXPECT_EQ(ask("GET k"), "$1|\x01|");
  EXPECT_EQ(ask("SETBIT k 7 0"), ":1|");
  EXPECT_EQ(ask("SETBIT k 16 1"), ":0|");
  EXPECT_EQ(ask("STRLEN k"), ":3|");
  EXPECT_EQ(ask("GETBIT k 16"), ":1|");
  EXPECT_EQ(ask("GETBIT k 15"), ":0|");
  EXPECT_EQ(ask("GETBIT k 4294967295"), ":0|");
  EXPECT_EQ(ask("GETBIT nothing 0"), ":0|");
  EXPECT_EQ(ask("GETBIT k 4294967296"), "-ERR bit offset is not an integer or out of range|");
  EXPECT_EQ(ask("SETBIT k 134217727 1"), ":0|");  // the last that a value has
  EXPECT_EQ(ask("STRLEN k"), ":16777216|");
  EXPECT_EQ(ask("SETBIT k 134217728 1"), "-ERR bit offset is not an integer or out of range|");
  EXPECT_EQ(ask("SETBIT k -1 1"), "-ERR bit offset is not an integer or out of range|");
  EXPECT_EQ(ask("SETBIT k 1 2"), "-ERR bit is not an integer or out of range|");
}

TEST_F(BitsTest, a_bit_that_is_so_already_is_no_change_and_others_keep_the_time) {
  EXPECT_EQ(ask("SET k a EX 100"), "+OK|");
  const kv::LocalStore::Mark before = store_.now();
  EXPECT_EQ(ask("SETBIT k 1 1"), ":1|");
  EXPECT_EQ(store_.now(), before);
  EXPECT_EQ(ask("SETBIT k 6 1"), ":0|");
  EXPECT_EQ(ask("GET k"), "$1|c|");
  EXPECT_EQ(ask("TTL k"), ":100|");
}

TEST_F(BitsTest, are_counted_in_bytes_or_bits) {
  EXPECT_EQ(ask("SET k foobar"), "+OK|");
  EXPECT_EQ(ask("BITCOUNT k"), ":26|");
  EXPECT_EQ(ask("BITCOUNT k 0 0"), ":4|");
  EXPECT_EQ(ask("BITCOUNT k 1 1 BYTE"), ":6|");
  EXPECT_EQ(ask("BITCOUNT k 5 30 BIT"), ":17|");
  EXPECT_EQ(ask("BITCOUNT k -2 -1"), ":7|");
  EXPECT_EQ(ask("BITCOUNT k 3 1"), ":0|");
  EXPECT_EQ(ask("BITCOUNT nothing x y"), ":0|");
  EXPECT_EQ(ask("BITCOUNT k 0"), "-ERR syntax error|");
  EXPECT_EQ(ask("BITCOUNT k 0 1 WORD"), "-ERR syntax error|");
  EXPECT_EQ(ask("SET long " + std::string(1000, 'o')), "+OK|");  // six of eight
  EXPECT_EQ(ask("BITCOUNT long"), ":6000|");
  EXPECT_EQ(ask("BITCOUNT long 3 998"), ":5976|");
}

TEST_F(BitsTest, are_found) {
  EXPECT_EQ(ask("SET k \"\\xff\\xf0\\x00\""), "+OK|");
  EXPECT_EQ(ask("BITPOS k 0"), ":12|");
  EXPECT_EQ(ask("BITPOS k 1 2"), ":-1|");
  EXPECT_EQ(ask("BITPOS k 1 -2 -1"), ":8|");
  EXPECT_EQ(ask("BITPOS k 0 0 0"), ":-1|");
  EXPECT_EQ(ask("BITPOS k 0 0"), ":12|");
  EXPECT_EQ(ask("BITPOS k 1 9 12 BIT"), ":9|");
  EXPECT_EQ(ask("SET ones \"\\xff\\xff\""), "+OK|");
  EXPECT_EQ(ask("BITPOS ones 0"), ":16|");
  EXPECT_EQ(ask("BITPOS ones 0 1"), ":16|");
  EXPECT_EQ(ask("BITPOS ones 0 0 -1"), ":-1|");
  EXPECT_EQ(ask("BITPOS nothing 0"), ":0|");
  EXPECT_EQ(ask("BITPOS nothing 1"), ":-1|");
  EXPECT_EQ(ask("BITPOS k 2"), "-ERR The bit argument must be 1 or 0.|");
}

TEST_F(CommandsTest, tells_the_time) {
  const std::uint64_t now_ms = loop_.wall_ms();
  const std::string second = std::to_string(now_ms / 1000);
  EXPECT_EQ(ask("TIME").substr(0, 8 + second.size()),
            "*2|$" + std::to_string(second.size()) + "|" + second + "|");
}

TEST_F(CommandsTest, tells_how_redis_would_keep_a_value) {
  EXPECT_EQ(ask("MSET n 12 s text"), "+OK|");
  EXPECT_EQ(ask("SET l " + std::string(45, 'x')), "+OK|");
  EXPECT_EQ(ask("OBJECT ENCODING n"), "$3|int|");
  EXPECT_EQ(ask("OBJECT encoding s"), "$6|embstr|");
  EXPECT_EQ(ask("OBJECT ENCODING l"), "$3|raw|");
  EXPECT_EQ(ask("OBJECT ENCODING nothing"), "$-1|");
  EXPECT_EQ(ask("OBJECT REFCOUNT s"), ":1|");
  EXPECT_EQ(ask("OBJECT IDLETIME s").substr(0, 5), "-ERR ");
  EXPECT_EQ(ask("OBJECT NOSUCH s"), "-ERR unknown subcommand 'NOSUCH'. Try OBJECT HELP.|");
  EXPECT_EQ(ask("OBJECT FREQ"), "-ERR wrong number of arguments for 'object|freq' command|");
}

}  // namespace
}  // namespace remora::resp
