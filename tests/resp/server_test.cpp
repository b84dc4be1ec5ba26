// The server under clients of all kinds: many, slow, broken, hostile.
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/resource.h>

#include <filesystem>
#include <memory>
#include <string>

#include "base/folder_testing.h"
#include "front/resp/limits.h"
#include "tests/resp/client.h"
#include "tests/resp/served_store.h"

namespace remora::resp {
namespace {

ServedOptions with(const RespOptions& front) {
  ServedOptions options;
  options.front = front;
  return options;
}

TEST(RespServer, answers_pipelined_requests_in_order) {
  ServedStore store;
  Client client(store.port());
  std::string requests;
  for (int i = 0; i < 5000; ++i) {
    requests += Client::encode({"SET", "key:" + std::to_string(i % 100), std::to_string(i)});
    requests += Client::encode({"GET", "key:" + std::to_string(i % 100)});
  }
  client.send(requests);
  for (int i = 0; i < 5000; ++i) {
    const std::string text = std::to_string(i);
    ASSERT_EQ(client.read(), "+OK\r\n");
    ASSERT_EQ(client.read(), "$" + std::to_string(text.size()) + "\r\n" + text + "\r\n");
  }
}

TEST(RespServer, takes_a_request_in_any_number_of_pieces) {
  ServedStore store;
  Client client(store.port());
  Client other(store.port());
  const std::string request = Client::encode({"SET", "key", std::string(1000, 'v')});
  for (std::size_t at = 0; at < request.size(); at += 7) {
    client.send(request.substr(at, 7));
    if (at % 70 == 0) {
      ASSERT_EQ(other.ask({"PING"}), "+PONG\r\n");
    }
  }
  EXPECT_EQ(client.read(), "+OK\r\n");
  EXPECT_EQ(other.ask({"STRLEN", "key"}), ":1000\r\n");
}

TEST(RespServer, carries_the_largest_value_and_refuses_a_larger_one) {
  ServedOptions options;
  options.pool_bytes = std::uint64_t{160} << 20;
  ServedStore store(options);
  Client client(store.port());
  const std::string value(16 << 20, 'x');
  EXPECT_EQ(client.ask({"SET", "large", value}), "+OK\r\n");
  EXPECT_TRUE(client.ask({"GET", "large"}) == "$16777216\r\n" + value + "\r\n");
  client.send("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$16777217\r\n");
  EXPECT_EQ(client.read(),
            "-ERR Protocol error: invalid bulk length: a value has at most 16777216 bytes\r\n");
  EXPECT_TRUE(client.is_closed());
}

// A client that blocks reads nothing before it has sent all of the value, and many read nothing
// where that fails.
TEST(RespServer, tells_a_client_that_sends_too_large_a_value_before_it_hangs_up) {
  ServedStore store;
  const std::string request = "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$20000000\r\n" +
                              std::string(20'000'000, 'v') + "\r\n" + Client::encode({"PING"});
  for (int i = 0; i < 10; ++i) {
    Client client(store.port());
    ASSERT_TRUE(client.send(request));
    ASSERT_EQ(client.read(),
              "-ERR Protocol error: invalid bulk length: a value has at most 16777216 bytes\r\n");
    ASSERT_EQ(client.read(), "closed");
  }
  // One that never ends its request is cut off in the end.
  Client endless(store.port());
  endless.send("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$9000000000000\r\n");
  const std::string part(1 << 20, 'v');
  for (std::uint64_t sent = 0; sent <= limits::farewell_bytes; sent += part.size()) {
    (void)endless.send(part);
  }
  Client other(store.port());
  std::uint64_t clients = 0;
  for (int looks = 0; looks < 10'000 && clients != 1; ++looks) {
    EXPECT_EQ(other.ask({"PING"}), "+PONG\r\n");
    store.on_loop([&](Server& server, kv::StoreServer&) { clients = server.counters().clients; });
  }
  EXPECT_EQ(clients, 1u);
}

TEST(RespServer, bounds_what_a_client_has_in_flight) {
  const TestFolder folder(REMORA_DISK_FOLDER);
  ServedOptions options;
  options.pool_path = folder.file("pool");
  options.front.durability = Durability::persistent;
  options.front.client_operations = 3;
  options.front.client_bytes = 100'000;
  ServedStore store(options);
  Client client(store.port());
  std::string requests;
  for (int i = 0; i < 50; ++i) {
    requests += Client::encode({"INCR", "count"});
  }
  client.send(requests);
  for (int i = 1; i <= 50; ++i) {
    ASSERT_EQ(client.read(), ":" + std::to_string(i) + "\r\n");
  }
  // No commit served more than it was allowed.
  std::uint64_t commits = 0;
  store.on_loop([&](Server& server, kv::StoreServer&) { commits = server.commits(); });
  EXPECT_GE(commits, 50u / 3);

  EXPECT_EQ(client.ask({"SET", "fits", std::string(90'000, 'v')}), "+OK\r\n");
  client.send("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$100001\r\n");
  EXPECT_EQ(client.read(),
            "-ERR Protocol error: a request of this server has at most 100000 bytes\r\n");
  EXPECT_TRUE(client.is_closed());
  // Replies that nobody takes.
  Client idler(store.port());
  std::string gets;
  for (int i = 0; i < 500; ++i) {
    gets += Client::encode({"GET", "fits"});
  }
  idler.send(gets);
  Client other(store.port());
  EXPECT_EQ(other.ask({"PING"}), "+PONG\r\n");
}

TEST(RespServer, cleans_its_store_while_clients_write) {
  ServedOptions options;
  options.pool_bytes = 2 << 20;
  ServedStore store(options);
  Client client(store.port());
  const std::string value(2000, 'v');
  for (int i = 0; i < 200; ++i) {
    std::string requests;
    for (int k = 0; k < 50; ++k) {
      requests += Client::encode({"SET", "key:" + std::to_string(k), value + std::to_string(i)});
    }
    client.send(requests);
    for (int k = 0; k < 50; ++k) {
      ASSERT_EQ(client.read(), "+OK\r\n") << i;
    }
  }
  EXPECT_EQ(client.ask({"STRLEN", "key:7"}), ":2003\r\n");
  EXPECT_EQ(client.ask({"DBSIZE"}), ":50\r\n");
}

TEST(RespServer, says_that_the_store_is_full) {
  ServedOptions options;
  options.pool_bytes = 1 << 20;
  ServedStore store(options);
  Client client(store.port());
  std::string reply = "+OK\r\n";
  int count = 0;
  while (reply == "+OK\r\n") {
    reply = client.ask({"SET", "key:" + std::to_string(count++), std::string(4000, 'v')});
    ASSERT_LT(count, 1000);
  }
  EXPECT_EQ(reply.substr(0, 5), "-OOM ");
  EXPECT_EQ(client.ask({"STRLEN", "key:0"}), ":4000\r\n");
  EXPECT_EQ(client.ask({"DEL", "key:0"}), ":1\r\n");
}

TEST(RespServer, sets_several_keys_or_none_when_the_store_is_full) {
  ServedOptions options;
  options.pool_bytes = 2 << 20;
  ServedStore store(options);
  Client client(store.port());
  std::string reply = "+OK\r\n";
  for (int count = 0; reply == "+OK\r\n"; ++count) {
    reply = client.ask({"SET", "key:" + std::to_string(count), std::string(4000, 'v')});
    ASSERT_LT(count, 1000);
  }
  const std::string large(100'000, 'v');
  EXPECT_EQ(client.ask({"MSETNX", "n1", "a", "n2", large}).substr(0, 5), "-OOM ");
  EXPECT_EQ(client.ask({"EXISTS", "n1", "n2"}), ":0\r\n");
  EXPECT_EQ(client.ask({"DEL", "key:0"}), ":1\r\n");
  EXPECT_EQ(client.ask({"SET", "key:0", "old"}), "+OK\r\n");
  EXPECT_EQ(client.ask({"MSET", "key:0", "new", "n2", large}).substr(0, 5), "-OOM ");
  EXPECT_EQ(client.ask({"GET", "key:0"}), "$3\r\nold\r\n");
  EXPECT_EQ(client.ask({"MSET", "key:0", "new", "n1", "small"}), "+OK\r\n");
  // A name is not given before the other can be taken away.
  for (int i = 1; i < 100; ++i) {
    const std::string from = "key:" + std::to_string(i);
    const std::string outcome = client.ask({"RENAMENX", from, "to:" + std::to_string(i)});
    EXPECT_TRUE(outcome == ":1\r\n" || outcome.starts_with("-OOM ")) << outcome;
    EXPECT_EQ(client.ask({"EXISTS", from, "to:" + std::to_string(i)}), ":1\r\n");
  }
}

TEST(RespServer, sends_browsers_away) {
  ServedStore store;
  for (const std::string end : {"SET evil 1\r\n", "*3\r\n$3\r\nSET\r\n$4\r\nevil\r\n$1\r\n1\r\n"}) {
    Client browser(store.port());
    browser.send("POST / HTTP/1.1\r\nHost: x\r\n\r\n" + end);
    EXPECT_EQ(browser.read(), "closed");
    Client other(store.port());
    other.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n" + end);
    EXPECT_EQ(other.read().substr(0, 5), "-ERR ");
    EXPECT_EQ(other.read(), "closed");
  }
  EXPECT_EQ(Client(store.port()).ask({"EXISTS", "evil"}), ":0\r\n");
}

TEST(RespServer, holds_replies_back_until_writes_are_persistent) {
  const TestFolder folder(REMORA_DISK_FOLDER);
  {
    ServedOptions options = with({.durability = Durability::persistent});
    options.pool_path = folder.file("pool");
    options.pool_bytes = 16 << 20;
    ServedStore store(options);
    Client writer(store.port());
    Client reader(store.port());
    for (int i = 0; i < 20; ++i) {
      writer.send(Client::encode({"GET", "none"}) + Client::encode({"SET", "key", "value"}) +
                  Client::encode({"GET", "key"}) + Client::encode({"INCR", "count"}));
      EXPECT_EQ(writer.read(), "$-1\r\n");
      EXPECT_EQ(reader.ask({"PING"}), "+PONG\r\n");
      EXPECT_EQ(writer.read(), "+OK\r\n");
      EXPECT_EQ(writer.read(), "$5\r\nvalue\r\n");
      EXPECT_EQ(writer.read(), ":" + std::to_string(i + 1) + "\r\n");
      store.on_loop([&](Server&, kv::StoreServer& server) {
        EXPECT_EQ(server.local()->persistent_now(), server.local()->now());
      });
    }
  }
}

TEST(RespServer, waitaof_waits_for_what_was_written) {
  const TestFolder folder(REMORA_DISK_FOLDER);
  {
    ServedOptions options;
    options.pool_path = folder.file("pool");
    options.pool_bytes = 16 << 20;
    ServedStore store(options);
    Client client(store.port());
    EXPECT_EQ(client.ask({"SET", "key", "value"}), "+OK\r\n");
    client.send(Client::encode({"WAITAOF", "1", "0", "0"}) + Client::encode({"PING"}));
    EXPECT_EQ(client.read(), "*2\r\n:1\r\n:0\r\n");
    EXPECT_EQ(client.read(), "+PONG\r\n");
    // There is no replica: the time ends it.
    EXPECT_EQ(client.ask({"WAITAOF", "0", "1", "10"}), "*2\r\n:1\r\n:0\r\n");
  }
}

TEST(RespServer, a_client_that_reads_nothing_stops_nobody) {
  ServedStore store;
  Client slow(store.port());
  Client other(store.port());
  EXPECT_EQ(other.ask({"SET", "key", std::string(100'000, 'v')}), "+OK\r\n");
  std::string requests;
  for (int i = 0; i < 1000; ++i) {
    requests += Client::encode({"GET", "key"});
  }
  slow.send(requests);  // 100 MB of replies
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(other.ask({"PING"}), "+PONG\r\n");
  }
  for (int i = 0; i < 1000; ++i) {
    ASSERT_EQ(slow.read().size(), 100'011u) << i;
  }
}

TEST(RespServer, cuts_off_who_asks_for_too_much) {
  ServedOptions options;
  options.pool_bytes = std::uint64_t{160} << 20;
  ServedStore store(options);
  Client client(store.port());
  EXPECT_EQ(client.ask({"SET", "key", std::string(16 << 20, 'v')}), "+OK\r\n");
  std::vector<std::string> all = {"MGET"};
  all.resize(1 + 30, "key");
  EXPECT_EQ(client.ask(all), "closed");
  EXPECT_EQ(Client(store.port()).ask({"PING"}), "+PONG\r\n");
}

TEST(RespServer, closes_when_told_and_after_nonsense) {
  ServedStore store;
  Client leaving(store.port());
  leaving.send(Client::encode({"QUIT"}) + Client::encode({"PING"}));
  EXPECT_EQ(leaving.read(), "+OK\r\n");
  EXPECT_EQ(leaving.read(), "closed");
  Client broken(store.port());
  broken.send("*1\r\n!\r\n");
  EXPECT_EQ(broken.read(), "-ERR Protocol error: expected '$', got '!'\r\n");
  EXPECT_EQ(broken.read(), "closed");
}

// Bytes and the end behind them are there when the server looks: the end is not told again by
// itself.
TEST(RespServer, notices_that_a_client_left_right_after_its_request) {
  ServedStore store;
  auto old = std::make_unique<Client>(store.port());
  EXPECT_EQ(old->ask({"PING"}), "+PONG\r\n");
  store.on_loop([&](Server&, kv::StoreServer&) {
    Client fresh(store.port());
    fresh.send(Client::encode({"SET", "fresh", "1"}));
    old->send(Client::encode({"SET", "old", "1"}));
    old.reset();
  });
  Client other(store.port());
  std::uint64_t clients = 0;
  for (int looks = 0; looks < 10'000 && clients != 1; ++looks) {
    EXPECT_EQ(other.ask({"PING"}), "+PONG\r\n");
    store.on_loop([&](Server& server, kv::StoreServer&) { clients = server.counters().clients; });
  }
  EXPECT_EQ(clients, 1u);
  EXPECT_EQ(other.ask({"EXISTS", "old", "fresh"}), ":2\r\n");
}

TEST(RespServer, wants_the_password_and_little_before_it) {
  ServedStore store(with({.password = "secret"}));
  Client client(store.port());
  EXPECT_EQ(client.ask({"GET", "k"}), "-NOAUTH Authentication required.\r\n");
  EXPECT_EQ(client.ask({"AUTH", "secret"}), "+OK\r\n");
  EXPECT_EQ(client.ask({"GET", "k"}), "$-1\r\n");
  Client stranger(store.port());
  stranger.send("*1\r\n$20000\r\n");
  EXPECT_EQ(stranger.read(), "-ERR Protocol error: unauthenticated bulk length\r\n");
}

TEST(RespServer, refuses_more_clients_than_it_may_have) {
  ServedStore store(with({.most_clients = 2}));
  Client one(store.port());
  Client two(store.port());
  EXPECT_EQ(one.ask({"PING"}), "+PONG\r\n");
  EXPECT_EQ(two.ask({"PING"}), "+PONG\r\n");
  Client three(store.port());
  EXPECT_EQ(three.read(), "-ERR max number of clients reached\r\n");
}

TEST(RespServer, holds_many_idle_connections) {
  rlimit limit = {};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
  limit.rlim_cur = limit.rlim_max;
  (void)::setrlimit(RLIMIT_NOFILE, &limit);
  const std::size_t count = std::min<std::size_t>(10'000, limit.rlim_cur / 2 - 200);
  ServedStore store(with({.most_clients = 20'000}));
  std::vector<std::unique_ptr<Client>> clients;
  for (std::size_t i = 0; i < count; ++i) {
    clients.push_back(std::make_unique<Client>(store.port()));
  }
  EXPECT_EQ(clients.front()->ask({"PING"}), "+PONG\r\n");
  EXPECT_EQ(clients.back()->ask({"SET", "k", "v"}), "+OK\r\n");
  store.on_loop(
      [&](Server& server, kv::StoreServer&) { EXPECT_EQ(server.counters().clients, count); });
}

TEST(RespServer, sleeps_when_nobody_asks) {
  ServedStore store;
  Client client(store.port());
  EXPECT_EQ(client.ask({"PING"}), "+PONG\r\n");
  EXPECT_FALSE(client.is_readable(50));
  EXPECT_EQ(client.ask({"PING"}), "+PONG\r\n");
}

}  // namespace
}  // namespace remora::resp
