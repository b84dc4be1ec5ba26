// DEBUG: who may ask for it, and who waits for it.
#include <gmock/gmock.h>

#include "front/resp/commands_testing.h"
#include "front/resp/server_testing.h"

namespace remora::resp {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST_F(CommandsTest, debug_knows_sleep_alone) {
  EXPECT_EQ(ask("DEBUG SLEEP 0"), "+OK|");
  EXPECT_EQ(ask("DEBUG SLEEP -1"), "+OK|");
  EXPECT_EQ(ask("DEBUG sleep 1.5"), "");
  EXPECT_EQ(done_, Done::waits);
  EXPECT_EQ(executor_.wait().sleep_ns, 1'500'000'000u);
  EXPECT_EQ(ask("DEBUG SLEEP x"), "-ERR value is not a valid float|");
  EXPECT_EQ(ask("DEBUG SLEEP nan"), "-ERR value is not a valid float|");
  for (const char* long_time : {"inf", "1e30", "86401"}) {
    EXPECT_EQ(ask(std::string("DEBUG SLEEP ") + long_time),
              "-ERR DEBUG SLEEP takes at most 86400 seconds|");
  }
  for (const char* other : {"SLEEP", "NOSUCH", "SLEEP 0 0"}) {
    EXPECT_THAT(ask(std::string("DEBUG ") + other),
                StartsWith("-ERR unknown subcommand or wrong number of arguments for '"));
  }
  EXPECT_EQ(ask("DEBUG"), "-ERR wrong number of arguments for 'debug' command|");
  EXPECT_THAT(ask("DEBUG HELP"), HasSubstr("+SLEEP <seconds>|"));
  EXPECT_EQ(ask("MULTI"), "+OK|");
  EXPECT_EQ(ask("DEBUG SLEEP 1"), "+QUEUED|");
  EXPECT_EQ(ask("EXEC"), "*1|-ERR a transaction does not wait; send DEBUG SLEEP outside of MULTI|");
}

TEST_F(CommandsTest, debug_is_for_an_admin) {
  for (const Access access : {Access::read, Access::write}) {
    session_.access = access;
    EXPECT_THAT(ask("DEBUG SLEEP 0"), StartsWith("-NOPERM "));
  }
}

TEST_F(RespServerTest, a_sleep_holds_up_the_client_that_asked_for_it_and_no_other) {
  serve();
  const auto sleeper = guest();
  const auto other = guest();
  sleeper->send("DEBUG SLEEP 86400\r\nPING\r\n");
  EXPECT_EQ(sleeper->came(), "");
  EXPECT_EQ(other->ask("SET k v"), "+OK\r\n");
  EXPECT_EQ(sleeper->came(), "");
  sleeper->leave();  // in the middle of it
  EXPECT_EQ(other->ask("GET k"), bulk("v"));
}

TEST_F(RespServerTest, a_sleep_ends_and_what_came_behind_it_is_answered) {
  serve();
  const auto sleeper = guest();
  const std::uint64_t begun_ns = loop_.now_ns();
  sleeper->send("DEBUG SLEEP 0.05\r\nPING\r\n");
  const std::string expected = "+OK\r\n+PONG\r\n";
  EXPECT_EQ(sleeper->reply_of(expected.size()), expected);
  EXPECT_GE(loop_.now_ns() - begun_ns, 50'000'000u);
  sleeper->send("CLIENT REPLY SKIP\r\nDEBUG SLEEP 0.001\r\nPING\r\n");
  EXPECT_EQ(sleeper->reply(), "+PONG\r\n");
}

}  // namespace
}  // namespace remora::resp
