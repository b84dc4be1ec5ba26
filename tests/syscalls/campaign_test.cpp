// Every system call of the server fails in turn, that call alone or with every later one, while it
// starts or while it serves native and Redis clients. It answers typed errors, goes on, or ends
// with status 2 or 3 and a word: it does not crash, hang or spin, and after a restart every value
// is there that was acknowledged as persistent.
//
// A campaign, `--calls 25`, follows each kind up to that call, or until a run makes no such call
// any more. Without it, some of the first fail.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <iostream>
#include <map>
#include <set>

#include "tests/support/campaign.h"
#include "tests/syscalls/served.h"

namespace remora::syscalls {
namespace {

using testing::AnyOf;

constexpr int loaded_keys = 4;

const CampaignNumber most_calls("calls", "how far each kind is followed (calls 1, 2 and 5)");

struct Turn {
  std::string kind;
  long call = 1;
  bool and_later = false;
  bool from_start = false;
};

std::string to_text(const Turn& turn) {
  return turn.kind + ":" + std::to_string(turn.call) + (turn.and_later ? "+" : "") +
         (turn.from_start ? " from the start" : " while it serves");
}

// What each key may hold: values are told by their lengths, 0 is none.
class Account {
 public:
  std::size_t next() { return ++last_ % 3 == 0 ? 20'000 + last_ : last_; }
  void put(int key, std::size_t size, bool is_acknowledged) {
    if (is_acknowledged) {
      sizes_[key] = {size};
    } else {
      sizes_[key].insert(size);
    }
  }
  void expect(int key, std::size_t size) {
    EXPECT_TRUE(sizes_[key].contains(size))
        << "key" << key << " has " << size << " bytes, and should have one of "
        << testing::PrintToString(sizes_[key]);
  }

 private:
  std::size_t last_ = 0;
  std::map<int, std::set<std::size_t>> sizes_ = {{0, {0}}, {1, {0}}, {2, {0}}, {3, {0}}};
};

class Trial {
 public:
  explicit Trial(const Turn& turn) : turn_(turn) {}

  // Whether the call was reached.
  bool go() {
    SCOPED_TRACE(to_text(turn_));
    if (!turn_.from_start) {
      start("", {});
      load();
      EXPECT_EQ(served_->stop(), 0) << served_->process().err();
    }
    const bool serves = start_to_fail();
    if (serves) {
      load();
      look_for_spinning();
      load();
      if (!turn_.and_later && !served_->process().ended()) {
        expect_that_it_answers();
      }
    }
    const bool was_reached = served_->has_failed_a_call();
    end();
    start("", {});
    check();
    EXPECT_EQ(served_->stop(), 0) << served_->process().err();
    return was_reached;
  }

 private:
  std::string fail() const {
    return turn_.kind + ":" + std::to_string(turn_.call) + (turn_.and_later ? "+" : "");
  }
  // Half of the runs end with a failure, half go on.
  std::string on_failure() const { return turn_.call % 2 == 0 ? "stay" : "exit"; }

  void start(const std::string& fail, const std::vector<std::string>& more) {
    std::vector<std::string> words = {"--resp-durability", "persistent"};
    words.insert(words.end(), more.begin(), more.end());
    served_ = std::make_unique<Served>(folder_, fail, words, turn_.from_start);
    if (fail.empty()) {
      ASSERT_TRUE(served_->wait_until_it_serves()) << served_->process().err();
    }
  }
  bool start_to_fail() {
    start(fail(), {"--on-failure", on_failure()});
    const bool serves = served_->wait_until_it_serves();
    EXPECT_TRUE(serves || turn_.from_start) << served_->process().err();
    if (serves) {
      served_->begin_to_fail();
    }
    return serves;
  }

  // Who is refused for good need not be waited for.
  int patience_ms() const { return turn_.and_later ? 300 : 60'000; }

  // Whether there was an answer.
  bool redis_set(RedisClient& client, int key) {
    const std::size_t size = account_.next();
    const std::string reply =
        client.ask("SET key" + std::to_string(key) + " " + std::string(size, 'v'));
    EXPECT_TRUE(turn_.and_later || reply != "silence");
    account_.put(key, size, reply == "+OK");
    return reply != "silence";
  }
  void redis_get(int key) {
    const std::string reply =
        RedisClient(served_->redis_port(), patience_ms()).ask("GET key" + std::to_string(key));
    EXPECT_TRUE(turn_.and_later || reply != "silence");
    if (reply.starts_with('$')) {
      account_.expect(key, reply == "$-1" ? 0 : std::stoul(reply.substr(1)));
    }
  }
  Outcome command(std::vector<std::string> words) {
    words.insert(words.begin(), {"/usr/bin/timeout", "60", REMORA_COMMAND});
    words.insert(words.end(), {"--socket", served_->socket()});
    return run_process(words);
  }
  bool native_put(int key) {
    const std::size_t size = account_.next();
    const Outcome put =
        command({"put", "--persistent", "key" + std::to_string(key), std::string(size, 'v')});
    EXPECT_THAT(put.exit_status, AnyOf(0, 2, 3)) << put.err;
    account_.put(key, size, put.exit_status == 0);
    return put.exit_status == 0;
  }
  void native_get(int key) {
    const Outcome got = command({"get", "key" + std::to_string(key)});
    EXPECT_THAT(got.exit_status, AnyOf(0, 1, 2, 3)) << got.err;
    if (got.exit_status == 0) {
      account_.expect(key, got.out.size());
    }
  }

  void load() {
    RedisClient client(served_->redis_port(), patience_ms());
    // A server that has stopped answering for good is asked once in each load.
    bool answers = true;
    for (int key = 0; key < loaded_keys && answers; ++key) {
      answers = redis_set(client, key) || !turn_.and_later;
      if (answers) {
        redis_get(key);
      }
    }
    // Who is refused for good is told so after some seconds: once is enough.
    bool goes_on = !refuses_natives_;
    for (int key = 0; key < loaded_keys && goes_on && !served_->process().ended(); key += 2) {
      goes_on = native_put(key) || !turn_.and_later;
      if (goes_on) {
        native_get(key);
      }
    }
    refuses_natives_ = !goes_on;
  }

  // Nobody asks for anything: a process that is busy in each of several looks has nothing to do.
  void look_for_spinning() {
    constexpr int looks = 4;
    constexpr int look_ms = 50;
    int busy = 0;
    for (int i = 0; i < looks && !served_->process().ended(); ++i) {
      const long before_ms = served_->cpu_ms();
      (void)::poll(nullptr, 0, look_ms);
      busy += served_->cpu_ms() - before_ms >= look_ms * 6 / 10 ? 1 : 0;
    }
    EXPECT_LT(busy, looks) << "it spins";
  }

  // The first to ask may be the one whose call fails.
  void expect_that_it_answers() {
    (void)RedisClient(served_->redis_port()).ask("PING");
    const std::string reply = RedisClient(served_->redis_port()).ask("PING");
    EXPECT_TRUE(reply == "+PONG" || served_->ended_within(60)) << reply;
    (void)command({"stat", "health"});
    const Outcome health = command({"stat", "health"});
    EXPECT_TRUE(health.exit_status == 0 || served_->ended_within(60)) << health.err;
  }

  void end() {
    const int status = served_->stop();
    EXPECT_THAT(status, AnyOf(0, 2, 3)) << served_->process().err();
    if (status == 2 || status == 3) {
      EXPECT_NE(served_->process().err(), "");
    }
  }

  void check() {
    for (int key = 0; key < loaded_keys; ++key) {
      const std::string reply =
          RedisClient(served_->redis_port()).ask("GET key" + std::to_string(key));
      ASSERT_TRUE(reply.starts_with('$')) << reply;
      account_.expect(key, reply == "$-1" ? 0 : std::stoul(reply.substr(1)));
    }
  }

  const Turn turn_;
  const TestFolder folder_{REMORA_DISK_FOLDER};
  std::unique_ptr<Served> served_;
  Account account_;
  bool refuses_natives_ = false;
};

std::vector<long> calls_in_turn() {
  if (!most_calls.is_given()) {
    return {1, 2, 5};
  }
  std::vector<long> calls;
  for (long call = 1; call <= static_cast<long>(most_calls.value_or(0)); ++call) {
    calls.push_back(call);
  }
  return calls;
}

class FailedCalls : public testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(Kinds, FailedCalls,
                         testing::Values("msync", "fdatasync", "fallocate", "ftruncate", "mmap",
                                         "memfd_create", "socket", "accept", "recv", "send",
                                         "epoll_wait", "epoll_ctl", "epoll_create", "eventfd",
                                         "read", "write", "signalfd", "thread"),
                         [](const auto& kind) { return std::string(kind.param); });

TEST_P(FailedCalls, are_answered_and_lose_nothing) {
  std::size_t runs = 0;
  std::size_t failed = 0;
  for (const bool from_start : {true, false}) {
    for (const bool and_later : {false, true}) {
      for (const long call : calls_in_turn()) {
        ++runs;
        if (!Trial({GetParam(), call, and_later, from_start}).go()) {
          break;
        }
        ++failed;
      }
    }
  }
  std::cout << GetParam() << ": " << failed << " of " << runs << " runs had a call that failed\n";
}

}  // namespace
}  // namespace remora::syscalls
