// The same commands to Redis and to our front end: the replies are the same. REMORA_RESP_COMMANDS
// says how many, REMORA_RESP_SEED which.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <set>
#include <string>
#include <thread>

#include "resp/command.h"
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

// Two integers that are less than a minute apart, if they are milliseconds: the machine may stand
// still between the two questions. Times here are of a thousand seconds or more.
bool are_near(const std::string& one, const std::string& other) {
  if (one == other) {
    return true;
  }
  if (one.empty() || other.empty() || one[0] != ':' || other[0] != ':') {
    return false;
  }
  const long long difference = std::atoll(one.c_str() + 1) - std::atoll(other.c_str() + 1);
  return std::llabs(difference) < 60'000;
}

// All that a SCAN with these options finds, up to its end; `reply` is that to its first call.
std::set<std::string> all_keys(Client& client, std::vector<std::string> scan, std::string reply) {
  std::set<std::string> keys;
  for (;;) {
    const std::vector<std::string> parts = bulks_of(reply);
    keys.insert(parts.begin() + 1, parts.end());
    scan[1] = parts.front();
    if (scan[1] == "0") {
      return keys;
    }
    reply = client.ask(scan);
  }
}

std::set<std::string> all_keys(Client& client) {
  const std::vector<std::string> scan = {"SCAN", "0", "COUNT", "7"};
  return all_keys(client, scan, client.ask(scan));
}

std::vector<std::string> sorted(std::vector<std::string> list) {
  std::ranges::sort(list);
  return list;
}

std::string without_id(std::string hello) {
  const std::string name = "$2\r\nid\r\n:";
  if (const std::size_t at = hello.find(name); at != std::string::npos) {
    const std::size_t from = at + name.size();
    hello.erase(from, hello.find('\r', from) - from);
  }
  return hello;
}

// Where the value at this place of a reply ends.
std::size_t end_of(const std::string& reply, std::size_t at) {
  const std::size_t line = reply.find("\r\n", at) + 2;
  const long long count = std::atoll(reply.c_str() + at + 1);
  switch (reply[at]) {
    case '$':
      return count < 0 ? line : line + static_cast<std::size_t>(count) + 2;
    case '*':
    case '~':
    case '%': {
      std::size_t end = line;
      for (long long left = reply[at] == '%' ? 2 * count : count; left > 0; --left) {
        end = end_of(reply, end);
      }
      return end;
    }
    default:
      return line;
  }
}

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

bool are_alike(const RandomCommand& command, Client& theirs, const std::string& expected,
               Client& ours, const std::string& got) {
  if (expected == got) {
    return true;
  }
  switch (command.reply) {
    case RandomCommand::Reply::same:
      return false;
    case RandomCommand::Reply::near:
      return are_near(expected, got);
    case RandomCommand::Reply::any_of:
      return got[0] == '$' && ours.ask({"EXISTS", bulks_of(got).front()}) == ":1\r\n";
    case RandomCommand::Reply::set:
      return sorted(bulks_of(expected)) == sorted(bulks_of(got)) &&
             expected.substr(0, 4) == got.substr(0, 4);
    case RandomCommand::Reply::scan:
      return expected[0] == '*' && got[0] == '*' &&
             all_keys(theirs, command.args, expected) == all_keys(ours, command.args, got);
    case RandomCommand::Reply::hello:
      return without_id(expected) == without_id(got);
  }
  return false;
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
    if (name != "client" && name != "config" && name != "waitaof") {
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
