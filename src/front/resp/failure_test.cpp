// A store that fails under its Redis clients.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "front/resp/server_testing.h"

namespace remora::resp {
namespace {

class RespFailureTest : public RespServerTest, public testing::WithParamInterface<bool> {
 protected:
  RespFailureTest() {
    store_.automatic = false;
    serve({.durability = Durability::persistent});
    keeper_ = guest();
    keeper_->send(set("kept", "value"));
    (void)loop_.run_for(1'000'000);
    store_.persist();
    EXPECT_EQ(keeper_->reply(), "+OK\r\n");
    store_.will_fail = true;
    store_.at_once = GetParam();
  }
  static constexpr const char* failure =
      "-MISCONF the store has failed: the disk of this test is broken\r\n";

  std::unique_ptr<Guest> keeper_;
};

INSTANTIATE_TEST_SUITE_P(ways, RespFailureTest, testing::Bool(),
                         [](const testing::TestParamInfo<bool>& param) {
                           return param.param ? "blocking" : "by_a_flow";
                         });

TEST_P(RespFailureTest, answers_the_failure_to_a_write_that_waited) {
  std::vector<std::unique_ptr<Guest>> guests;
  for (int i = 0; i < 8; ++i) {
    guests.push_back(guest());
    guests.back()->send(set("key-" + std::to_string(i), "value") + set("more", "value"));
  }
  for (const std::unique_ptr<Guest>& each : guests) {
    const std::string first = failure;
    EXPECT_EQ(each->reply_of(first.size()).substr(0, first.size()), first);
  }
}

TEST_P(RespFailureTest, goes_on_with_what_is_persistent_and_refuses_the_rest) {
  EXPECT_EQ(keeper_->ask("SET new value").substr(0, 8), "-MISCONF");
  const std::unique_ptr<Guest> another = guest();
  EXPECT_EQ(another->ask("GET kept"), "$5\r\nvalue\r\n");
  EXPECT_EQ(another->ask("GET new"), failure);
  EXPECT_EQ(another->ask("MGET kept new"), failure);
  EXPECT_EQ(another->ask("DBSIZE"), failure);
  EXPECT_EQ(another->ask("SET other value"), failure);
  EXPECT_EQ(another->ask("PING"), "+PONG\r\n");
  EXPECT_NE(another->ask("INFO persistence").find("aof_last_write_status:err"), std::string::npos);
}

TEST_P(RespFailureTest, lets_nobody_wait_for_persistence_for_ever) {
  RespOptions options;
  server_.reset();
  serve(options);
  const std::unique_ptr<Guest> client = guest();
  EXPECT_EQ(client->ask("SET new value"), "+OK\r\n");
  store_.at_once = false;
  EXPECT_EQ(client->ask("WAITAOF 1 0 0"), "*2\r\n:0\r\n:0\r\n");
  EXPECT_EQ(client->ask("WAITAOF 1 0 0"), "*2\r\n:0\r\n:0\r\n");
}

class RespDamageTest : public RespServerTest {
 protected:
  RespDamageTest() { serve({}); }
};

TEST_F(RespDamageTest, a_command_that_needs_a_damaged_value_is_an_error_and_changes_nothing) {
  const std::unique_ptr<Guest> client = guest();
  EXPECT_EQ(client->ask("SET key 12"), "+OK\r\n");
  EXPECT_EQ(client->ask("SET other 34"), "+OK\r\n");
  store_.damaged_key = "key";
  for (const char* command :
       {"GET key", "GETSET key new", "GETDEL key", "GETEX key EX 100", "SET key new GET",
        "APPEND key more", "STRLEN key", "GETRANGE key 0 1", "SETRANGE key 1 x", "INCR key",
        "INCRBYFLOAT key 1", "EXPIRE key 100", "PERSIST key", "RENAME key another"}) {
    EXPECT_EQ(client->ask(command).substr(0, 9), "-DAMAGED ") << command;
    EXPECT_EQ(store_.damaged_key, "key") << command;
  }
  EXPECT_EQ(client->ask("MGET other key").substr(0, 20), "*2\r\n$2\r\n34\r\n-DAMAGED");
  EXPECT_EQ(client->ask("EXISTS key"), ":1\r\n");
  EXPECT_EQ(client->ask("SET key new"), "+OK\r\n");
  EXPECT_EQ(client->ask("GET key"), "$3\r\nnew\r\n");
}

TEST_F(RespDamageTest, a_store_that_can_only_be_read_says_so) {
  const std::unique_ptr<Guest> client = guest();
  EXPECT_NE(client->ask("INFO persistence").find("read_only_because:\r\n"), std::string::npos);
  store_.read_only = true;
  EXPECT_EQ(client->ask("SET key value"), "-READONLY the store of this test is damaged\r\n");
  EXPECT_NE(client->ask("INFO persistence").find("read_only_because:the store of this test"),
            std::string::npos);
}

}  // namespace
}  // namespace remora::resp
