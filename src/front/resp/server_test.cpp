// The server on a store whose persistence the test decides, with clients on the same loop.
#include "front/resp/server.h"

#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "front/resp/server_testing.h"

namespace remora::resp {
namespace {

// --- Durability ---

TEST_F(RespServerTest, tells_nobody_of_what_a_power_cut_may_still_take) {
  serve({.durability = Durability::persistent});
  const auto writer = guest();
  const auto reader = guest();
  const auto rival = guest();
  const auto large = guest();
  const auto other = guest();
  store_.automatic = false;
  const std::string value(limits::gather_bytes + 1, 'v');
  writer->send(set("key", value));
  EXPECT_EQ(writer->came(), "");
  large->send("GET key\r\n");  // would leave from the pool
  reader->send("PING\r\nSTRLEN key\r\nPING\r\n");
  rival->send("SETNX key other\r\n");
  EXPECT_EQ(large->came(), "");
  EXPECT_EQ(reader->reply(), "+PONG\r\n");
  EXPECT_EQ(rival->came(), "");
  EXPECT_EQ(other->ask("PING"), "+PONG\r\n");  // tells nothing of the store
  store_.persist();
  EXPECT_EQ(writer->reply(), "+OK\r\n");
  EXPECT_EQ(reader->reply(), ":" + std::to_string(value.size()) + "\r\n+PONG\r\n");
  EXPECT_EQ(rival->reply(), ":0\r\n");
  EXPECT_EQ(large->reply_of(bulk(value).size()), bulk(value));
  // Where all is persistent nothing waits for a commit.
  const std::uint64_t commits = server_->commits();
  EXPECT_EQ(reader->ask("STRLEN key"), ":" + std::to_string(value.size()) + "\r\n");
  EXPECT_EQ(server_->commits(), commits);
}

TEST_F(RespServerTest, holds_a_later_read_for_a_later_write) {
  serve({.durability = Durability::persistent});
  const auto writer = guest();
  const auto reader = guest();
  store_.automatic = false;
  writer->send("SET key 1\r\n");
  reader->send("GET key\r\n");
  EXPECT_EQ(reader->came(), "");
  const kv::LocalStore::Mark first = store_.now();
  writer->send("SET key 2\r\n");
  reader->send("GET key\r\n");
  EXPECT_EQ(reader->came(), "");
  store_.persist(first);
  EXPECT_EQ(reader->reply_of(bulk("1").size()), bulk("1"));
  EXPECT_EQ(writer->reply(), "+OK\r\n");
  store_.persist();
  EXPECT_EQ(reader->reply_of(bulk("2").size()), bulk("2"));
  EXPECT_EQ(writer->reply(), "+OK\r\n");
}

// What is taken up again by the server itself, with nothing new at any socket.
TEST_F(RespServerTest, releases_replies_of_requests_that_had_to_wait_before) {
  serve({.durability = Durability::persistent});
  const auto client = guest();
  store_.automatic = false;
  store_.refusals = 1;
  client->send("SET a 1\r\n");
  EXPECT_EQ(client->came(), "");
  store_.persist();
  EXPECT_EQ(client->reply(), "+OK\r\n");
  client->send("SET a 2\r\nWAITAOF 0 1 30\r\nSET a 3\r\n");
  EXPECT_EQ(client->came(60'000'000), "");  // the second comes behind the first
  store_.persist();
  std::string all = client->reply();
  store_.persist();
  for (int looks = 0; looks < 100 && !all.ends_with("+OK\r\n"); ++looks) {
    all += client->came();
    store_.persist();
  }
  EXPECT_TRUE(all.starts_with("+OK\r\n*2\r\n")) << all;
  EXPECT_TRUE(all.ends_with("+OK\r\n")) << all;
}

TEST_F(RespServerTest, a_transaction_is_answered_when_all_of_it_is_persistent) {
  serve({.durability = Durability::persistent});
  const auto writer = guest();
  const auto other = guest();
  store_.automatic = false;
  other->send("SET x 1\r\n");
  EXPECT_EQ(other->came(), "");
  // What is queued tells nothing of the store.
  EXPECT_EQ(writer->ask("WATCH k"), "+OK\r\n");
  EXPECT_EQ(writer->ask("MULTI"), "+OK\r\n");
  EXPECT_EQ(writer->ask("GET x"), "+QUEUED\r\n");
  EXPECT_EQ(writer->ask("SET k v"), "+QUEUED\r\n");
  writer->send("EXEC\r\n");
  EXPECT_EQ(writer->came(), "");
  store_.persist();
  EXPECT_EQ(writer->reply(), "*2\r\n$1\r\n1\r\n+OK\r\n");
  EXPECT_EQ(other->reply(), "+OK\r\n");
  // Nor is it told before that somebody has changed what was watched.
  EXPECT_EQ(writer->ask("WATCH x"), "+OK\r\n");
  other->send("SET x 2\r\n");
  EXPECT_EQ(other->came(), "");
  EXPECT_EQ(writer->ask("MULTI"), "+OK\r\n");
  writer->send("EXEC\r\n");
  EXPECT_EQ(writer->came(), "");
  store_.persist();
  EXPECT_EQ(writer->reply(), "*-1\r\n");
}

TEST_F(RespServerTest, a_client_that_leaves_in_a_transaction_has_changed_nothing) {
  serve();
  const auto other = guest();
  auto leaving = guest();
  EXPECT_EQ(leaving->ask("WATCH k"), "+OK\r\n");
  EXPECT_EQ(leaving->ask("MULTI"), "+OK\r\n");
  EXPECT_EQ(leaving->ask("SET k v"), "+QUEUED\r\n");
  const std::uint64_t kept = server_->kept_bytes();
  EXPECT_GT(kept, 0u);  // what is queued is counted
  leaving->leave();
  (void)loop_.run_for(1'000'000);
  EXPECT_EQ(other->ask("EXISTS k"), ":0\r\n");
  EXPECT_EQ(server_->kept_bytes(), 0u);
}

TEST_F(RespServerTest, waits_for_a_value_that_is_on_its_way) {
  serve();
  const auto client = guest();
  EXPECT_EQ(client->ask("SET a 1"), "+OK\r\n");
  store_.on_its_way = 3;
  EXPECT_EQ(client->ask("RENAME a b"), "+OK\r\n");
  store_.on_its_way = 3;
  client->send("MULTI\r\nINCR b\r\nSET c 1\r\nEXEC\r\nGET b\r\n");
  const std::string expected = "+OK\r\n+QUEUED\r\n+QUEUED\r\n*2\r\n:2\r\n+OK\r\n$1\r\n2\r\n";
  EXPECT_EQ(client->reply_of(expected.size()), expected);
  store_.on_its_way = 3;
  client->send("MULTI\r\nINCR b\r\nSET c 1\r\nEXEC\r\n");
  client->leave();  // and nobody waits any more
  (void)loop_.run_for(1'000'000);
}

TEST_F(RespServerTest, shows_what_is_visible_where_nobody_asked_for_more) {
  serve();
  const auto writer = guest();
  const auto reader = guest();
  store_.automatic = false;
  EXPECT_EQ(writer->ask("SET key value"), "+OK\r\n");
  EXPECT_EQ(reader->ask("GET key"), "$5\r\nvalue\r\n");
}

TEST_F(RespServerTest, waits_as_long_as_it_is_told_however_long) {
  serve();
  const auto client = guest();
  for (const char* timeout : {"18446744073710", "9223372036854", "9000000000000000000"}) {
    const auto waiting = guest();
    waiting->send(std::string("WAITAOF 0 1 ") + timeout + "\r\n");
    EXPECT_EQ(waiting->came(), "") << timeout;
  }
  EXPECT_EQ(client->ask("WAITAOF 0 1 9223372036854775807"), "-ERR timeout is out of range\r\n");
  EXPECT_EQ(client->ask("WAITAOF 0 1 9223372036854775808"),
            "-ERR timeout is not an integer or out of range\r\n");
  EXPECT_EQ(client->ask("WAITAOF 0 1 -1"), "-ERR timeout is negative\r\n");
  EXPECT_EQ(client->ask("WAITAOF 0 1 1"), "*2\r\n:1\r\n:0\r\n");
}

// --- What is counted ---

TEST_F(RespServerTest, times_every_command_once_though_counters_are_reset_between) {
  serve();
  const auto client = guest();
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(client->ask("PING"), "+PONG\r\n");
  }
  EXPECT_EQ(client->ask("PING\r\nCONFIG RESETSTAT\r\nPING"), "+PONG\r\n+OK\r\n+PONG\r\n");
  EXPECT_EQ(server_->counters().commands, 1u);
  EXPECT_EQ(server_->counters().clients, 1u);
  EXPECT_EQ(server_->latency().count(), 7u);
}

// --- Memory ---

TEST_F(RespServerTest, half_a_request_costs_as_much_as_came_of_it) {
  serve();
  std::vector<std::unique_ptr<Guest>> guests;
  for (int i = 0; i < 100; ++i) {
    guests.push_back(guest());
    guests.back()->send("*3\r\n$");
    guests.back()->send("3\r\nSET\r\n$1\r\nk\r\n$16777216\r\nv");
  }
  EXPECT_LT(server_->kept_bytes(), guests.size() * 512);
  EXPECT_EQ(guests[0]->came(), "");
  const auto client = guest();
  client->send("*2\r\n$3\r\nGE");
  client->send("T\r\n$4\r\nn");
  client->send("one\r\n");
  EXPECT_EQ(client->reply(), "$-1\r\n");
  guests.clear();
  for (int looks = 0; looks < 1000 && server_->kept_bytes() >= 512u; ++looks) {
    (void)loop_.run_for(moment_ns);
  }
  EXPECT_LT(server_->kept_bytes(), 512u);
}

[[maybe_unused]] std::size_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::size_t all = 0;
  std::size_t resident = 0;
  file >> all >> resident;
  return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST_F(RespServerTest, gives_the_memory_of_clients_that_left_back_to_the_system) {
  serve();
  (void)::malloc_trim(0);  // what earlier tests have left
  const std::size_t before = resident_bytes();
  const std::string half =
      "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$16777216\r\n" + std::string(1 << 20, 'v');
  std::unique_ptr<Guest> stays;
  // When blocks of a size were freed, the allocator takes the next ones from its heap: there who
  // stays lies behind those who leave.
  const std::size_t most = before + (std::size_t{24} << 20);
  for (int round = 0; round < 2; ++round) {
    std::vector<std::unique_ptr<Guest>> guests;
    for (int i = 0; i < 48; ++i) {
      guests.push_back(guest());
      guests.back()->send(half);
    }
    stays = guest();
    stays->send(half);
    EXPECT_GT(resident_bytes(), before + (std::size_t{40} << 20));
    guests.clear();
    for (int looks = 0; looks < 1'000 && resident_bytes() >= most; ++looks) {
      (void)loop_.run_for(moment_ns);
    }
  }
  for (int looks = 0; looks < 1'000 && server_->trims() == 0; ++looks) {
    (void)loop_.run_for(moment_ns);
  }
  EXPECT_LT(resident_bytes(), most);
  EXPECT_GE(server_->trims(), 1u);
}
#endif

// A million arguments that trickle in cost what they have bytes, whatever the pieces are.
TEST_F(RespServerTest, copies_a_request_that_trickles_in_a_few_times_at_most) {
  serve();
  const auto client = guest();
  constexpr int arguments = 100'000;
  std::string request = "*" + std::to_string(arguments) + "\r\n" + bulk("DEL");
  for (int i = 1; i < arguments; ++i) {
    request += "$1\r\na\r\n";
  }
  constexpr std::size_t part = 2'700;
  for (std::size_t at = 0; at < request.size(); at += part) {
    client->send(request.substr(at, part));
  }
  EXPECT_EQ(client->reply(), ":0\r\n");
  // A buffer that doubles copies all of it once; before that it is put in front of what comes.
  const std::size_t in_front = limits::front_bytes * (limits::front_bytes / part + 2);
  EXPECT_LE(server_->copied_bytes(), 2 * request.size() + in_front);
}

TEST_F(RespServerTest, receives_a_large_value_where_it_stays) {
  serve();
  const auto client = guest();
  const std::string value(1 << 20, 'v');
  const std::string request = set("key", value);
  for (const std::size_t part : {request.size(), std::size_t{100'000}, std::size_t{10'000}}) {
    const std::uint64_t before = server_->copied_bytes();
    for (std::size_t at = 0; at < request.size(); at += part) {
      client->send(request.substr(at, part));
    }
    EXPECT_EQ(client->reply(), "+OK\r\n");
    // What the first reads found of it.
    EXPECT_LE(server_->copied_bytes() - before, limits::read_bytes + 2 * limits::front_bytes);
    EXPECT_EQ(store_.get(as_bytes("key"))->value.size(), value.size());
  }
  EXPECT_LT(server_->kept_bytes(), 512u);
}

TEST_F(RespServerTest, does_not_run_what_a_client_asks_for_who_takes_nothing) {
  serve();
  const auto client = guest();
  const std::string value(200'000, 'v');
  client->send(set("key", value));
  EXPECT_EQ(client->reply(), "+OK\r\n");
  const std::uint64_t before = server_->counters().commands;
  std::string gets;
  constexpr std::uint64_t count = 500;  // 100 MB: more than the sockets take
  for (std::uint64_t i = 0; i < count; ++i) {
    gets += "GET key\r\n";
  }
  client->send(gets);
  (void)loop_.run_for(moment_ns);
  EXPECT_LT(server_->counters().commands - before, count);
  EXPECT_LT(server_->kept_bytes(), 2 * limits::output_pause_bytes + 2 * value.size());
  std::size_t taken = 0;
  for (int looks = 0; looks < 10'000 && taken < count * bulk(value).size(); ++looks) {
    taken += client->came(1'000).size();
  }
  EXPECT_EQ(taken, count * bulk(value).size());
  EXPECT_LT(server_->kept_bytes(), 4096u);
}

// Replies of one turn leave together, from one buffer that all share. It begins empty in the next
// turn: else all that was ever replied would count, and its bound would end every connection.
TEST_F(RespServerTest, serves_for_ever_however_much_it_has_replied) {
  serve();
  const auto client = guest();
  const std::string value(limits::gather_bytes - 1024, 'v');
  client->send(set("key", value));
  ASSERT_EQ(client->reply(), "+OK\r\n");
  constexpr std::size_t values = 40;
  std::string ask = "MGET";
  std::string expected = "*" + std::to_string(values) + "\r\n";
  for (std::size_t i = 0; i < values; ++i) {
    ask += " key";
    expected += bulk(value);
  }
  ask += "\r\n";
  ASSERT_LT(expected.size(), limits::output_pause_bytes);
  for (std::size_t replied = 0; replied <= limits::output_bytes; replied += expected.size()) {
    client->send(ask);
    const std::string reply = client->reply_of(expected.size());
    ASSERT_TRUE(reply == expected) << "after " << replied << " bytes: " << reply.size();
  }
  EXPECT_EQ(guest()->ask("PING"), "+PONG\r\n");
}

TEST_F(RespServerTest, cuts_off_who_keeps_most_when_all_keep_too_much) {
  constexpr std::uint64_t most = 6 << 20;
  serve({.kept_bytes = most});
  const auto client = guest();
  client->send(set("key", std::string(1 << 20, 'v')));
  EXPECT_EQ(client->reply(), "+OK\r\n");
  client->send("*2\r\n$3\r\nGE");  // keeps little
  std::string gets;
  for (int i = 0; i < 20; ++i) {
    gets += "GET key\r\n";
  }
  std::vector<std::unique_ptr<Guest>> idlers;
  for (int i = 0; i < 8; ++i) {
    idlers.push_back(guest());
    idlers.back()->send(gets);
    (void)loop_.run_for(1'000'000);
    EXPECT_LE(server_->kept_bytes(), most);
  }
  EXPECT_LT(server_->counters().clients, 1 + idlers.size());
  // So do values that do not come.
  const std::string begun = set("key", std::string(16 << 20, 'v')).substr(0, 40'000);
  for (int i = 0; i < 20; ++i) {
    idlers.push_back(guest());
    idlers.back()->send(begun);
    EXPECT_LE(server_->kept_bytes(), most);
  }
  client->send("T\r\n$4\r\nnone\r\n");
  EXPECT_EQ(client->reply(), "$-1\r\n");
}

// --- Who comes ---

TEST_F(RespServerTest, one_guest_does_not_take_all_places) {
  std::string next = "user 1";
  RespOptions options = {.most_clients = 6, .most_guests = 5, .most_of_guest = 2};
  options.doorkeeper = [&](int, const std::string&) { return Visitor{Access::write, next}; };
  serve(options);
  std::vector<std::unique_ptr<Guest>> guests;
  const auto come = [&](const std::string& who) {
    next = who;
    guests.push_back(guest());
    return guests.back()->ask("PING");
  };
  const std::string pong = "+PONG\r\n";
  const auto refusal = [](const std::string& who) {
    return "-ERR max number of clients reached for " + who + "\r\n";
  };
  EXPECT_EQ(come("user 1"), pong);
  EXPECT_EQ(come("user 1"), pong);
  EXPECT_EQ(come("user 1").substr(0, refusal("user 1").size()), refusal("user 1"));
  EXPECT_EQ(come("user 2"), pong);
  EXPECT_EQ(come("user 2"), pong);
  EXPECT_EQ(come("user 3"), pong);
  EXPECT_EQ(come("user 4").substr(0, refusal("user 4").size()), refusal("user 4"));
  EXPECT_EQ(come(""), pong);  // the store's own
  guests.front()->leave();
  std::string answer;
  for (int attempts = 0; attempts < 1000 && answer != pong; ++attempts) {
    (void)loop_.run_for(moment_ns);  // until it is seen to have gone
    answer = come("user 1");
  }
  EXPECT_EQ(answer, pong);
}

// Nothing more can be opened by this process while it lives.
class NoMoreFiles {
 public:
  NoMoreFiles() {
    (void)::getrlimit(RLIMIT_NOFILE, &before_);
    const int next = ::dup(0);
    ::close(next);
    const rlimit none = {.rlim_cur = static_cast<rlim_t>(next), .rlim_max = before_.rlim_max};
    EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  }
  NoMoreFiles(const NoMoreFiles&) = delete;
  NoMoreFiles& operator=(const NoMoreFiles&) = delete;
  ~NoMoreFiles() { (void)::setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_ = {};
};

TEST_F(RespServerTest, sleeps_while_it_cannot_let_anybody_in) {
  serve();
  const auto old = guest();
  EXPECT_EQ(old->ask("PING"), "+PONG\r\n");
  const auto first = guest();
  const auto second = guest();
  first->leave();  // before it was let in
  {
    const auto third = guest();
    const NoMoreFiles none;
    (void)loop_.run_for(moment_ns);
    const std::uint64_t parks = loop_.parks();
    (void)loop_.run_for(5 * moment_ns);
    EXPECT_LT(loop_.parks() - parks, 50u);
    EXPECT_EQ(old->ask("PING"), "+PONG\r\n");
  }
  EXPECT_EQ(second->ask("PING"), "+PONG\r\n");
}

TEST_F(RespServerTest, lets_the_next_in_when_a_client_goes) {
  serve();
  auto old = guest();
  EXPECT_EQ(old->ask("PING"), "+PONG\r\n");
  const auto next = guest();
  const NoMoreFiles none;
  EXPECT_EQ(next->came(), "");
  next->send("PING\r\n");
  EXPECT_EQ(next->came(), "");
  old.reset();  // its descriptor and the server's
  EXPECT_EQ(next->reply(), "+PONG\r\n");
}

// Who waits at the door is let in when a place is free, and not after the turns that a loop which
// others keep busy passes between two looks.
TEST_F(RespServerTest, looks_at_the_door_as_soon_as_a_client_has_gone) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "the sanitizer needs a file to look at a type that it has not seen";
#endif
  class Busy final : public Poller {
   public:
    bool poll() override { return true; }
  };
  serve();
  auto old = guest();
  EXPECT_EQ(old->ask("PING"), "+PONG\r\n");
  Busy busy;
  loop_.add_poller(busy);
  const auto next = guest();
  const NoMoreFiles none;
  EXPECT_EQ(next->came(), "");
  ASSERT_EQ(server_->counters().clients, 1u);
  old->break_off();
  for (int i = 0; i < 1'000'000 && server_->counters().clients == 1; ++i) {
    (void)loop_.turn();
  }
  ASSERT_EQ(server_->counters().clients, 0u);
  std::uint32_t turns = 0;
  while (turns < 4 * limits::turns_per_look && server_->counters().clients == 0) {
    (void)loop_.turn();
    ++turns;
  }
  EXPECT_LT(turns, limits::turns_per_look / 2);
  EXPECT_EQ(server_->counters().clients, 1u);
  loop_.remove_poller(busy);
}

}  // namespace
}  // namespace remora::resp
