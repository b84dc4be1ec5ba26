// MULTI, EXEC, DISCARD, WATCH, UNWATCH on a store in a map. What Redis itself answers is held
// against this in tests/resp.
#include <gmock/gmock.h>

#include "front/resp/commands_testing.h"

namespace remora::resp {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class TransactionsTest : public CommandsTest {
 protected:
  // Queues the commands, and runs them.
  std::string run(const std::vector<std::string>& lines) {
    EXPECT_EQ(ask("MULTI"), "+OK|");
    for (const std::string& line : lines) {
      EXPECT_EQ(ask(line), "+QUEUED|") << line;
    }
    return ask("EXEC");
  }
  void put_below(std::string_view key, std::string_view value) {
    const ConstBytes piece = bytes_of(value);
    EXPECT_TRUE(store_.put(bytes_of(key), std::span(&piece, 1), 0).ok());
  }

  Session other_;
};

TEST_F(TransactionsTest, runs_what_was_queued_and_sees_what_it_has_written) {
  EXPECT_EQ(ask("MULTI"), "+OK|");
  EXPECT_EQ(ask("SET p 5"), "+QUEUED|");
  EXPECT_EQ(ask("INCR p"), "+QUEUED|");
  EXPECT_EQ(ask(other_, "GET p"), "$-1|");
  EXPECT_EQ(ask("EXEC"), "*2|+OK|:6|");
  EXPECT_EQ(ask("GET p"), "$1|6|");
  EXPECT_EQ(run({}), "*0|");
  EXPECT_EQ(run({"GETDEL p", "EXISTS p", "MSET a 1 b 2 a 3", "RENAME a c", "COPY c d", "DEL b",
                 "MGET a b c d", "DBSIZE", "KEYS *"}),
            "*9|$1|6|:0|+OK|+OK|:1|:1|*4|$-1|$-1|$1|3|$1|3|:2|*2|$1|c|$1|d|");
  EXPECT_EQ(ask("MGET p a b c d"), "*5|$-1|$-1|$-1|$1|3|$1|3|");
  EXPECT_EQ(store_.together, 1u);  // what has one write alone needs no more
}

TEST_F(TransactionsTest, an_error_of_one_command_is_its_reply_and_the_others_happen) {
  EXPECT_EQ(ask("SET word x"), "+OK|");
  EXPECT_EQ(run({"SET a 1", "INCR word", "SET b 2"}),
            "*3|+OK|-ERR value is not an integer or out of range|+OK|");
  EXPECT_EQ(ask("MGET a b word"), "*3|$1|1|$1|2|$1|x|");
}

TEST_F(TransactionsTest, nothing_is_run_when_a_command_could_not_be_queued) {
  for (const std::string wrong : {"NOSUCH x", "GET", "CLIENT NOSUCH", "CONFIG GET",
                                  "CLIENT SETNAME", "FLUSHALL", "FLUSHDB"}) {
    EXPECT_EQ(ask("MULTI"), "+OK|");
    EXPECT_EQ(ask("SET a 1"), "+QUEUED|");
    EXPECT_THAT(ask(wrong), StartsWith("-ERR ")) << wrong;
    EXPECT_EQ(ask("SET b 1"), "+QUEUED|");
    EXPECT_EQ(ask("EXEC"), "-EXECABORT Transaction discarded because of previous errors.|");
    EXPECT_EQ(ask("EXISTS a b"), ":0|") << wrong;
    EXPECT_EQ(ask("EXEC"), "-ERR EXEC without MULTI|");
  }
  EXPECT_EQ(ask("MULTI"), "+OK|");
  EXPECT_THAT(ask("FLUSHALL"), HasSubstr("send it by itself"));
  EXPECT_EQ(ask("DISCARD"), "+OK|");
  EXPECT_EQ(ask("FLUSHALL"), "+OK|");
}

// However many keys it has looked at in between.
TEST_F(TransactionsTest, copies_values_that_it_has_made_itself) {
  for (int keys = 1; keys < 80; ++keys) {
    EXPECT_EQ(ask("MULTI"), "+OK|");
    EXPECT_EQ(ask("SET a small"), "+QUEUED|");
    for (int i = 1; i < keys; ++i) {
      EXPECT_EQ(ask("GET k" + std::to_string(i)), "+QUEUED|");
    }
    EXPECT_EQ(ask("COPY a copy" + std::to_string(keys)), "+QUEUED|");
    EXPECT_EQ(ask("RENAMENX a moved" + std::to_string(keys)), "+QUEUED|");
    (void)ask("EXEC");
    EXPECT_EQ(ask("GET copy" + std::to_string(keys)), "$5|small|") << keys;
    EXPECT_EQ(ask("GET moved" + std::to_string(keys)), "$5|small|") << keys;
  }
}

TEST_F(TransactionsTest, mistakes_around_it_do_not_end_it) {
  EXPECT_EQ(ask("EXEC"), "-ERR EXEC without MULTI|");
  EXPECT_EQ(ask("DISCARD"), "-ERR DISCARD without MULTI|");
  EXPECT_EQ(ask("MULTI"), "+OK|");
  EXPECT_EQ(ask("MULTI"), "-ERR MULTI calls can not be nested|");
  EXPECT_EQ(ask("WATCH k"), "-ERR WATCH inside MULTI is not allowed|");
  EXPECT_EQ(ask("SET k v"), "+QUEUED|");
  EXPECT_EQ(ask("EXEC"), "*1|+OK|");
  EXPECT_EQ(ask("MULTI"), "+OK|");
  EXPECT_EQ(ask("EXEC now"),
            "-EXECABORT Transaction discarded because of: wrong number of arguments for 'exec' "
            "command|");
  EXPECT_EQ(ask("EXEC"), "-ERR EXEC without MULTI|");
}

TEST_F(TransactionsTest, a_discarded_one_leaves_nothing) {
  EXPECT_EQ(ask("WATCH k"), "+OK|");
  EXPECT_EQ(ask("MULTI"), "+OK|");
  EXPECT_EQ(ask("SET k v"), "+QUEUED|");
  EXPECT_EQ(ask("DISCARD"), "+OK|");
  EXPECT_EQ(ask("EXISTS k"), ":0|");
  EXPECT_FALSE(executor_.watches().any());
}

TEST_F(TransactionsTest, a_watched_key_that_changed_stops_it) {
  for (const char* change :
       {"SET k v", "DEL k", "EXPIRE k 100", "PERSIST k", "RENAME k l", "RENAME x k", "APPEND k w",
        "MSET k 1", "COPY x k REPLACE", "SET k v KEEPTTL", "GETEX k EX 10", "PEXPIREAT k 1"}) {
    for (const bool own : {false, true}) {
      EXPECT_EQ(ask("FLUSHALL"), "+OK|");
      EXPECT_EQ(ask("SET k v EX 1000"), "+OK|");
      EXPECT_EQ(ask("SET x y"), "+OK|");
      EXPECT_EQ(ask("WATCH other k x"), "+OK|");
      (void)ask(own ? session_ : other_, change);
      EXPECT_EQ(run({"SET done 1"}), "*-1|") << change;
      EXPECT_EQ(ask("EXISTS done"), ":0|");
      EXPECT_EQ(run({"SET done 1"}), "*1|+OK|");  // once
    }
  }
  EXPECT_EQ(ask("HELLO 3").substr(0, 1), "%");
  EXPECT_EQ(ask("WATCH k"), "+OK|");
  EXPECT_EQ(ask(other_, "SET k v"), "+OK|");
  EXPECT_EQ(run({"PING"}), "_|");
}

TEST_F(TransactionsTest, a_watched_key_that_nobody_changed_does_not_stop_it) {
  EXPECT_EQ(ask("MSET k v x y"), "+OK|");
  for (const char* nothing : {"GET k", "SET k w NX", "GETEX k", "DEL gone", "SETRANGE k 0 \"\"",
                              "RENAMENX x k", "MSETNX k 1", "SET other v", "EXPIRE k 10 XX"}) {
    EXPECT_EQ(ask("WATCH k gone"), "+OK|");
    (void)ask(other_, nothing);
    EXPECT_EQ(run({"PING"}), "*1|+PONG|") << nothing;
  }
  EXPECT_FALSE(executor_.watches().any());
}

TEST_F(TransactionsTest, a_watched_key_that_came_and_went_stops_it) {
  EXPECT_EQ(ask("WATCH k"), "+OK|");
  EXPECT_EQ(ask(other_, "SET k v"), "+OK|");
  EXPECT_EQ(ask(other_, "DEL k"), ":1|");
  EXPECT_EQ(run({"PING"}), "*-1|");
  // In a transaction of another client too, but not in one of which nothing has happened.
  EXPECT_EQ(ask("WATCH k"), "+OK|");
  EXPECT_EQ(ask(other_, "MULTI"), "+OK|");
  EXPECT_EQ(ask(other_, "SET k v"), "+QUEUED|");
  EXPECT_EQ(ask(other_, "DEL k"), "+QUEUED|");
  store_.refusals = 1;
  EXPECT_EQ(ask(other_, "EXEC"), "*2|+OK|:1|");  // nothing to write, so no room is needed
  EXPECT_EQ(run({"PING"}), "*-1|");
}

TEST_F(TransactionsTest, a_watched_key_whose_time_came_stops_it_unless_it_had_come_before) {
  EXPECT_EQ(ask("SET k v PX 10"), "+OK|");
  EXPECT_EQ(ask("WATCH k"), "+OK|");
  (void)loop_.run_for(20'000'000);
  EXPECT_EQ(run({"PING"}), "*-1|");
  EXPECT_EQ(ask("SET k v PX 10"), "+OK|");
  (void)loop_.run_for(20'000'000);
  EXPECT_EQ(ask("WATCH k"), "+OK|");
  EXPECT_EQ(ask(other_, "EXISTS k"), ":0|");
  EXPECT_EQ(run({"PING"}), "*1|+PONG|");
}

TEST_F(TransactionsTest, a_native_client_s_change_of_a_watched_key_stops_it) {
  EXPECT_EQ(ask("SET k v"), "+OK|");
  for (const char* key : {"k", "nothing"}) {
    EXPECT_EQ(ask("WATCH nothing k"), "+OK|");
    put_below(key, "native");
    EXPECT_EQ(run({"PING"}), "*-1|") << key;
  }
  // At the last moment.
  EXPECT_EQ(ask("WATCH k"), "+OK|");
  store_.before_together = [this] { put_below("k", "native"); };
  EXPECT_EQ(run({"SET k v", "SET l v"}), "*-1|");
  EXPECT_EQ(ask("EXISTS l"), ":0|");
}

TEST_F(TransactionsTest, is_run_anew_when_a_native_client_changes_what_it_has_read) {
  EXPECT_EQ(ask("SET n 1"), "+OK|");
  store_.before_together = [this] { put_below("n", "41"); };
  EXPECT_EQ(run({"INCR n", "CLIENT SETNAME me", "GET n"}), "*3|:42|+OK|$2|42|");
  EXPECT_EQ(counters_.hits, 1u);
  store_.on_its_way = 1;
  EXPECT_EQ(run({"INCR n"}), "");
  EXPECT_EQ(done_, Done::again);
  EXPECT_EQ(ask("EXEC"), "*1|:43|");
}

TEST_F(TransactionsTest, unwatch_and_the_end_of_a_client_end_its_watches) {
  EXPECT_EQ(ask("WATCH k"), "+OK|");
  EXPECT_EQ(ask(other_, "SET k v"), "+OK|");
  EXPECT_EQ(ask("UNWATCH"), "+OK|");
  EXPECT_EQ(run({"PING", "UNWATCH"}), "*2|+PONG|+OK|");
  EXPECT_FALSE(executor_.watches().any());
  {
    Session leaving;
    EXPECT_EQ(ask(leaving, "WATCH k"), "+OK|");
    EXPECT_EQ(ask(leaving, "MULTI"), "+OK|");
    EXPECT_EQ(ask(leaving, "SET k new"), "+QUEUED|");
    EXPECT_TRUE(executor_.watches().any());
  }
  EXPECT_FALSE(executor_.watches().any());
  EXPECT_EQ(ask("GET k"), "$1|v|");
}

TEST_F(TransactionsTest, waits_for_room_and_happens_wholly_or_not_at_all) {
  store_.refusals = 1;
  EXPECT_EQ(run({"SET a 1", "SET b 2"}), "");
  EXPECT_EQ(done_, Done::no_room);
  EXPECT_EQ(ask(other_, "EXISTS a b"), ":0|");
  EXPECT_EQ(ask("EXEC"), "*2|+OK|+OK|");
  full_ = true;
  store_.refusals = 1;
  EXPECT_EQ(run({"SET a 3", "SET c 4"}),
            "-EXECABORT Transaction discarded because of: OOM command not allowed: the store is "
            "full; delete keys, or use a larger pool|");
  EXPECT_EQ(ask("MGET a b c"), "*3|$1|1|$1|2|$-1|");
  EXPECT_EQ(ask("EXEC"), "-ERR EXEC without MULTI|");
}

TEST_F(TransactionsTest, what_never_finds_room_is_an_error_in_the_end) {
  EXPECT_EQ(ask("MSET a 1 b 2"), "+OK|");
  store_.refusals = 1;
  EXPECT_EQ(run({"DEL a b", "SET c 1"}), "");
  EXPECT_EQ(ask("EXEC"), "*2|:2|+OK|");
  store_.refusals = 1000;
  std::string reply = run({"SET a 1", "SET b 2"});
  for (int tries = 0; tries < 100 && reply.empty(); ++tries) {
    reply = ask("EXEC");
  }
  EXPECT_THAT(reply, StartsWith("-EXECABORT Transaction discarded because of: OOM "));
}

TEST_F(TransactionsTest, tells_why_a_store_takes_no_changes_and_still_reads) {
  EXPECT_EQ(ask("SET k v"), "+OK|");
  store_.read_only = true;
  EXPECT_EQ(run({"GET k", "SET k w"}),
            "-EXECABORT Transaction discarded because of: READONLY the store of this test is "
            "damaged|");
  EXPECT_EQ(run({"GET k", "PING"}), "*2|$1|v|+PONG|");
}

TEST_F(TransactionsTest, a_key_that_no_store_has_is_not_there) {
  const std::string key(2000, 'k');
  EXPECT_EQ(ask("WATCH " + key), "+OK|");
  EXPECT_EQ(run({"GET " + key, "SET a 1", "SET b 2"}), "*3|$-1|+OK|+OK|");
  EXPECT_THAT(run({"SET a 3", "SET " + key + " v", "SET b 4"}),
              StartsWith("*3|+OK|-ERR a key has"));
  EXPECT_EQ(ask("MGET a b"), "*2|$1|3|$1|4|");
}

TEST_F(TransactionsTest, a_damaged_value_is_an_error_of_the_command_that_needs_it) {
  EXPECT_EQ(ask("MSET a 1 b 2"), "+OK|");
  store_.damaged_key = "a";
  EXPECT_THAT(run({"INCR a", "INCR b"}), StartsWith("*2|-DAMAGED "));
  EXPECT_EQ(ask("GET b"), "$1|3|");
  EXPECT_EQ(ask("WATCH a"), "+OK|");
  EXPECT_EQ(run({"SET a 5", "GET a"}), "*2|+OK|$1|5|");
}

TEST_F(TransactionsTest, is_bounded) {
  settings_.most_queued_bytes = 4096;
  EXPECT_EQ(ask("MULTI"), "+OK|");
  std::string reply = "+QUEUED|";
  int queued = 0;
  for (; reply == "+QUEUED|" && queued < 1000; ++queued) {
    reply = ask("SET k " + std::string(100, 'v'));
    EXPECT_LT(session_.transaction->memory_bytes(), 2 * 4096u);
  }
  EXPECT_EQ(reply, "-ERR a transaction of this server has at most 4096 bytes|");
  EXPECT_GT(queued, 10);
  EXPECT_LT(session_.transaction->memory_bytes(), 1024u);
  EXPECT_EQ(ask("EXEC"), "-EXECABORT Transaction discarded because of previous errors.|");
  // What it writes is bounded as what it queues.
  EXPECT_EQ(run({"SETRANGE a 3000 x", "SETRANGE b 3000 x"}),
            "-EXECABORT Transaction discarded because of: the values that it writes are too many "
            "bytes|");
  EXPECT_EQ(ask("EXISTS a b"), ":0|");
  reply = "+OK|";
  for (int i = 0; reply == "+OK|" && i < 1000; ++i) {
    reply = ask("WATCH key-" + std::to_string(i));
  }
  EXPECT_THAT(reply, StartsWith("-ERR this client watches too many keys"));
}

TEST_F(TransactionsTest, roles_are_looked_at_when_it_is_queued_and_when_it_is_run) {
  session_.access = Access::read;
  EXPECT_EQ(ask("MULTI"), "+OK|");
  EXPECT_THAT(ask("SET k v"), StartsWith("-NOPERM "));
  EXPECT_EQ(ask("EXEC"), "-EXECABORT Transaction discarded because of previous errors.|");
  session_.access = Access::write;
  settings_.needs_password = true;
  settings_.authenticate = [](std::string_view, std::string_view password) {
    return password == "reader" ? Access::read : Access::none;
  };
  EXPECT_THAT(run({"AUTH reader", "SET k v"}), StartsWith("*2|+OK|-NOPERM "));
  EXPECT_EQ(ask("EXISTS k"), ":0|");
}

TEST_F(TransactionsTest, what_would_wait_does_not_wait_in_it) {
  store_.automatic = false;
  EXPECT_EQ(run({"WAITAOF 1 0 0", "SET k v", "WAITAOF 1 0 0"}), "*3|*2|:1|:0|+OK|*2|:0|:0|");
  const std::string large(limits::gather_bytes + 1, 'v');
  EXPECT_EQ(ask("SET large " + large), "+OK|");
  EXPECT_EQ(run({"GET large", "PING"}), "*2|$16385|" + large + "|+PONG|");
}

}  // namespace
}  // namespace remora::resp
