// The commands on a store in a map, without sockets. What Redis itself answers is held against this
// in tests/resp.
#include <gtest/gtest.h>

#include <algorithm>

#include "resp/command.h"
#include "resp/memory_store.h"
#include "resp/parser.h"
#include "runtime/virtual_loop.h"

namespace remora::resp {
namespace {

class CommandsTest : public testing::Test {
 protected:
  // The reply to a line of words, with | for line ends.
  std::string ask(const std::string& line) {
    std::vector<std::string> words;
    EXPECT_TRUE(split_words(line, words));
    const std::vector<std::string_view> args(words.begin(), words.end());
    Output out;
    done_ = executor_.execute(session_, args, out, full_);
    std::string reply(out.text());
    if (!out.borrowed().empty()) {
      reply += std::string(out.borrowed()) + "\r\n";
    }
    for (std::size_t at = 0; (at = reply.find("\r\n", at)) != std::string::npos;) {
      reply.replace(at, 2, "|");
    }
    return reply;
  }

  VirtualLoop loop_;
  MemoryStore store_{loop_};
  Settings settings_;
  Counters counters_;
  Executor executor_{loop_, store_, settings_, counters_};
  Session session_;
  Done done_ = Done::replied;
  bool full_ = false;
};

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

// There are no transactions: what was meant for one is not run.
TEST_F(CommandsTest, runs_nothing_from_multi_up_to_exec_or_discard) {
  for (const std::string end : {"EXEC", "discard"}) {
    EXPECT_EQ(ask("Multi").substr(0, 40), "-ERR this server has no transactions: no");
    for (const std::string refused : {"SET k v", "GET", "nonsense", "MSET a 1 b 2", "MULTI"}) {
      EXPECT_EQ(ask(refused).substr(0, 5), "-ERR ") << refused;
    }
    EXPECT_EQ(ask(end), end == "EXEC" ? "-EXECABORT Transaction discarded because of previous "
                                        "errors.|"
                                      : "+OK|");
    EXPECT_EQ(ask("EXISTS k a b"), ":0|");
  }
  EXPECT_EQ(ask("EXEC"), "-ERR EXEC without MULTI|");
  EXPECT_EQ(ask("DISCARD"), "-ERR DISCARD without MULTI|");
  EXPECT_EQ(ask("MULTI now"), "-ERR wrong number of arguments for 'multi' command|");
  EXPECT_EQ(ask("SET k v"), "+OK|");
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
  EXPECT_EQ(ask("EXPIRE k 1 NX GT"),
            "-ERR NX and XX, GT or LT options at the same time are not compatible|");
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
  executor_.each_session = [&](const std::function<void(const Session&)>& visit) {
    visit(session_);
    visit(other);
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
  store_.refusals = 0;
  EXPECT_EQ(ask("MSETNX a 1 b 2"), ":1|");
  EXPECT_EQ(ask("DEL a b"), ":2|");
  store_.refusals = 1;
  EXPECT_EQ(ask("MSETNX a 1 b 2"), "");
  EXPECT_EQ(ask("MSETNX a 1 b 2"), ":1|");
  EXPECT_EQ(ask("MGET a b"), "*2|$1|1|$1|2|");
}

TEST_F(CommandsTest, several_keys_are_set_together_or_not_at_all) {
  EXPECT_EQ(ask("SET a old"), "+OK|");
  const std::string key(1025, 'k');
  EXPECT_EQ(ask("MSET a new " + key + " v").substr(0, 5), "-ERR ");
  EXPECT_EQ(ask("MSETNX b new " + key + " v").substr(0, 5), "-ERR ");
  EXPECT_EQ(ask("RENAME a " + key).substr(0, 5), "-ERR ");
  EXPECT_EQ(ask("MGET a b"), "*2|$3|old|$-1|");
}

TEST_F(CommandsTest, a_copy_that_was_made_is_not_taken_for_another_key) {
  for (const std::string command : {"RENAME", "RENAMENX"}) {
    EXPECT_EQ(ask("MSET from value other x"), "+OK|");
    store_.del_refusals = 1;
    EXPECT_EQ(ask(command + " from to"), "");
    EXPECT_EQ(done_, Done::no_room);
    EXPECT_EQ(ask(command + " from to"), command == "RENAME" ? "+OK|" : ":1|");
    EXPECT_EQ(ask("MGET from to"), "*2|$-1|$5|value|");
    EXPECT_EQ(ask("RENAMENX other to"), ":0|");
    EXPECT_EQ(ask("DEL to"), ":1|");
  }
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

}  // namespace
}  // namespace remora::resp
