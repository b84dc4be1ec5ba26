#include "front/resp/absent.h"

#include <gtest/gtest.h>

#include "front/resp/commands_testing.h"

namespace remora::resp {
namespace {

TEST(Absent, names_what_redis_has_and_this_server_does_not) {
  EXPECT_EQ(what_is_absent("EVALSHA"), "scripts");
  EXPECT_EQ(what_is_absent("hset"), "hashes");
  EXPECT_EQ(what_is_absent("sUbScribe"), "channels (publish and subscribe)");
  for (const char* other : {"", " ", "nosuch", "hset hget", "hse", "set"}) {
    EXPECT_EQ(what_is_absent(other), "") << other;
  }
}

TEST(Absent, is_nothing_that_is_here) {
  for (const Command& command : commands()) {
    EXPECT_EQ(what_is_absent(command.name), "") << command.name;
  }
}

TEST_F(CommandsTest, an_error_names_what_is_not_here) {
  EXPECT_EQ(
      ask("EVAL \"return 1\" 0"),
      "-ERR unknown command 'EVAL': this server has no scripts; docs/redis.md tells what it has|");
  EXPECT_EQ(ask("LPUSH l x").substr(0, 52), "-ERR unknown command 'LPUSH': this server has no lis");
}

}  // namespace
}  // namespace remora::resp
