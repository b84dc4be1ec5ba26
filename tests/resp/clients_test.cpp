// Clients that others wrote, as they are, at the store that the command serves: hiredis, redis-cli,
// redis-benchmark, redis-py, node-redis, ioredis, Ruby's redis and phpredis.
#include <gmock/gmock.h>
#include <hiredis/hiredis.h>

#include <cstdlib>
#include <memory>
#include <regex>
#include <string>
#include <vector>

#include "tests/cli/served_store.h"

namespace remora {
namespace {

using testing::HasSubstr;

struct FreeReply {
  void operator()(redisReply* reply) const { freeReplyObject(reply); }
};
using Reply = std::unique_ptr<redisReply, FreeReply>;

struct FreeContext {
  void operator()(redisContext* context) const { redisFree(context); }
};
using Context = std::unique_ptr<redisContext, FreeContext>;

// In words: its kind and its text.
std::string shown(const redisReply* reply) {
  if (reply == nullptr) {
    return "no reply";
  }
  switch (reply->type) {
    case REDIS_REPLY_STRING:
      return "string " + std::string(reply->str, reply->len);
    case REDIS_REPLY_STATUS:
      return "status " + std::string(reply->str, reply->len);
    case REDIS_REPLY_ERROR:
      return "error " + std::string(reply->str, reply->len);
    case REDIS_REPLY_INTEGER:
      return "integer " + std::to_string(reply->integer);
    case REDIS_REPLY_NIL:
      return "nil";
    case REDIS_REPLY_ARRAY: {
      std::string text = "array";
      for (std::size_t i = 0; i < reply->elements; ++i) {
        text += "; " + shown(reply->element[i]);
      }
      return text;
    }
    default:
      return "kind " + std::to_string(reply->type);
  }
}

class RespClients : public ServedStore {
 protected:
  void SetUp() override {
    serve({"--resp", "127.0.0.1:0"});
    const std::string said = server_->out();
    const std::string before = "redis-cli -h 127.0.0.1 -p ";
    const std::size_t at = said.find(before);
    ASSERT_NE(at, std::string::npos) << said;
    port_ = std::stoi(said.substr(at + before.size()));
  }

  Context connect() const {
    Context context(redisConnect("127.0.0.1", port_));
    EXPECT_NE(context, nullptr);
    EXPECT_EQ(context->err, 0) << context->errstr;
    return context;
  }
  // A script beside this file, by what runs it. It ends with 77 where its client is not installed.
  void run_script(const std::string& script, const std::vector<std::string>& program,
                  const std::string& package) const {
    constexpr int is_missing = 77;
    std::vector<std::string> words = {"/usr/bin/env"};
    words.insert(words.end(), program.begin(), program.end());
    words.insert(words.end(), {REMORA_RESP_TESTS "/" + script, std::to_string(port_)});
    const Outcome outcome = run_process(words);
    if (outcome.exit_status == is_missing || outcome.exit_status == 127) {
      GTEST_SKIP() << package << ": " << outcome.out << outcome.err;
    }
    EXPECT_EQ(outcome.exit_status, 0) << outcome.out << outcome.err;
  }
  // A program with the port among its words.
  Outcome run(const std::string& program, const std::vector<std::string>& more) const {
    std::vector<std::string> words = {"/usr/bin/env", program, "-p", std::to_string(port_)};
    words.insert(words.end(), more.begin(), more.end());
    return run_process(words);
  }

  int port_ = 0;
};

template <typename... Words>
std::string reply_to(const Context& context, const char* format, Words... words) {
  return shown(
      Reply(static_cast<redisReply*>(redisCommand(context.get(), format, words...))).get());
}

TEST_F(RespClients, hiredis_asks_one_by_one) {
  const Context context = connect();
  const std::string binary("\0\r\n$5\r\n\xff\x80", 9);
  EXPECT_EQ(reply_to(context, "SET %s %b", "key", binary.data(), binary.size()), "status OK");
  EXPECT_EQ(reply_to(context, "GET %s", "key"), "string " + binary);
  EXPECT_EQ(reply_to(context, "SET %b %s", binary.data(), binary.size(), "value"), "status OK");
  EXPECT_EQ(reply_to(context, "MGET key %b none", binary.data(), binary.size()),
            "array; string " + binary + "; string value; nil");
  const std::string large(100'000, 'v');
  EXPECT_EQ(reply_to(context, "SET large %b", large.data(), large.size()), "status OK");
  EXPECT_EQ(reply_to(context, "GET large"), "string " + large);
  EXPECT_EQ(reply_to(context, "INCRBY count 7"), "integer 7");
  EXPECT_EQ(reply_to(context, "SET key"), "error ERR wrong number of arguments for 'set' command");
  EXPECT_EQ(reply_to(context, "EXISTS key large none"), "integer 2");
}

TEST_F(RespClients, hiredis_sends_many_before_it_reads) {
  const Context context = connect();
  constexpr int count = 1000;
  for (int i = 0; i < count; ++i) {
    ASSERT_EQ(redisAppendCommand(context.get(), "SET key:%d value:%d", i, i), REDIS_OK);
    ASSERT_EQ(redisAppendCommand(context.get(), "GET key:%d", i), REDIS_OK);
  }
  for (int i = 0; i < 2 * count; ++i) {
    void* reply = nullptr;
    ASSERT_EQ(redisGetReply(context.get(), &reply), REDIS_OK) << context->errstr;
    EXPECT_EQ(shown(Reply(static_cast<redisReply*>(reply)).get()),
              i % 2 == 0 ? "status OK" : "string value:" + std::to_string(i / 2));
  }
  EXPECT_EQ(reply_to(context, "DBSIZE"), "integer " + std::to_string(count));
}

// With the hiredis that is built into it, which knows the newer protocol.
TEST_F(RespClients, redis_cli_speaks_both_protocols) {
  const std::string proto[] = {"proto\n2\n", "proto 3\n"};
  for (const int version : {2, 3}) {
    const std::string option = "-" + std::to_string(version);
    const Outcome hello = run("redis-cli", {option, "HELLO"});
    EXPECT_EQ(hello.exit_status, 0) << hello.err;
    EXPECT_THAT(hello.out, HasSubstr(proto[version - 2]));
    EXPECT_EQ(run("redis-cli", {option, "-e", "SET", "key", "value"}).out, "OK\n");
    EXPECT_EQ(run("redis-cli", {option, "-e", "MGET", "key", "none"}).out, "value\n\n");
    const Outcome wrong = run("redis-cli", {option, "-e", "NOSUCH"});
    EXPECT_EQ(wrong.exit_status, 1);
    EXPECT_THAT(wrong.err + wrong.out, HasSubstr("unknown command"));
  }
}

TEST_F(RespClients, redis_benchmark_runs_without_an_error) {
  for (const char* pipeline : {"1", "16"}) {
    const Outcome outcome = run(
        "redis-benchmark", {"-t", "get,set,mset", "-n", "2000", "-P", pipeline, "-r", "100", "-q"});
    EXPECT_EQ(outcome.exit_status, 0) << pipeline;
    EXPECT_EQ(outcome.err, "") << pipeline;
    for (const char* test : {"SET: ", "GET: ", "MSET (10 keys): "}) {
      EXPECT_THAT(outcome.out, HasSubstr(test)) << pipeline;
    }
  }
}

TEST_F(RespClients, redis_cli_shows_what_it_shows_of_redis) {
  const auto shell = [&](const std::string& line) {
    const Outcome outcome = run_process({"/bin/bash", "-c", line});
    return outcome.out + outcome.err;
  };
  const std::string cli = "redis-cli -p " + std::to_string(port_) + " ";
  EXPECT_EQ(shell("head -c 5000 /dev/zero | " + cli + "-x SET large"), "OK\n");
  EXPECT_THAT(shell("for i in {1..99}; do echo SET key:$i value-$i; done | " + cli + "--pipe"),
              HasSubstr("errors: 0, replies: 99"));
  EXPECT_EQ(shell(cli + "--scan --pattern 'key:*' | sort -u | wc -l"), "99\n");
  const std::string large = shell(cli + "--bigkeys");
  EXPECT_THAT(large, HasSubstr("Sampled 100 keys in the keyspace!"));
  EXPECT_THAT(large, HasSubstr("Biggest string found '\"large\"' has 5000 bytes"));
  // Until three lines of numbers have come: keys, what they take, clients, blocked, requests.
  const std::string lines = shell("stdbuf -oL " + cli + "-i 0.1 --stat | head -n 5 | tail -n 3");
  EXPECT_TRUE(std::regex_search(
      lines, std::regex("^(100 +[0-9.]+K +[0-9]+ +0 +[0-9]+ \\(\\+[0-9]+\\) +[0-9]+ *\n){3}$")))
      << lines;
  EXPECT_THAT(shell(cli + "--raw --latency"),
              testing::MatchesRegex("[0-9]+ [0-9]+ [0-9.]+ [0-9]+\n"));
}

// Debian's Python, which has Debian's packages.
TEST_F(RespClients, redis_py_does_what_programs_do_with_it) {
  run_script("redis_py.py", {"/usr/bin/python3"}, "python3-redis is not installed (scripts/setup)");
}

TEST_F(RespClients, node_redis_does_what_programs_do_with_it) {
  const char* const more = std::getenv("NODE_PATH");
  run_script("node_redis.js",
             {std::string("NODE_PATH=/usr/share/nodejs") + (more == nullptr ? "" : ":") +
                  (more == nullptr ? "" : more),
              "node"},
             "node-redis is not installed (scripts/setup)");
}

TEST_F(RespClients, ioredis_does_what_programs_do_with_it) {
  run_script("ioredis.js", {"node"}, "ioredis is not found, which is no package of Debian's");
}

TEST_F(RespClients, ruby_redis_does_what_programs_do_with_it) {
  run_script("ruby_redis.rb", {"ruby"}, "ruby-redis is not installed (scripts/setup)");
}

TEST_F(RespClients, php_redis_does_what_programs_do_with_it) {
  run_script("php_redis.php", {"php"}, "php-redis is not installed (scripts/setup)");
}

}  // namespace
}  // namespace remora
