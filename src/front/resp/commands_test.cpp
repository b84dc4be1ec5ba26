// The commands on a store in a map, without sockets. What Redis itself answers is held against this
// in tests/resp.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "front/resp/commands_testing.h"

namespace remora::resp {
namespace {

TEST_F(CommandsTest, sets_and_gets) {
  EXPECT_EQ(ask("SET k v"), "+OK|");
  EXPECT_EQ(ask("get k"), "$1|v|");
  EXPECT_EQ(ask("GeT nothing"), "$-1|");
  EXPECT_EQ(ask("SET k w NX"), "$-1|");
  EXPECT_EQ(ask("SET k w XX GET"), "$1|v|");
  EXPECT_EQ(ask("GETSET k x"), "$1|w|");
  EXPECT_EQ(ask("GETDEL k"), "$1|x|");
  EXPECT_EQ(ask("EXISTS k"), ":0|");
  EXPECT_EQ(ask("MSET a 1 b 2"), "+OK|");
  EXPECT_EQ(ask("MGET a b c"), "*3|$1|1|$1|2|$-1|");
  EXPECT_EQ(ask("MSETNX c 3 a 4"), ":0|");
  EXPECT_EQ(ask("SETNX c 3"), ":1|");
  EXPECT_EQ(ask("DEL a b c d"), ":3|");
}

TEST_F(CommandsTest, an_error_that_repeats_a_line_feed_is_one_line) {
  const std::string reply = ask("\"no\\nsuch\\rcommand\"");
  EXPECT_THAT(reply, testing::HasSubstr("no such command"));
  EXPECT_EQ(reply.find_first_of("\r\n"), reply.npos);
}

TEST_F(CommandsTest, counts_and_cuts) {
  EXPECT_EQ(ask("INCR n"), ":1|");
  EXPECT_EQ(ask("INCRBY n 41"), ":42|");
  EXPECT_EQ(ask("DECRBY n 50"), ":-8|");
  EXPECT_EQ(ask("INCRBYFLOAT n 0.5"), "$4|-7.5|");
  EXPECT_EQ(ask("INCR n"), "-ERR value is not an integer or out of range|");
  EXPECT_EQ(ask("SET n 9223372036854775807"), "+OK|");
  EXPECT_EQ(ask("INCR n"), "-ERR increment or decrement would overflow|");
  EXPECT_EQ(ask("APPEND s hello"), ":5|");
  EXPECT_EQ(ask("SETRANGE s 7 x"), ":8|");
  EXPECT_EQ(ask("STRLEN s"), ":8|");
  EXPECT_EQ(ask("GETRANGE s 1 -4"), "$4|ello|");
  EXPECT_EQ(ask("SETRANGE s 99999999 x"),
            "-ERR string exceeds maximum allowed size (proto-max-bulk-len)|");
}

TEST_F(CommandsTest, keeps_times) {
  EXPECT_EQ(ask("SET k v EX 10"), "+OK|");
  EXPECT_EQ(ask("TTL k"), ":10|");
  EXPECT_EQ(ask("APPEND k w"), ":2|");
  EXPECT_EQ(ask("PTTL k"), ":10000|");
  EXPECT_EQ(ask("EXPIRE k 5 GT"), ":0|");
  EXPECT_EQ(ask("EXPIRE k 5 LT"), ":1|");
  (void)loop_.run_for(5'000'000'000);
  EXPECT_EQ(ask("GET k"), "$-1|");
  EXPECT_EQ(ask("TTL k"), ":-2|");
  EXPECT_EQ(ask("SET k v"), "+OK|");
  EXPECT_EQ(ask("TTL k"), ":-1|");
  EXPECT_EQ(ask("PEXPIREAT k 1"), ":1|");
  EXPECT_EQ(ask("EXISTS k"), ":0|");
  EXPECT_EQ(ask("SET k v EX 0"), "-ERR invalid expire time in 'set' command|");
  EXPECT_EQ(ask("SET k v EX -1"), "-ERR invalid expire time in 'set' command|");
  EXPECT_EQ(ask("SET k v EX 9223372036854776"), "-ERR invalid expire time in 'set' command|");
  EXPECT_EQ(ask("SET k v PX 9223372036854775807"), "-ERR invalid expire time in 'set' command|");
  EXPECT_EQ(ask("EXPIRE k 1 NX GT"),
            "-ERR NX and XX, GT or LT options at the same time are not compatible|");
}

TEST_F(CommandsTest, clears_when_native_clients_have_followed) {
  EXPECT_EQ(ask("MSET a 1 b 2 c 3"), "+OK|");
  store_.clear_refusals = 2;
  EXPECT_EQ(ask("FLUSHALL ASYNC"), "");
  EXPECT_EQ(ask("FLUSHALL ASYNC"), "");
  EXPECT_EQ(ask("DBSIZE"), ":3|");
  EXPECT_EQ(ask("FLUSHALL ASYNC"), "+OK|");
  EXPECT_EQ(ask("DBSIZE"), ":0|");
}

TEST_F(CommandsTest, answers_mistakes_as_redis_does) {
  EXPECT_EQ(ask("NOSUCH a b"),
            "-ERR unknown command 'NOSUCH', with args beginning with: 'a' 'b' |");
  EXPECT_EQ(ask("GET"), "-ERR wrong number of arguments for 'get' command|");
  EXPECT_EQ(ask("SET k v FOO"), "-ERR syntax error|");
  EXPECT_EQ(ask("CLIENT NOSUCH"), "-ERR unknown subcommand 'NOSUCH'. Try CLIENT HELP.|");
  EXPECT_EQ(ask("SELECT 1"), "-ERR DB index is out of range|");
  EXPECT_EQ(ask("SET " + std::string(1025, 'k') + " v"),
            "-ERR a key has at most 1024 bytes, a value at most 16777216|");
}

TEST_F(CommandsTest, helps_where_it_says_so) {
  for (const std::string name : {"CLIENT", "CONFIG", "COMMAND"}) {
    EXPECT_EQ(ask(name + " NOSUCH"), "-ERR unknown subcommand 'NOSUCH'. Try " + name + " HELP.|");
    const std::string reply = ask(name + " help");
    ASSERT_EQ(reply[0], '*');
    EXPECT_EQ(std::stol(reply.substr(1)), std::ranges::count(reply, '+'));
    EXPECT_NE(reply.find("+" + name + " <subcommand> [<arg> ...]. Subcommands are:|"),
              std::string::npos);
    EXPECT_EQ(ask(name + " HELP x").substr(0, 31), "-ERR wrong number of arguments ");
  }
}

TEST_F(CommandsTest, lists_clients_by_what_is_asked_for) {
  Session other;
  session_.id = 7;
  other.id = 8;
  other.name = "other";
  executor_.each_session = [&](const Executor::Visitor& visit) {
    visit(session_, {});
    visit(other, {});
  };
  const auto lines = [&](const std::string& line) {
    const std::string reply = ask(line);
    EXPECT_EQ(reply[0], '$') << line;
    return std::ranges::count(reply, '\n');
  };
  EXPECT_EQ(lines("CLIENT LIST"), 2);
  EXPECT_EQ(lines("CLIENT LIST TYPE normal"), 2);
  EXPECT_EQ(lines("CLIENT LIST TYPE pubsub"), 0);
  EXPECT_EQ(lines("CLIENT LIST ID 8 9"), 1);
  EXPECT_NE(ask("CLIENT LIST ID 9 8").find("name=other"), std::string::npos);
  EXPECT_EQ(ask("CLIENT LIST FOO"), "-ERR syntax error|");
  EXPECT_EQ(ask("CLIENT LIST TYPE foo"), "-ERR Unknown client type 'foo'|");
  EXPECT_EQ(ask("CLIENT LIST ID x"), "-ERR Invalid client ID|");
}

TEST_F(CommandsTest, describes_commands) {
  EXPECT_EQ(ask("COMMAND INFO get"),
            "*1|*10|$3|get|:2|*2|+readonly|+fast|:1|:1|:1|*3|+@read|+@string|+@fast|*0|*1|*6|"
            "$5|flags|*2|+RO|+access|$12|begin_search|*4|$4|type|$5|index|$4|spec|*2|$5|index|:1|"
            "$9|find_keys|*4|$4|type|$5|range|$4|spec|*6|$7|lastkey|:0|$7|keystep|:1|$5|limit|:0|"
            "*0|");
  EXPECT_EQ(ask("COMMAND INFO nosuch"), "*1|$-1|");
  EXPECT_EQ(ask("HELLO 3").substr(0, 1), "%");
  EXPECT_EQ(ask("COMMAND INFO nosuch"), "*1|_|");
  EXPECT_EQ(ask("COMMAND INFO ping"),
            "*1|*10|$4|ping|:-1|~1|+fast|:0|:0|:0|~2|+@fast|+@connection|~0|~0|~0|");
}

TEST_F(CommandsTest, lists_keys) {
  EXPECT_EQ(ask("MSET a1 x a2 x b1 x"), "+OK|");
  EXPECT_EQ(ask("KEYS a*"), "*2|$2|a1|$2|a2|");
  EXPECT_EQ(ask("SCAN 0 MATCH b*"), "*2|$1|0|*1|$2|b1|");
  EXPECT_EQ(ask("SCAN 0 TYPE list"), "*2|$1|0|*0|");
  EXPECT_EQ(ask("DBSIZE"), ":3|");
  EXPECT_EQ(ask("FLUSHALL"), "+OK|");
  EXPECT_EQ(ask("RANDOMKEY"), "$-1|");
}

TEST_F(CommandsTest, speaks_both_protocols) {
  EXPECT_EQ(ask("HELLO 3").substr(0, 3), "%7|");
  EXPECT_EQ(ask("GET nothing"), "_|");
  EXPECT_EQ(ask("CONFIG GET save"), "%1|$4|save|$0||");
  EXPECT_EQ(ask("INFO keyspace"), "=16|txt:# Keyspace||");
  EXPECT_EQ(ask("HELLO 4"), "-NOPROTO unsupported protocol version|");
  EXPECT_EQ(ask("HELLO 2").substr(0, 4), "*14|");
  EXPECT_EQ(ask("GET nothing"), "$-1|");
}

TEST_F(CommandsTest, lets_in_who_knows_the_password) {
  settings_.needs_password = true;
  settings_.authenticate = [](std::string_view user, std::string_view password) {
    return user == "default" && password == "secret" ? Access::write : Access::none;
  };
  session_.access = Access::none;
  EXPECT_EQ(ask("GET k"), "-NOAUTH Authentication required.|");
  EXPECT_EQ(ask("AUTH wrong"), "-WRONGPASS invalid username-password pair or user is disabled.|");
  EXPECT_EQ(ask("HELLO 3 AUTH default secret").substr(0, 3), "%7|");
  EXPECT_EQ(ask("GET k"), "_|");
}

TEST_F(CommandsTest, a_reader_changes_nothing) {
  EXPECT_EQ(ask("SET k old"), "+OK|");
  session_.access = Access::read;
  EXPECT_EQ(ask("GET k"), "$3|old|");
  EXPECT_EQ(ask("TTL k"), ":-1|");
  for (const char* request :
       {"SET k new", "DEL k", "APPEND k x", "GETDEL k", "GETEX k EX 1", "EXPIRE k 1", "FLUSHALL"}) {
    EXPECT_EQ(ask(request).substr(0, 7), "-NOPERM") << request;
  }
  EXPECT_EQ(ask("GET k"), "$3|old|");
}

TEST_F(CommandsTest, waits_for_room_and_says_when_there_is_none) {
  EXPECT_EQ(ask("SET k old"), "+OK|");
  store_.refusals = 1;
  EXPECT_EQ(ask("GETSET k new"), "");
  EXPECT_EQ(done_, Done::no_room);
  EXPECT_EQ(ask("GETSET k new"), "$3|old|");
  store_.refusals = 1;
  EXPECT_EQ(ask("SET k newer GET"), "");
  EXPECT_EQ(ask("SET k newer GET"), "$3|new|");
  full_ = true;
  store_.refusals = 1;
  EXPECT_EQ(ask("SET k x").substr(0, 5), "-OOM ");
}

TEST_F(CommandsTest, multiple_sets_go_on_where_there_was_no_room) {
  for (const std::string command : {"MSETNX a 1 b 2", "MSET a 1 b 2"}) {
    store_.refusals = 1;
    EXPECT_EQ(ask(command), "");
    EXPECT_EQ(done_, Done::no_room);
    EXPECT_EQ(ask("EXISTS a b"), ":0|");
    EXPECT_EQ(ask(command), command.starts_with("MSETNX") ? ":1|" : "+OK|");
    EXPECT_EQ(ask("MGET a b"), "*2|$1|1|$1|2|");
    EXPECT_EQ(ask("DEL a b"), ":2|");
  }
}

TEST_F(CommandsTest, what_never_finds_room_is_an_error_in_the_end) {
  store_.refusals = 1000;
  std::string reply;
  for (int tries = 0; tries < 100 && reply.empty(); ++tries) {
    reply = ask("MSET a 1 b 2");
  }
  EXPECT_EQ(reply.substr(0, 5), "-OOM ");
  store_.refusals = 1;
  EXPECT_EQ(ask("MSET a 1 b 2"), "");  // another one waits again
  EXPECT_EQ(done_, Done::no_room);
}

TEST_F(CommandsTest, the_last_value_counts_of_a_key_that_is_set_twice_at_once) {
  EXPECT_EQ(ask("MSET a 1 b 2 a 3 c 4 a 5"), "+OK|");
  EXPECT_EQ(ask("MGET a b c"), "*3|$1|5|$1|2|$1|4|");
  EXPECT_EQ(ask("MSETNX d 1 d 2"), ":1|");
  EXPECT_EQ(ask("GET d"), "$1|2|");
}

TEST_F(CommandsTest, several_keys_are_set_together_or_not_at_all) {
  EXPECT_EQ(ask("SET a old"), "+OK|");
  const std::string key(1025, 'k');
  EXPECT_EQ(ask("MSET a new " + key + " v").substr(0, 5), "-ERR ");
  EXPECT_EQ(ask("MSETNX b new " + key + " v").substr(0, 5), "-ERR ");
  EXPECT_EQ(ask("RENAME a " + key).substr(0, 5), "-ERR ");
  EXPECT_EQ(ask("MGET a b"), "*2|$3|old|$-1|");
}

TEST_F(CommandsTest, a_key_has_a_new_name_at_once) {
  for (const std::string command : {"RENAME", "RENAMENX"}) {
    EXPECT_EQ(ask("MSET from value other x"), "+OK|");
    EXPECT_EQ(ask("EXPIRE from 100"), ":1|");
    store_.refusals = 1;
    EXPECT_EQ(ask(command + " from to"), "");
    EXPECT_EQ(done_, Done::no_room);
    EXPECT_EQ(ask("MGET from to"), "*2|$5|value|$-1|");
    store_.on_its_way = 1;
    EXPECT_EQ(ask(command + " from to"), "");
    EXPECT_EQ(done_, Done::again);
    EXPECT_EQ(ask(command + " from to"), command == "RENAME" ? "+OK|" : ":1|");
    EXPECT_EQ(ask("MGET from to"), "*2|$-1|$5|value|");
    EXPECT_EQ(ask("TTL to"), ":100|");
    EXPECT_EQ(ask("RENAMENX other to"), ":0|");
    EXPECT_EQ(ask("DEL to"), ":1|");
  }
}

// A native client that changes a key between the look at it and the write.
TEST_F(CommandsTest, a_key_that_changes_meanwhile_is_renamed_and_copied_as_it_is_then) {
  for (const std::string command : {"RENAME a b", "COPY a b REPLACE"}) {
    EXPECT_EQ(ask("MSET a old b x"), "+OK|");
    store_.before_together = [this] {
      const ConstBytes value = bytes_of("new");
      EXPECT_TRUE(store_.put(bytes_of("a"), std::span(&value, 1), 0).ok());
    };
    EXPECT_EQ(ask(command)[0], command == "RENAME a b" ? '+' : ':');
    EXPECT_EQ(ask("GET b"), "$3|new|");
  }
  EXPECT_EQ(ask("DEL c"), ":0|");
  store_.before_together = [this] {
    const ConstBytes value = bytes_of("taken");
    EXPECT_TRUE(store_.put(bytes_of("c"), std::span(&value, 1), 0).ok());
  };
  EXPECT_EQ(ask("MSETNX c 1 d 2"), ":0|");
  EXPECT_EQ(ask("MGET c d"), "*2|$5|taken|$-1|");
}

TEST_F(CommandsTest, copies_a_key_with_its_time) {
  EXPECT_EQ(ask("SET a value EX 100"), "+OK|");
  EXPECT_EQ(ask("COPY a b"), ":1|");
  EXPECT_EQ(ask("TTL b"), ":100|");
  EXPECT_EQ(ask("SET a newer"), "+OK|");
  EXPECT_EQ(ask("COPY a b"), ":0|");
  EXPECT_EQ(ask("COPY a b DB 0 replace"), ":1|");
  EXPECT_EQ(ask("GET b"), "$5|newer|");
  EXPECT_EQ(ask("TTL b"), ":-1|");
  EXPECT_EQ(ask("COPY nothing b REPLACE"), ":0|");
  EXPECT_EQ(ask("COPY a a"), "-ERR source and destination objects are the same|");
  EXPECT_EQ(ask("COPY a b DB 1"), "-ERR DB index is out of range|");
  EXPECT_EQ(ask("COPY a b DB"), "-ERR syntax error|");
}

TEST_F(CommandsTest, is_as_new_after_a_reset) {
  session_.first_access = Access::read;
  EXPECT_EQ(ask("HELLO 3 SETNAME me").substr(0, 1), "%");
  EXPECT_EQ(ask("WATCH k"), "+OK|");
  EXPECT_EQ(ask("MULTI"), "+OK|");
  EXPECT_EQ(ask("RESET"), "+RESET|");
  EXPECT_EQ(ask("EXEC"), "-ERR EXEC without MULTI|");
  EXPECT_EQ(ask("CLIENT GETNAME"), "$-1|");
  EXPECT_EQ(ask("SET k v").substr(0, 7), "-NOPERM");
  EXPECT_FALSE(executor_.watches().any());
}

TEST_F(CommandsTest, a_failure_takes_the_place_of_the_value) {
  EXPECT_EQ(ask("MSET a 1 b 2"), "+OK|");
  store_.del_refusals = 1;
  EXPECT_EQ(ask("GETDEL a"), "");
  EXPECT_EQ(done_, Done::no_room);
  store_.failing_key = "a";
  EXPECT_EQ(ask("GETDEL a"), "-ERR the store failed: broken|");
  EXPECT_EQ(ask("GETEX a EXAT 1"), "-ERR the store failed: broken|");
  store_.failing_key.clear();
  EXPECT_EQ(ask("GETDEL a"), "$1|1|");
  full_ = true;
  for (const char* request : {"SET b 3 GET", "GETSET b 3", "GETEX b EX 10"}) {
    store_.refusals = 1;
    EXPECT_EQ(ask(request).substr(0, 5), "-OOM ") << request;
    EXPECT_EQ(ask("GET b"), "$1|2|");
  }
}

TEST_F(CommandsTest, what_failed_leaves_nothing_behind_for_the_next_command) {
  EXPECT_EQ(ask("MSET a 1 b 2"), "+OK|");
  store_.failing_key = "b";
  EXPECT_EQ(ask("DEL a b"), "-ERR the store failed: broken|");
  EXPECT_EQ(ask("MSET x 1 y 2"), "+OK|");
  EXPECT_EQ(ask("MGET x y"), "*2|$1|1|$1|2|");
  EXPECT_EQ(ask("DEL x y"), ":2|");
}

TEST_F(CommandsTest, a_browser_is_sent_away) {
  for (const char* request : {"POST / HTTP/1.1", "Host: x", "hOsT:"}) {
    session_.closing = false;
    EXPECT_EQ(ask(request), "") << request;
    EXPECT_EQ(done_, Done::replied);
    EXPECT_TRUE(session_.closing);
  }
  session_.closing = false;
  EXPECT_EQ(ask("HOST x").substr(0, 20), "-ERR unknown command");
  EXPECT_FALSE(session_.closing);
}

TEST_F(CommandsTest, waitaof_tells_what_is_persistent) {
  EXPECT_EQ(ask("SET k v"), "+OK|");
  EXPECT_EQ(ask("WAITAOF 1 0 0"), "*2|:1|:0|");
  store_.automatic = false;
  EXPECT_EQ(ask("SET k w"), "+OK|");
  EXPECT_EQ(ask("WAITAOF 0 0 0"), "*2|:0|:0|");
  EXPECT_EQ(ask("WAITAOF 1 0 0"), "");
  EXPECT_EQ(done_, Done::waits);
  EXPECT_EQ(ask("WAITAOF 2 0 0"), "-ERR value is out of range, value must between 0 and 1|");
}

// As a Redis without an append-only file.
TEST_F(CommandsTest, a_store_that_goes_with_its_process_does_not_claim_a_log) {
  EXPECT_NE(ask("INFO persistence").find("aof_enabled:1|"), std::string::npos);
  EXPECT_EQ(ask("CONFIG GET appendonly"), "*2|$10|appendonly|$3|yes|");
  settings_.outlives_process = false;
  const std::string info = ask("INFO persistence");
  EXPECT_NE(info.find("aof_enabled:0|"), std::string::npos) << info;
  EXPECT_NE(info.find("durability:none|"), std::string::npos) << info;
  EXPECT_EQ(ask("CONFIG GET appendonly"), "*2|$10|appendonly|$2|no|");
  EXPECT_EQ(ask("SET k v"), "+OK|");
  EXPECT_EQ(ask("WAITAOF 1 0 0"),
            "-ERR WAITAOF cannot be used when numlocal is set but appendonly is disabled.|");
  EXPECT_EQ(done_, Done::replied);
  EXPECT_EQ(ask("WAITAOF 0 0 0"), "*2|:0|:0|");
}

TEST_F(CommandsTest, every_command_has_its_place_in_the_table) {
  for (const Command& command : commands()) {
    EXPECT_EQ(find_command(command.name), &command);
  }
  EXPECT_EQ(find_command("ge\x14"), nullptr);
  EXPECT_EQ(find_command(""), nullptr);
}

// phpredis and others keep a cursor as a number with a sign.
TEST_F(CommandsTest, cursors_of_a_scan_fit_63_bits) {
  std::set<std::string> put;
  for (int i = 0; i < 500; ++i) {
    put.insert("key" + std::to_string(i));
    EXPECT_EQ(ask("SET key" + std::to_string(i) + " v"), "+OK|");
  }
  for (const char* count : {"1", "7", "1000"}) {
    std::set<std::string> found;
    std::string cursor = "0";
    std::size_t rounds = 0;
    do {
      std::string reply = ask("SCAN " + cursor + " COUNT " + count);
      const std::size_t begin = reply.find('|', reply.find('$')) + 1;
      cursor = reply.substr(begin, reply.find('|', begin) - begin);
      EXPECT_LE(std::stoull(cursor), std::uint64_t{INT64_MAX});
      for (std::size_t at = reply.find("|key"); at != reply.npos; at = reply.find("|key", at + 1)) {
        found.insert(reply.substr(at + 1, reply.find('|', at + 1) - at - 1));
      }
    } while (cursor != "0" && ++rounds < 2000);
    EXPECT_EQ(cursor, "0") << "it ends";
    EXPECT_EQ(found, put);
  }
}

}  // namespace
}  // namespace remora::resp
