// What tools look for, beside Redis: MONITOR, LATENCY, DEBUG.
#include <gtest/gtest.h>

#include <regex>
#include <string>
#include <vector>

#include "tests/resp/alike.h"
#include "tests/resp/client.h"
#include "tests/resp/redis_process.h"
#include "tests/resp/served_store.h"

namespace remora::resp {
namespace {

using Args = std::vector<std::string>;

class ToolsDifferential : public testing::Test {
 protected:
  void SetUp() override {
    redis_ = RedisProcess::start();
    ASSERT_NE(redis_, nullptr) << "redis-server does not start; scripts/setup installs it";
  }

  std::unique_ptr<RedisProcess> redis_;
  ServedStore store_;
};

// What a monitor is shown of these requests of another client, without times and addresses.
Args shown_of(std::uint16_t port, const std::vector<Args>& requests, const Args& hello) {
  Client monitor(port);
  EXPECT_EQ(monitor.ask(hello).substr(0, 1), hello[1] == "3" ? "%" : "*");
  EXPECT_EQ(monitor.ask({"MONITOR"}), "+OK\r\n");
  Client client(port);
  for (const Args& request : requests) {
    EXPECT_NE(client.ask(request), "closed");
  }
  EXPECT_EQ(client.ask({"ECHO", "the end"}), "$7\r\nthe end\r\n");
  const std::regex head("^\\+[0-9]+\\.[0-9]{6} \\[0 127\\.0\\.0\\.1:[0-9]+\\] ");
  Args lines;
  while (lines.empty() ||
         (lines.back() != "\"ECHO\" \"the end\"\r\n" && lines.back() != "closed")) {
    lines.push_back(std::regex_replace(monitor.read(), head, ""));
  }
  return lines;
}

TEST_F(ToolsDifferential, monitors_are_shown_what_redis_shows_them) {
  std::string all;
  for (int i = 0; i < 256; ++i) {
    all += static_cast<char>(i);
  }
  const std::vector<Args> requests = {{"SET", "k", all},
                                      {"get", "k"},
                                      {"set", "", ""},
                                      {"NOSUCH", "x"},
                                      {"GET"},
                                      {"CONFIG", "GET", "save"},
                                      {"SLOWLOG", "LEN"},
                                      {"LATENCY", "LATEST"},
                                      {"CLIENT", "SETNAME", "me"},
                                      {"CLIENT", "LIST"},
                                      {"CLIENT", "KILL", "ID", "77777"},
                                      {"AUTH", "password"},
                                      {"AUTH", "default", "password"},
                                      {"HELLO", "2", "AUTH", "default", "password", "SETNAME", "x"},
                                      {"INFO", "cluster"},
                                      {"COMMAND", "COUNT"},
                                      {"SELECT", "0"},
                                      {"WATCH", "k"},
                                      {"MULTI"},
                                      {"SET", "k", "v"},
                                      {"INCR", "k"},
                                      {"AUTH", "password"},
                                      {"CONFIG", "GET", "save"},
                                      {"EXEC"},
                                      {"MULTI"},
                                      {"SET", "k", "w"},
                                      {"NOSUCH"},
                                      {"EXEC"},
                                      {"MULTI"},
                                      {"DISCARD"},
                                      {"MULTI"},
                                      {"MONITOR"},
                                      {"EXEC"},
                                      {"DEBUG", "SLEEP", "0"},
                                      {"LCS", "k", "none"},
                                      {"DBSIZE"},
                                      {"FLUSHALL"},
                                      {"RESET"}};
  for (const char* version : {"2", "3"}) {
    const Args hello = {"HELLO", version};
    EXPECT_EQ(shown_of(store_.port(), requests, hello), shown_of(redis_->port(), requests, hello));
  }
}

TEST_F(ToolsDifferential, a_monitor_is_answered_as_by_redis) {
  Client theirs(redis_->port());
  Client ours(store_.port());
  for (Client* client : {&theirs, &ours}) {
    EXPECT_EQ(client->ask({"MONITOR"}), "+OK\r\n");
    client->send(Client::encode({"MONITOR"}));  // has no answer
    EXPECT_EQ(client->ask({"PING"}), "+PONG\r\n");
    EXPECT_EQ(client->read().substr(0, 1), "+");  // the line
    EXPECT_EQ(client->ask({"RESET"}), "+RESET\r\n");
    EXPECT_EQ(client->ask({"PING"}), "+PONG\r\n");
    EXPECT_EQ(client->ask({"PING"}), "+PONG\r\n");
    EXPECT_EQ(client->ask({"MONITOR"}), "+OK\r\n");
    EXPECT_EQ(client->ask({"QUIT"}), "+OK\r\n");
    EXPECT_EQ(client->read(), "closed");
  }
}

TEST_F(ToolsDifferential, answers_of_latency_and_debug_are_those_of_redis) {
  const std::vector<Args> requests = {{"LATENCY"},
                                      {"LATENCY", "NOSUCH"},
                                      {"LATENCY", "LATEST"},
                                      {"LATENCY", "LATEST", "x"},
                                      {"LATENCY", "HISTORY"},
                                      {"LATENCY", "HISTORY", "command"},
                                      {"LATENCY", "HISTORY", "nosuch"},
                                      {"LATENCY", "GRAPH", "command"},
                                      {"LATENCY", "GRAPH", "nosuch"},
                                      {"LATENCY", "RESET"},
                                      {"LATENCY", "RESET", "command", "nosuch"},
                                      {"LATENCY", "DOCTOR", "x"},
                                      {"LATENCY", "HISTOGRAM", "nosuch", "append"},
                                      {"CONFIG", "GET", "latency-tracking"},
                                      {"CONFIG", "GET", "latency-tracking-info-percentiles"},
                                      {"CONFIG", "SET", "latency-monitor-threshold", "100000"},
                                      {"CONFIG", "GET", "latency-monitor-threshold"},
                                      {"CONFIG", "SET", "latency-monitor-threshold", "0"},
                                      {"DEBUG"},
                                      {"DEBUG", "NOSUCH"},
                                      {"DEBUG", "SLEEP"},
                                      {"DEBUG", "SLEEP", "0"},
                                      {"DEBUG", "SLEEP", "0.001"},
                                      {"DEBUG", "SLEEP", "-1"},
                                      {"DEBUG", "SLEEP", "0", "0"}};
  for (const char* version : {"2", "3"}) {
    Client theirs(redis_->port());
    Client ours(store_.port());
    EXPECT_EQ(ours.ask({"HELLO", version})[0], theirs.ask({"HELLO", version})[0]);
    for (const Args& request : requests) {
      EXPECT_EQ(ours.ask(request), theirs.ask(request)) << shown(request);
    }
  }
}

// The client that asked for it sees a server that does not answer; others are served.
TEST_F(ToolsDifferential, a_sleep_is_noticed_by_the_client_that_asked_for_it_alone) {
  Client sleeper(store_.port());
  Client other(store_.port());
  sleeper.send(Client::encode({"DEBUG", "SLEEP", "86400"}));
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(other.ask({"PING"}), "+PONG\r\n");
  }
  EXPECT_FALSE(sleeper.is_readable(10));
}

}  // namespace
}  // namespace remora::resp
