// LATENCY on a store in a map: what is noted, and how it is told.
#include <gmock/gmock.h>

#include "front/resp/commands_testing.h"
#include "front/resp/latency_events.h"
#include "front/resp/limits.h"
#include "front/resp/server_testing.h"

namespace remora::resp {
namespace {

using Kind = LatencyEvents::Kind;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr std::uint64_t ms_ns = 1'000'000;

class LatencyTest : public CommandsTest {
 protected:
  LatencyTest() { EXPECT_EQ(ask("CONFIG SET latency-monitor-threshold 10"), "+OK|"); }
  void note(Kind kind, std::uint64_t took_ms) {
    executor_.latencies().note(kind, took_ms * ms_ns, loop_.wall_ms());
  }
  std::string second() const { return ":" + std::to_string(loop_.wall_ms() / 1000) + "|"; }
};

TEST_F(LatencyTest, keeps_what_took_as_long_as_the_threshold) {
  EXPECT_EQ(ask("LATENCY LATEST"), "*0|");
  note(Kind::command, 9);
  EXPECT_EQ(ask("LATENCY LATEST"), "*0|");
  note(Kind::command, 30);
  const std::string first = second();
  (void)loop_.run_for(2'000 * ms_ns);
  note(Kind::command, 10);
  note(Kind::command, 20);  // in the same second
  note(Kind::commit, 11);
  EXPECT_EQ(ask("LATENCY LATEST"),
            "*2|*4|$7|command|" + second() + ":20|:30|" + "*4|$6|commit|" + second() + ":11|:11|");
  EXPECT_EQ(ask("LATENCY HISTORY command"), "*2|*2|" + first + ":30|*2|" + second() + ":20|");
  EXPECT_EQ(ask("LATENCY HISTORY cleaning"), "*0|");
  EXPECT_EQ(ask("LATENCY HISTORY nosuch"), "*0|");
}

TEST_F(LatencyTest, keeps_a_bounded_number) {
  for (std::size_t i = 0; i < 2 * limits::latency_samples; ++i) {
    (void)loop_.run_for(1'000 * ms_ns);
    note(Kind::cleaning, 1'000 - i);
  }
  EXPECT_THAT(ask("LATENCY HISTORY cleaning"),
              StartsWith("*" + std::to_string(limits::latency_samples) + "|"));
  EXPECT_THAT(ask("LATENCY LATEST"), HasSubstr("|:1000|"));  // the longest ever
}

TEST_F(LatencyTest, forgets_what_it_is_told_to) {
  note(Kind::command, 30);
  note(Kind::fast_command, 30);
  note(Kind::commit, 30);
  EXPECT_EQ(ask("LATENCY RESET nosuch commit"), ":1|");
  EXPECT_THAT(ask("LATENCY LATEST"), StartsWith("*2|*4|$7|command|"));
  EXPECT_EQ(ask("LATENCY RESET"), ":2|");
  EXPECT_EQ(ask("LATENCY LATEST"), "*0|");
  EXPECT_EQ(ask("LATENCY RESET"), ":0|");
}

TEST_F(LatencyTest, draws_and_explains) {
  EXPECT_EQ(ask("LATENCY GRAPH command"), "-ERR No samples available for event 'command'|");
  EXPECT_EQ(ask("LATENCY GRAPH nosuch"), "-ERR No samples available for event 'nosuch'|");
  EXPECT_THAT(ask("LATENCY DOCTOR"), HasSubstr("Nothing has taken 10 ms or longer."));
  note(Kind::command, 60);
  (void)loop_.run_for(3'000 * ms_ns);
  note(Kind::command, 10);
  note(Kind::commit, 10);
  const std::string graph = ask("LATENCY GRAPH command");
  EXPECT_THAT(graph, HasSubstr("command - high 60 ms, low 10 ms (all time high 60 ms)\n"));
  EXPECT_THAT(graph, HasSubstr(" 3 s ago       60 ms " + std::string(60, '#') + "\n"));
  EXPECT_THAT(graph, HasSubstr(" 0 s ago       10 ms " + std::string(10, '#') + "\n"));
  const std::string report = ask("LATENCY DOCTOR");
  EXPECT_THAT(report, HasSubstr("command: samples 2, average 35 ms, mean deviation 25 ms, longest "
                                "ever 60 ms. SLOWLOG GET shows such commands.\n"));
  EXPECT_THAT(report, HasSubstr("commit: samples 1,"));
  EXPECT_EQ(ask("CONFIG SET slowlog-log-slower-than 50000"), "+OK|");
  EXPECT_THAT(ask("LATENCY DOCTOR"), HasSubstr("CONFIG SET slowlog-log-slower-than 10000."));
  EXPECT_EQ(ask("CONFIG SET latency-monitor-threshold 0"), "+OK|");
  EXPECT_THAT(ask("LATENCY DOCTOR"), HasSubstr("Nothing is noted: CONFIG SET"));
}

TEST_F(LatencyTest, has_a_threshold_that_can_be_set) {
  EXPECT_EQ(ask("CONFIG GET latency-monitor-threshold"), "*2|$25|latency-monitor-threshold|$2|10|");
  EXPECT_THAT(ask("CONFIG SET latency-monitor-threshold -1"), HasSubstr("must be a number"));
  EXPECT_THAT(ask("CONFIG SET latency-monitor-threshold 5 maxmemory 1"),
              StartsWith("-ERR CONFIG SET failed"));
  EXPECT_TRUE(executor_.latencies().is_on());
  EXPECT_EQ(executor_.latencies().threshold_ms, 10u);
  EXPECT_EQ(ask("CONFIG SET latency-monitor-threshold 0"), "+OK|");
  note(Kind::command, 1'000);
  EXPECT_EQ(ask("LATENCY LATEST"), "*0|");
}

TEST_F(LatencyTest, times_every_command_while_events_are_noted_and_one_in_some_otherwise) {
  const auto count = [&] {
    const Histogram* const times = executor_.stats().times(place_of(*find_command("get")));
    return times == nullptr ? 0 : times->count();
  };
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(ask("GET k"), "$-1|");
  }
  EXPECT_EQ(count(), 10u);
  EXPECT_EQ(ask("CONFIG SET latency-monitor-threshold 0"), "+OK|");
  for (int i = 0; i < 2 * static_cast<int>(limits::timed_one_in); ++i) {
    EXPECT_EQ(ask("GET k"), "$-1|");
  }
  EXPECT_EQ(count(), 12u);
}

TEST_F(LatencyTest, tells_how_long_commands_took) {
  EXPECT_EQ(ask("LATENCY HISTOGRAM nosuch append"), "*0|");
  const std::size_t append = place_of(*find_command("append"));
  for (const std::uint64_t took_ns : {500u, 900u, 3'000u, 3'500u, 100'000u}) {
    executor_.stats().add_time(append, took_ns);
  }
  const std::string told = "*2|$6|append|*4|$5|calls|:5|$14|histogram_usec|*6|:1|:2|:4|:4|:131|:5|";
  EXPECT_EQ(ask("LATENCY HISTOGRAM nosuch APPEND"), told);
  EXPECT_THAT(ask("LATENCY HISTOGRAM"), HasSubstr(told.substr(3)));
  session_.protocol = Protocol::three;
  EXPECT_THAT(ask("LATENCY HISTOGRAM append"), StartsWith("%1|$6|append|%2|$5|calls|:5|"));
  EXPECT_EQ(ask("CONFIG RESETSTAT"), "+OK|");
  EXPECT_EQ(ask("LATENCY HISTOGRAM append"), "%0|");
}

TEST_F(LatencyTest, refuses_what_redis_refuses) {
  EXPECT_EQ(ask("LATENCY"), "-ERR wrong number of arguments for 'latency' command|");
  EXPECT_EQ(ask("LATENCY NOSUCH"), "-ERR unknown subcommand 'NOSUCH'. Try LATENCY HELP.|");
  EXPECT_EQ(ask("LATENCY HISTORY"),
            "-ERR wrong number of arguments for 'latency|history' command|");
  EXPECT_EQ(ask("LATENCY LATEST x"),
            "-ERR wrong number of arguments for 'latency|latest' command|");
  EXPECT_THAT(ask("LATENCY HELP"), HasSubstr("+HISTOGRAM [<command> ...]|"));
  session_.access = Access::read;
  EXPECT_THAT(ask("LATENCY LATEST"), StartsWith("-NOPERM "));
}

// --- With sockets ---

TEST_F(RespServerTest, notes_how_long_replies_waited_for_a_commit) {
  serve({.durability = Durability::persistent});
  const auto client = guest();
  EXPECT_EQ(client->ask("CONFIG SET latency-monitor-threshold 1"), "+OK\r\n");
  store_.automatic = false;
  client->send("SET k v\r\n");
  EXPECT_EQ(client->came(), "");  // for longer than that
  store_.persist();
  EXPECT_EQ(client->reply(), "+OK\r\n");
  EXPECT_THAT(client->ask("LATENCY LATEST"), HasSubstr("$6\r\ncommit\r\n"));
  EXPECT_THAT(client->ask("LATENCY HISTORY cleaning"), Not(HasSubstr("*2")));
}

}  // namespace
}  // namespace remora::resp
