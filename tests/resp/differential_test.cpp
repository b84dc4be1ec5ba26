// The same commands to Redis and to our front end: the replies are the same. A campaign
// has `--commands 100000`.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>

#include "front/resp/command.h"
#include "tests/resp/alike.h"
#include "tests/resp/client.h"
#include "tests/resp/random_command.h"
#include "tests/resp/redis_process.h"
#include "tests/resp/served_store.h"

namespace remora::resp {
namespace {

// Of one command, without tips and subcommands. Notes, and what goes with them, are theirs alone.
std::string described(Client& client, const std::string& name) {
  const std::string reply = client.ask({"COMMAND", "INFO", name});
  std::size_t at = std::string("*1\r\n*10\r\n").size();
  std::string text;
  for (int i = 0; i < 10; ++i) {
    const std::size_t end = end_of(reply, at);
    const bool has_notes = name == "set" || name == "getex";
    if (i < 7 || (i == 8 && !has_notes)) {
      text += reply.substr(at, end - at);
    }
    at = end;
  }
  EXPECT_EQ(at, reply.size()) << name;
  return text;
}

class Differential : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    redis_ = RedisProcess::start();
    ASSERT_NE(redis_, nullptr) << "redis-server does not start; scripts/setup installs it";
  }

  std::unique_ptr<RedisProcess> redis_;
  ServedStore store_;
};

INSTANTIATE_TEST_SUITE_P(protocols, Differential, testing::Values(2, 3),
                         testing::PrintToStringParamName());

TEST_P(Differential, answers_as_redis_does) {
  const std::uint64_t count = campaign_commands.value_or(2500);
  const std::uint64_t seed = campaign_seed.value_or(1) + static_cast<std::uint64_t>(GetParam());
  Random random(seed);
  Client theirs(redis_->port());
  Client ours(store_.port());
  if (GetParam() == 3) {
    EXPECT_EQ(theirs.ask({"HELLO", "3"})[0], ours.ask({"HELLO", "3"})[0]);
  }
  for (std::uint64_t i = 0; i < count; ++i) {
    const RandomCommand command = random_command(random);
    const std::string expected = theirs.ask(command.args);
    const std::string got = ours.ask(command.args);
    const bool same = are_alike(command, theirs, expected, ours, got);
    ASSERT_TRUE(same) << "seed " << seed << ", command " << i << ": " << shown(command.args)
                      << "\nredis:  " << shown(expected) << "\nremora: " << shown(got);
    if (command.pause_ms != 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(command.pause_ms));
      ASSERT_EQ(theirs.ask({"EXISTS", command.args[1]}), ours.ask({"EXISTS", command.args[1]}))
          << "seed " << seed << ", command " << i;
    }
    if (i % 500 == 499) {
      ASSERT_EQ(all_keys(theirs), all_keys(ours)) << "seed " << seed << ", command " << i;
    }
  }
}

TEST_P(Differential, finds_what_values_have_in_common_as_redis_does) {
  Random random(campaign_seed.value_or(1));
  Client theirs(redis_->port());
  Client ours(store_.port());
  const std::string version = std::to_string(GetParam());
  EXPECT_EQ(theirs.ask({"HELLO", version})[0], ours.ask({"HELLO", version})[0]);
  const auto both = [&](const std::vector<std::string>& args) {
    const std::string expected = theirs.ask(args);
    EXPECT_EQ(ours.ask(args), expected) << shown(args);
    return expected;
  };
  for (int i = 0; i < 200; ++i) {
    const auto letters = static_cast<int>(random.between(1, 4));
    for (const char* key : {"one", "other"}) {
      std::string text;
      for (std::uint64_t left = random.below(40); left > 0; --left) {
        text += static_cast<char>('a' + random.below(static_cast<std::uint64_t>(letters)));
      }
      both({"SET", key, text});
    }
    both({"LCS", "one", "other"});
    both({"LCS", "one", "other", "LEN"});
    both({"LCS", "one", "other", "IDX"});
    both({"LCS", "other", "one", "IDX", "WITHMATCHLEN", "MINMATCHLEN",
          std::to_string(random.below(5))});
  }
  both({"SET", "fits", std::string(2047, 'x')});
  both({"SET", "large", std::string(2048, 'x')});
  EXPECT_EQ(both({"LCS", "fits", "fits", "LEN"}), ":2047\r\n");
  EXPECT_EQ(both({"LCS", "fits", "large", "LEN"}).substr(0, 5), "-ERR ");
  both({"LCS", "large", "none", "IDX"});
  both({"LCS", "large", "large", "LEN", "IDX"});
}

TEST_P(Differential, refuses_what_redis_refuses) {
  for (const std::string bytes :
       {"*a\r\n", "*1\r\n#1\r\n", "*1\r\n$-5\r\n", "SET \"a\r\n", "*1\r\n$x\r\n", "*-1\r\nPING\r\n",
        "PING\r\n", "SET inline 'a b'\r\nGET inline\r\n", "*2\r\n$3\r\nGET\r\nfoo\r\n"}) {
    Client theirs(redis_->port());
    Client ours(store_.port());
    theirs.send(bytes);
    ours.send(bytes);
    EXPECT_EQ(ours.read(), theirs.read()) << shown(bytes);
  }
}

TEST_P(Differential, closes_when_redis_does) {
  for (const std::string bytes :
       {"QUIT\r\nPING\r\n", "QUIT now\r\nPING\r\n", "*1\r\n$4\r\nquit\r\n",
        "POST / HTTP/1.1\r\nHost: x\r\n\r\nSET evil 1\r\n", "host: x\r\nSET evil 1\r\n",
        "*1\r\n$5\r\nHoSt:\r\nSET evil 1\r\n"}) {
    Client theirs(redis_->port());
    Client ours(store_.port());
    theirs.send(bytes);
    ours.send(bytes);
    for (std::string expected; expected != "closed";) {
      expected = theirs.read();
      ASSERT_EQ(ours.read(), expected) << shown(bytes);
    }
  }
  EXPECT_EQ(Client(redis_->port()).ask({"EXISTS", "evil"}), ":0\r\n");
  EXPECT_EQ(Client(store_.port()).ask({"EXISTS", "evil"}), ":0\r\n");
}

TEST_P(Differential, describes_commands_as_redis_does) {
  Client theirs(redis_->port());
  Client ours(store_.port());
  const std::string version = std::to_string(GetParam());
  EXPECT_EQ(theirs.ask({"HELLO", version})[0], ours.ask({"HELLO", version})[0]);
  const std::vector<std::string> whole = {"COMMAND", "INFO", "get", "nosuch", "rename"};
  EXPECT_EQ(ours.ask(whole), theirs.ask(whole));
  for (const Command& command : commands()) {
    const std::string name(command.name);
    // Their families of subcommands have commands of their own, and version 7.0 no WAITAOF.
    if (command.family.empty() && name != "waitaof") {
      EXPECT_EQ(described(ours, name), described(theirs, name));
    }
  }
}

TEST_P(Differential, lets_in_whom_redis_lets_in) {
  ServedOptions options;
  options.front.password = "secret";
  ServedStore guarded(options);
  EXPECT_EQ(Client(redis_->port()).ask({"CONFIG", "SET", "requirepass", "secret"}), "+OK\r\n");
  const std::string version = std::to_string(GetParam());
  const std::vector<std::vector<std::vector<std::string>>> visits = {
      {{"GET", "k"},
       {"PING"},
       {"NOSUCH"},
       {"GET"},
       {"AUTH", "wrong"},
       {"AUTH", "secret"},
       {"PING"}},
      {{"HELLO", version}, {"HELLO"}, {"HELLO", "9"}, {"AUTH", "nobody", "secret"}, {"GET", "k"}},
      {{"HELLO", version, "AUTH", "default", "wrong"}, {"HELLO", version, "AUTH", "default"}},
      {{"HELLO", version, "AUTH", "default", "secret", "SETNAME", "me"}, {"CLIENT", "GETNAME"}},
      {{"AUTH", "default", "secret"},
       {"AUTH", "wrong"},
       {"GET", "k"},
       {"AUTH"},
       {"AUTH", "a", "b", "c"}},
      {{"QUIT"}, {"PING"}},
  };
  for (const std::vector<std::vector<std::string>>& visit : visits) {
    Client theirs(redis_->port());
    Client ours(guarded.port());
    for (const std::vector<std::string>& args : visit) {
      EXPECT_EQ(without_id(ours.ask(args)), without_id(theirs.ask(args))) << shown(args);
    }
  }
}

}  // namespace
}  // namespace remora::resp
