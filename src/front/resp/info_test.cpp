// What the server tells of itself and of its commands.
#include <gmock/gmock.h>

#include "front/resp/commands_testing.h"
#include "front/resp/server_testing.h"

namespace remora::resp {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST_F(CommandsTest, info_has_the_sections_that_are_asked_for) {
  EXPECT_EQ(ask("SET k v"), "+OK|");
  const std::string usual = ask("INFO");
  for (const char* part :
       {"# Server|redis_version:", "# Clients|connected_clients:", "# Memory|used_memory:",
        "|used_memory_human:", "|used_memory_rss:", "|maxmemory:", "# Persistence|loading:0|",
        "# Stats|", "|instantaneous_ops_per_sec:", "|evicted_keys:0|", "|keyspace_hits:",
        "# Replication|role:master|", "# CPU|used_cpu_sys:", "# Modules|", "# Errorstats|",
        "# Cluster|cluster_enabled:0|", "# Keyspace|db0:keys=1,expires=0,avg_ttl=0|"}) {
    EXPECT_THAT(usual, HasSubstr(part));
  }
  EXPECT_THAT(usual, Not(HasSubstr("# Commandstats")));
  EXPECT_EQ(ask("INFO default").substr(0, 3), usual.substr(0, 3));
  for (const char* every : {"all", "everything"}) {
    EXPECT_THAT(ask(std::string("INFO ") + every), HasSubstr("# Commandstats|cmdstat_info:calls="));
  }
  EXPECT_THAT(ask("INFO all"), Not(HasSubstr("# Modules")));
  const std::string two = ask("INFO cpu keyspace");
  EXPECT_THAT(two, HasSubstr("# CPU|"));
  EXPECT_THAT(two, Not(HasSubstr("# Server|")));
  EXPECT_EQ(ask("INFO nosuch"), "$0||");
  EXPECT_THAT(ask("INFO stats"), HasSubstr("|expired_keys:0|"));
  settings_.pool_bytes = 3 << 20;
  EXPECT_THAT(ask("INFO memory"), HasSubstr("|maxmemory:3145728|maxmemory_human:3.00M|"));
  EXPECT_EQ(ask("CONFIG GET maxmemory"), "*2|$9|maxmemory|$7|3145728|");
}

// So that what tools show, used memory in percent of the most, is how full the store is.
TEST_F(CommandsTest, tells_what_is_used_of_what_can_be_used) {
  settings_.pool_bytes = 3 << 20;
  store_.told = {
      .live_bytes = 1 << 20, .usable_bytes = 1 << 21, .index_bytes = 4096, .expired_keys = 7};
  EXPECT_THAT(ask("INFO memory"),
              HasSubstr("|used_memory:1048576|used_memory_human:1.00M|used_memory_rss:"));
  EXPECT_THAT(ask("INFO memory"), HasSubstr("|maxmemory:2097152|maxmemory_human:2.00M|"));
  EXPECT_EQ(ask("CONFIG GET maxmemory"), "*2|$9|maxmemory|$7|2097152|");
  store_.told.live_bytes = 1 << 19;
  const std::string memory = ask("INFO memory");
  for (const char* part : {"|used_memory:524288|", "|used_memory_peak:1048576|",
                           "|used_memory_peak_perc:50.00%|", "|used_memory_dataset:524288|",
                           "|pool_size:3145728|", "|index_memory:4096|", "|heap_memory:"}) {
    EXPECT_THAT(memory, HasSubstr(part));
  }
  EXPECT_THAT(ask("INFO stats"), HasSubstr("|expired_keys:7|"));
}

TEST_F(CommandsTest, says_why_a_parameter_cannot_be_set) {
  for (const auto& [parameter, why] : {std::pair("maxmemory 5", "remora pool grow"),
                                       {"maxmemory-policy allkeys-lru", "evicts nothing"},
                                       {"save 60", "--resp-durability"},
                                       {"appendfsync no", "--resp-durability"},
                                       {"databases 16", "one database"},
                                       {"notify-keyspace-events KEA", "no channels"},
                                       {"maxclients 1", "remora serve --help"}}) {
    EXPECT_THAT(ask(std::string("CONFIG SET ") + parameter), HasSubstr(why));
  }
}

TEST_F(CommandsTest, counts_commands_by_what_became_of_them) {
  EXPECT_EQ(ask("SET k v"), "+OK|");
  EXPECT_EQ(ask("SET k w"), "+OK|");
  EXPECT_THAT(ask("INCR k"), StartsWith("-ERR "));
  EXPECT_THAT(ask("INCR"), StartsWith("-ERR "));
  EXPECT_EQ(ask("MULTI"), "+OK|");
  EXPECT_EQ(ask("SET k 1"), "+QUEUED|");
  EXPECT_EQ(ask("EXEC"), "*1|+OK|");
  session_.access = Access::read;
  EXPECT_THAT(ask("SET k x"), StartsWith("-NOPERM "));
  const std::string stats = ask("INFO commandstats");
  EXPECT_THAT(stats, HasSubstr("|cmdstat_set:calls=3,usec="));
  EXPECT_THAT(stats, HasSubstr(",rejected_calls=1,failed_calls=0|"));
  EXPECT_THAT(stats, HasSubstr("|cmdstat_incr:calls=1,usec=0,usec_per_call=0.00,rejected_calls=1,"
                               "failed_calls=1|"));
  EXPECT_EQ(ask("INFO errorstats"),
            "$63|# Errorstats|errorstat_ERR:count=2|errorstat_NOPERM:count=1||");
  session_.access = Access::admin;
  EXPECT_THAT(ask("INFO latencystats"), HasSubstr("|latency_percentiles_usec_exec:p50="));
  EXPECT_EQ(ask("CONFIG RESETSTAT"), "+OK|");
  EXPECT_EQ(ask("INFO errorstats"), "$14|# Errorstats||");
}

TEST_F(CommandsTest, errors_by_kind_are_bounded) {
  for (int i = 0; i < 200; ++i) {
    executor_.stats().add_error("KIND" + std::to_string(i) + " text");
  }
  EXPECT_EQ(executor_.stats().errors().size(), 64u);
}

TEST(Rates, tell_what_came_in_the_last_second_or_so) {
  constexpr std::uint64_t second = 1'000'000'000;
  Rates rates;
  EXPECT_EQ(rates.now(5 * second, {.commands = 7}).commands, 0u);
  for (std::uint64_t i = 0; i < 40; ++i) {
    const std::uint64_t now_ns = 10 * second + i * second / 10;
    EXPECT_TRUE(rates.is_due(now_ns));
    rates.look(now_ns, {.commands = 50 * i, .bytes_in = 1000 * i, .bytes_out = 2000 * i});
    EXPECT_FALSE(rates.is_due(now_ns + 1));
  }
  const Rates::Counts now = rates.now(14 * second, {2000, 40'000, 80'000});
  EXPECT_NEAR(static_cast<double>(now.commands), 500, 1);
  EXPECT_NEAR(static_cast<double>(now.bytes_in), 10'000, 10);
  EXPECT_NEAR(static_cast<double>(now.bytes_out), 20'000, 20);
  EXPECT_EQ(rates.now(30 * second, {2000, 40'000, 80'000}).commands, 0u);  // long ago
}

TEST_F(CommandsTest, keeps_slow_commands) {
  EXPECT_EQ(ask("SLOWLOG LEN"), ":0|");
  EXPECT_EQ(ask("CONFIG SET slowlog-log-slower-than 0 slowlog-max-len 2"), "+OK|");
  EXPECT_EQ(ask("CONFIG GET slowlog-max-len"), "*2|$15|slowlog-max-len|$1|2|");
  for (const char* pattern : {"a*", "b*", "c*"}) {
    EXPECT_EQ(ask(std::string("KEYS ") + pattern), "*0|");
  }
  EXPECT_EQ(ask("SLOWLOG LEN"), ":2|");
  EXPECT_THAT(ask("SLOWLOG GET"), StartsWith("*2|*6|:2|:"));
  EXPECT_THAT(ask("SLOWLOG GET 1"), HasSubstr("*2|$4|KEYS|$2|c*|"));
  EXPECT_THAT(ask("SLOWLOG GET 1"), StartsWith("*1|"));
  EXPECT_EQ(ask("SLOWLOG GET -2"), "-ERR count should be greater than or equal to -1|");
  EXPECT_EQ(ask("SLOWLOG RESET"), "+OK|");
  std::string many = "MGET";
  for (int i = 0; i < 100; ++i) {
    many += " " + std::string(200, 'k');
  }
  (void)ask(many);
  const std::string shown = ask("SLOWLOG GET");
  EXPECT_THAT(shown, HasSubstr("... (72 more bytes)|"));
  EXPECT_THAT(shown, HasSubstr("... (70 more arguments)|"));
  EXPECT_EQ(ask("SLOWLOG RESET"), "+OK|");
  EXPECT_EQ(ask("CONFIG SET slowlog-log-slower-than -1"), "+OK|");
  EXPECT_EQ(ask("KEYS *"), "*0|");
  EXPECT_EQ(ask("SLOWLOG LEN"), ":0|");
}

TEST_F(CommandsTest, sets_what_can_be_set_all_or_nothing) {
  EXPECT_EQ(ask("CONFIG SET maxmemory-policy noeviction"), "+OK|");  // as it is
  EXPECT_EQ(ask("CONFIG SET slowlog-max-len 5 nosuch 1"),
            "-ERR Unknown option or number of arguments for CONFIG SET - 'nosuch'|");
  EXPECT_EQ(ask("CONFIG SET slowlog-max-len 5 maxmemory 100").substr(0, 67),
            "-ERR CONFIG SET failed (possibly related to argument 'maxmemory') -");
  EXPECT_EQ(ask("CONFIG GET slowlog-max-len"), "*2|$15|slowlog-max-len|$3|128|");
  EXPECT_THAT(ask("CONFIG SET slowlog-max-len -1"), StartsWith("-ERR CONFIG SET failed"));
  EXPECT_EQ(ask("CONFIG SET slowlog-max-len"),
            "-ERR wrong number of arguments for 'config|set' command|");
  EXPECT_EQ(ask("CONFIG SET a b c"), "-ERR syntax error|");
}

TEST_F(CommandsTest, tells_what_each_command_does_and_where_its_keys_are) {
  for (const Command& command : commands()) {
    EXPECT_NE(summary_of(command.name), "") << command.name;
  }
  EXPECT_THAT(ask("COMMAND DOCS get nosuch"), StartsWith("*2|$3|get|*4|$7|summary|$"));
  EXPECT_THAT(ask("COMMAND DOCS"), HasSubstr("$5|watch|"));
  EXPECT_EQ(ask("COMMAND GETKEYS MSET a 1 b 2"), "*2|$1|a|$1|b|");
  EXPECT_EQ(ask("COMMAND GETKEYS RENAME a b"), "*2|$1|a|$1|b|");
  EXPECT_EQ(ask("COMMAND GETKEYS NOSUCH a"), "-ERR Invalid command specified|");
  EXPECT_EQ(ask("COMMAND GETKEYS PING a"), "-ERR The command has no key arguments|");
  EXPECT_EQ(ask("COMMAND GETKEYS GET a b"),
            "-ERR Invalid number of arguments specified for command|");
  EXPECT_EQ(ask("COMMAND LIST FILTERBY ACLCAT bitmap"),
            "*4|$8|bitcount|$6|bitpos|$6|getbit|$6|setbit|");
  EXPECT_EQ(ask("COMMAND LIST FILTERBY PATTERN client|l*"), "*1|$11|client|list|");
  EXPECT_EQ(ask("COMMAND LIST FILTERBY MODULE json"), "*0|");
  EXPECT_EQ(ask("COMMAND LIST FILTERBY"), "-ERR syntax error|");
}

TEST_F(CommandsTest, an_admin_alone_deletes_all_keys) {
  EXPECT_EQ(ask("SET k v"), "+OK|");
  session_.access = Access::write;
  EXPECT_THAT(ask("FLUSHALL"), StartsWith("-NOPERM "));
  EXPECT_THAT(ask("FLUSHDB"), StartsWith("-NOPERM "));
  EXPECT_EQ(ask("DEL k"), ":1|");
  EXPECT_THAT(ask("CONFIG GET save"), StartsWith("*2|"));
  EXPECT_THAT(ask("CLIENT KILL TYPE normal"), StartsWith("-NOPERM "));
  EXPECT_THAT(ask("CLIENT SETNAME " + std::string(129, 'n')), HasSubstr("at most 128 bytes"));
  session_.access = Access::admin;
  EXPECT_EQ(ask("FLUSHALL"), "+OK|");
}

TEST_F(RespServerTest, tells_rates_and_what_connections_keep) {
  serve();
  const auto client = guest();
  for (int i = 0; i < 20; ++i) {
    client->send("SET k v\r\n");
    EXPECT_EQ(client->reply(), "+OK\r\n");
  }
  EXPECT_THAT(client->ask("INFO stats"), Not(HasSubstr("instantaneous_ops_per_sec:0\r\n")));
  EXPECT_THAT(client->ask("CLIENT LIST"),
              HasSubstr(" laddr=127.0.0.1:" + std::to_string(server_->port()) + " fd="));
}

}  // namespace
}  // namespace remora::resp
