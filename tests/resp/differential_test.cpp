// The same commands to Redis and to our front end: the replies are the same. REMORA_RESP_COMMANDS
// says how many, REMORA_RESP_SEED which.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <set>
#include <string>
#include <thread>

#include "tests/resp/client.h"
#include "tests/resp/random_command.h"
#include "tests/resp/redis_process.h"
#include "tests/resp/served_store.h"

namespace remora::resp {
namespace {

std::uint64_t number_from(const char* name, std::uint64_t otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

std::string shown(const std::string& bytes) {
  std::string text;
  for (const char letter : bytes.substr(0, 300)) {
    text += letter >= ' ' && letter <= '~' ? std::string(1, letter) : ".";
  }
  return text;
}

std::string shown(const std::vector<std::string>& args) {
  std::string text;
  for (const std::string& arg : args) {
    text += "'" + shown(arg) + "' ";
  }
  return text;
}

// Two integers that are less than five seconds apart, be they milliseconds or seconds.
bool are_near(const std::string& one, const std::string& other) {
  if (one == other) {
    return true;
  }
  if (one.empty() || other.empty() || one[0] != ':' || other[0] != ':') {
    return false;
  }
  const long long difference = std::atoll(one.c_str() + 1) - std::atoll(other.c_str() + 1);
  return std::llabs(difference) < 5000;
}

std::set<std::string> all_keys(Client& client) {
  std::set<std::string> keys;
  std::string cursor = "0";
  do {
    const std::vector<std::string> parts = bulks_of(client.ask({"SCAN", cursor, "COUNT", "7"}));
    keys.insert(parts.begin() + 1, parts.end());
    cursor = parts.front();
  } while (cursor != "0");
  return keys;
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
  const std::uint64_t count = number_from("REMORA_RESP_COMMANDS", 2500);
  const std::uint64_t seed =
      number_from("REMORA_RESP_SEED", 1) + static_cast<std::uint64_t>(GetParam());
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
    bool same = false;
    switch (command.reply) {
      case RandomCommand::Reply::same:
        same = expected == got;
        break;
      case RandomCommand::Reply::near:
        same = are_near(expected, got);
        break;
      case RandomCommand::Reply::any_of:
        same = expected == got || ours.ask({"EXISTS", bulks_of(got).front()}) == ":1\r\n";
        break;
      case RandomCommand::Reply::set: {
        std::vector<std::string> one = bulks_of(expected);
        std::vector<std::string> other = bulks_of(got);
        std::ranges::sort(one);
        std::ranges::sort(other);
        same = one == other && expected.substr(0, 4) == got.substr(0, 4);
        break;
      }
    }
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

}  // namespace
}  // namespace remora::resp
