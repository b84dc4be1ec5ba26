// The same transactions to Redis and to our front end, from several connections at once: MULTI,
// WATCH and what others do meanwhile, one step after the other. A campaign has
// `--commands 100000` steps.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "front/resp/command.h"
#include "tests/resp/alike.h"
#include "tests/resp/client.h"
#include "tests/resp/random_command.h"
#include "tests/resp/redis_process.h"
#include "tests/resp/served_store.h"

namespace remora::resp {
namespace {

using Args = std::vector<std::string>;

void rest(int ms) {
  std::this_thread::sleep_for(std::chrono::milliseconds(ms));
}

// The same client of both.
struct Pair {
  Pair(std::uint16_t redis, std::uint16_t remora) : theirs(redis), ours(remora) {}

  Client theirs;
  Client ours;
  bool is_open = false;               // MULTI has begun
  std::vector<RandomCommand> queued;  // of them
};

// One has no transactions of several keys with all keys.
bool is_flush(const Args& args) {
  return is_word(args[0], "flushall") || is_word(args[0], "flushdb");
}

class TransactionsDifferential : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    redis_ = RedisProcess::start();
    ASSERT_NE(redis_, nullptr) << "redis-server does not start; scripts/setup installs it";
  }
  std::unique_ptr<Pair> come() const {
    return std::make_unique<Pair>(redis_->port(), store_.port());
  }
  static void expect_same(Pair& pair, const Args& args) {
    EXPECT_EQ(pair.ours.ask(args), pair.theirs.ask(args)) << shown(args);
  }
  // What is over is known to both.
  static void wait_for_times(Pair& observer, const std::vector<RandomCommand>& commands) {
    int pause_ms = 0;
    for (const RandomCommand& command : commands) {
      pause_ms = std::max(pause_ms, command.pause_ms);
    }
    if (pause_ms == 0) {
      return;
    }
    rest(pause_ms);
    for (const RandomCommand& command : commands) {
      if (command.pause_ms != 0 && command.args.size() > 1) {
        expect_same(observer, {"EXISTS", command.args[1]});
      }
    }
  }

  std::unique_ptr<RedisProcess> redis_;
  ServedStore store_;
};

INSTANTIATE_TEST_SUITE_P(protocols, TransactionsDifferential, testing::Values(2, 3),
                         testing::PrintToStringParamName());

RandomCommand step(Random& random, const Pair& pair) {
  const auto key = [&] { return "key:" + std::to_string(random.below(12)); };
  RandomCommand command;
  switch (random.below(20)) {
    case 0:
    case 1:
      command.args = {"WATCH", key()};
      for (std::uint64_t more = random.below(3); more > 0; --more) {
        command.args.push_back(key());
      }
      return command;
    case 2:
    case 3:
      command.args = {"MULTI"};
      return command;
    case 4:
    case 5:
    case 6:
      command.args = {"EXEC"};
      return command;
    case 7: {
      const std::array<Args, 9> rare = {{{"DISCARD"},
                                         {"DISCARD"},
                                         {"UNWATCH"},
                                         {"UNWATCH"},
                                         {"RESET"},
                                         {"EXEC", "now"},
                                         {"WATCH"},
                                         {"MULTI", "x"},
                                         {"DISCARD", "x"}}};
      command.args = rare[random.below(rare.size())];
      return command;
    }
    default:
      do {
        command = random_command(random);
        // Most of them are none that could not be queued, so that there are transactions that run.
      } while (is_flush(command.args) ||
               (pair.is_open && find_command(command.args[0]) == nullptr && random.chance(9, 10)));
      return command;
  }
}

TEST_P(TransactionsDifferential, end_as_those_of_redis_do) {
  const std::uint64_t count = campaign_commands.value_or(4000);
  const std::uint64_t seed = campaign_seed.value_or(1) + static_cast<std::uint64_t>(GetParam());
  Random random(seed);
  std::array<std::unique_ptr<Pair>, 3> pairs = {come(), come(), come()};
  const std::unique_ptr<Pair> observer = come();
  if (GetParam() == 3) {
    for (const std::unique_ptr<Pair>& pair : pairs) {
      EXPECT_EQ(pair->theirs.ask({"HELLO", "3"})[0], pair->ours.ask({"HELLO", "3"})[0]);
    }
  }
  std::uint64_t run = 0;
  std::uint64_t stopped = 0;
  std::uint64_t aborted = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::size_t which = random.below(pairs.size());
    if (random.chance(1, 200)) {
      pairs[which] = come();  // in the middle of whatever it was
    }
    Pair& pair = *pairs[which];
    const RandomCommand command = step(random, pair);
    const std::string expected = pair.theirs.ask(command.args);
    const std::string got = pair.ours.ask(command.args);
    const auto place = [&] {
      return "seed " + std::to_string(seed) + ", step " + std::to_string(i) + ", client " +
             std::to_string(which) + ": " + shown(command.args) + "\nredis:  " + shown(expected) +
             "\nremora: " + shown(got);
    };
    if (expected == "+QUEUED\r\n") {
      ASSERT_EQ(got, expected) << place();
      pair.queued.push_back(command);
      continue;
    }
    const bool is_exec = is_word(command.args[0], "exec");
    if (is_exec && expected[0] == '*' && expected != "*-1\r\n") {
      const std::vector<std::string> theirs = elements_of(expected);
      const std::vector<std::string> ours = elements_of(got);
      ASSERT_EQ(theirs.size(), pair.queued.size()) << place();
      ASSERT_EQ(ours.size(), pair.queued.size()) << place();
      bool is_over = false;  // some key may be past its time, which Redis counts and we do not
      for (std::size_t at = 0; at < ours.size(); ++at) {
        is_over = is_over || pair.queued[at].pause_ms != 0;
        const bool were_same = were_alike(pair.queued[at], theirs[at], ours[at]) ||
                               (is_over && is_word(pair.queued[at].args[0], "dbsize"));
        ASSERT_TRUE(were_same) << place() << "\nits command " << at << ": "
                               << shown(pair.queued[at].args) << "\nredis:  " << shown(theirs[at])
                               << "\nremora: " << shown(ours[at]);
      }
      wait_for_times(*observer, pair.queued);
      ++run;
    } else {
      const bool same = are_alike(command, pair.theirs, expected, pair.ours, got);
      ASSERT_TRUE(same) << place();
      wait_for_times(*observer, {command});
      stopped += std::uint64_t{is_exec && expected[0] != '-'};
      aborted += std::uint64_t{expected.starts_with("-EXECABORT")};
    }
    if (is_exec || is_word(command.args[0], "discard") || is_word(command.args[0], "reset")) {
      const bool ends = expected[0] != '-' || expected.starts_with("-EXECABORT");
      pair.is_open = pair.is_open && !ends;
      if (ends) {
        pair.queued.clear();
      }
    } else if (is_word(command.args[0], "multi")) {
      pair.is_open = pair.is_open || expected == "+OK\r\n";
    }
    if (i % 500 == 499) {
      ASSERT_EQ(all_keys(observer->theirs), all_keys(observer->ours)) << place();
      ASSERT_EQ(observer->theirs.ask({"DBSIZE"}), observer->ours.ask({"DBSIZE"})) << place();
    }
  }
  // It was about something.
  EXPECT_GT(run, count / 100);
  EXPECT_GT(stopped, count / 1000);
  EXPECT_GT(aborted, count / 1000);
}

// A time that comes while the key is watched; and one that had come before, of a key that nobody
// has looked at since.
TEST_P(TransactionsDifferential, know_times_as_those_of_redis_do) {
  const std::unique_ptr<Pair> pair = come();
  const std::unique_ptr<Pair> other = come();
  for (int ms = 50;; ms *= 2) {
    expect_same(*pair, {"SET", "k", "v", "PX", std::to_string(ms)});
    expect_same(*pair, {"WATCH", "k"});
    if (pair->ours.ask({"EXISTS", "k"}) == ":1\r\n" &&
        pair->theirs.ask({"EXISTS", "k"}) == ":1\r\n") {
      rest(ms + 1);
      break;
    }
    ASSERT_LT(ms, 60'000);
    expect_same(*pair, {"UNWATCH"});
  }
  expect_same(*pair, {"MULTI"});
  expect_same(*pair, {"SET", "done", "1"});
  expect_same(*pair, {"EXEC"});
  expect_same(*pair, {"EXISTS", "done"});
  for (const Args& meanwhile : std::vector<Args>{{"PING"},
                                                 {"EXISTS", "k"},
                                                 {"DEL", "k"},
                                                 {"SET", "k", "v"},
                                                 {"SETNX", "k", "v"},
                                                 {"RENAME", "k", "l"},
                                                 {"FLUSHALL"}}) {
    expect_same(*other, {"SET", "k", "v", "PX", "1"});
    rest(3);
    expect_same(*pair, {"WATCH", "k"});
    expect_same(*other, meanwhile);
    expect_same(*pair, {"MULTI"});
    expect_same(*pair, {"INCR", "done"});
    expect_same(*pair, {"EXEC"});
  }
}

TEST_P(TransactionsDifferential, need_the_same_rights) {
  ServedOptions options;
  options.front.password = "secret";
  ServedStore guarded(options);
  EXPECT_EQ(Client(redis_->port()).ask({"CONFIG", "SET", "requirepass", "secret"}), "+OK\r\n");
  Client theirs(redis_->port());
  Client ours(guarded.port());
  const std::string version = std::to_string(GetParam());
  for (const Args& args : std::vector<Args>{{"MULTI"},
                                            {"EXEC"},
                                            {"WATCH", "k"},
                                            {"HELLO", version, "AUTH", "default", "secret"},
                                            {"WATCH", "k"},
                                            {"MULTI"},
                                            {"AUTH", "wrong"},
                                            {"SET", "k", "v"},
                                            {"RESET"},
                                            {"GET", "k"},
                                            {"AUTH", "secret"},
                                            {"EXEC"},
                                            {"MULTI"},
                                            {"QUIT"}}) {
    EXPECT_EQ(without_id(ours.ask(args)), without_id(theirs.ask(args))) << shown(args);
  }
  EXPECT_TRUE(ours.is_closed());
}

}  // namespace
}  // namespace remora::resp
