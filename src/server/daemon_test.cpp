#include "server/daemon.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/fsuid.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/folder_testing.h"
#include "base/socket_address.h"
#include "fabric/nic/wire/descriptor.h"
#include "link/store_link.h"
#include "runtime/poll_loop.h"
#include "server/metrics.h"

namespace remora::server {
namespace {

using testing::HasSubstr;
using testing::Not;

class DaemonTest : public testing::Test {
 protected:
  DaemonTest() {
    settings_.pool = folder_.file("deep/down/a.pool");
    settings_.pool_bytes = 4 << 20;
    settings_.resp = "127.0.0.1:0";
    signals_ = StopSignals::create(loop_).value();
  }

  std::unique_ptr<Daemon> opened() {
    Result<std::unique_ptr<Daemon>> daemon = Daemon::open(loop_, settings_, "1.2.3");
    EXPECT_TRUE(daemon.ok()) << daemon.status().message();
    return std::move(daemon).value();
  }
  // A Redis client on the daemon's own loop.
  int redis_client(const Daemon& daemon) {
    const int client = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    clients_.emplace_back(client);
    const SocketAddress address = *SocketAddress::of("127.0.0.1", daemon.redis()->port());
    EXPECT_EQ(::connect(client, address.plain(), address.size_bytes), 0);
    return client;
  }
  // The reply, or "closed".
  std::string ask(int client, const std::string& line) {
    const std::string sent = line + "\r\n";
    if (::send(client, sent.data(), sent.size(), MSG_NOSIGNAL) < 0) {
      return "closed";
    }
    std::array<char, 512> reply;
    ssize_t size = -1;
    while ((size = ::recv(client, reply.data(), reply.size(), MSG_DONTWAIT)) < 0) {
      if (errno != EAGAIN) {
        return "closed";
      }
      (void)loop_.run_for(100'000);
    }
    return size == 0 ? "closed" : std::string(reply.data(), static_cast<std::size_t>(size));
  }
  std::unique_ptr<link::StoreLink> connected() {
    return loop_.block_on(link::StoreLink::connect(loop_, socket_of(settings_), {})).value();
  }

  const TestFolder folder_;
  Settings settings_;
  PollLoop loop_;
  std::unique_ptr<StopSignals> signals_;
  std::vector<fabric::nic::Descriptor> clients_;
};

// What comes now and then is worth no idle turns: a loop with nobody to serve sleeps at once.
TEST_F(DaemonTest, spins_for_no_signal_that_may_come) {
  EXPECT_FALSE(signals_->wants_spin());
}

TEST_F(DaemonTest, makes_its_folder_and_says_what_it_is) {
  const auto daemon = opened();
  EXPECT_TRUE(std::filesystem::exists(settings_.pool));
  const std::string said = daemon->announcement();
  EXPECT_THAT(said, HasSubstr("deep/down/a.pool, 4 MiB, engine efactory, new"));
  EXPECT_THAT(said, HasSubstr("deep/down/a.sock"));
  EXPECT_THAT(said, HasSubstr("survives a power cut"));
  EXPECT_EQ(find_fact(daemon->host().facts(), "version"), "1.2.3");
}

TEST_F(DaemonTest, two_threads_verify_large_values_on_the_second) {
  settings_.threads = 2;
  const std::unique_ptr<Daemon> daemon = opened();
  const std::unique_ptr<link::StoreLink> link = connected();
  const std::vector<std::byte> value(64 << 10, std::byte{7});
  ASSERT_TRUE(loop_.block_on(link->store().put(as_bytes("key"), value)).ok());
  // The verifier comes to it by itself, soon.
  std::string verified = "0";
  for (int i = 0; i < 100'000 && verified == "0"; ++i) {
    const Result<Facts> facts = loop_.block_on(link->stat());
    ASSERT_TRUE(facts.ok()) << facts.status().message();
    verified = find_fact(*facts, "verified_by_worker").value_or("none");
  }
  // A look that comes before the value counts, too.
  EXPECT_GE(std::stoi(verified), 1) << verified;
}

TEST_F(DaemonTest, a_signal_ends_it_with_all_persistent) {
  const auto daemon = opened();
  const auto link = connected();
  for (int i = 0; i < 30; ++i) {
    EXPECT_TRUE(loop_.block_on(link->store().put(as_bytes("key"), as_bytes("value"))).ok());
  }
  ASSERT_EQ(::kill(::getpid(), SIGTERM), 0);
  const Status status = daemon->serve(*signals_);
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_FALSE(daemon->host().store().busy());
  EXPECT_EQ(loop_.block_on(link->store().put(as_bytes("key"), as_bytes("value"))).code(),
            Code::closed);
  const auto late = loop_.block_on(link::StoreLink::connect(loop_, socket_of(settings_), {}));
  EXPECT_EQ(late.code(), Code::closed) << late.status().message();
}

TEST_F(DaemonTest, an_admin_ends_it) {
  const auto daemon = opened();
  EXPECT_TRUE(loop_.block_on(connected()->stop()).ok());
  EXPECT_TRUE(daemon->serve(*signals_).ok());
}

// A client with a loop of its own, which looks only now and then at what it was sent.
class SlowStopper final : public Timer {
 public:
  SlowStopper(PollLoop& server_loop, std::string socket) {
    Task<Result<std::unique_ptr<link::StoreLink>>> connecting =
        link::StoreLink::connect(loop_, std::move(socket), {});
    while (!connecting.finished()) {
      (void)server_loop.run_for(100'000);
      (void)loop_.run_for(100'000);
    }
    link_ = connecting.take().value();
    stop_.emplace(link_->stop());
  }
  void expire() override {
    (void)loop_.run_until(*stop_);
    answer_ = stop_->take().status();
    link_.reset();
  }
  const std::optional<Status>& answer() const { return answer_; }

 private:
  PollLoop loop_;
  std::unique_ptr<link::StoreLink> link_;
  std::optional<Task<Result<Facts>>> stop_;
  std::optional<Status> answer_;
};

TEST_F(DaemonTest, a_slow_admin_who_ends_it_gets_the_answer) {
  const auto daemon = opened();
  SlowStopper admin(loop_, socket_of(settings_));
  loop_.arm(admin, loop_.after(30'000'000));
  EXPECT_TRUE(daemon->serve(*signals_).ok());
  ASSERT_TRUE(admin.answer().has_value());
  EXPECT_TRUE(admin.answer()->ok()) << admin.answer()->message();
}

TEST_F(DaemonTest, a_value_that_never_comes_does_not_keep_it_from_ending) {
  const auto daemon = opened();
  auto link = connected();
  // A put whose client goes in the middle: granted, and never written.
  Task<Status> put = link->store().put(as_bytes("key"), as_bytes("value"));
  (void)loop_.turn();
  ASSERT_EQ(::kill(::getpid(), SIGINT), 0);
  EXPECT_TRUE(daemon->serve(*signals_).ok());
  (void)loop_.run_until(put);
  (void)put.take();
}

TEST_F(DaemonTest, lets_redis_clients_of_its_own_user_in) {
  const auto daemon = opened();
  EXPECT_THAT(daemon->announcement(), HasSubstr(", for this user; "));
  const int client = redis_client(*daemon);
  EXPECT_EQ(ask(client, "SET key value"), "+OK\r\n");
  EXPECT_EQ(daemon->redis()->latency().count(), 1u);
  EXPECT_THAT(metrics_text(daemon->host(), daemon->redis()),
              HasSubstr("\nremora_redis_command_seconds_count 1\n"));
  std::array<std::byte, 8> value;
  EXPECT_EQ(loop_.block_on(connected()->store().get(as_bytes("key"), value)).value(), 5u);
}

// Whoever presents a token has its role, be it less than the user's own.
TEST_F(DaemonTest, gives_redis_clients_the_role_of_their_token) {
  settings_.access.tokens = {{"a token for reading", link::Role::read},
                             {"a token for writing", link::Role::write},
                             {"a token for all", link::Role::admin}};
  const auto daemon = opened();
  const int client = redis_client(*daemon);
  EXPECT_EQ(ask(client, "AUTH \"a token of nobody\"").substr(0, 10), "-WRONGPASS");
  EXPECT_EQ(ask(client, "AUTH \"\"").substr(0, 10), "-WRONGPASS");
  EXPECT_EQ(ask(client, "AUTH \"a token for reading\""), "+OK\r\n");
  EXPECT_EQ(ask(client, "SET key value").substr(0, 7), "-NOPERM");
  EXPECT_EQ(ask(client, "GET key"), "$-1\r\n");
  EXPECT_EQ(ask(client, "AUTH nobody \"a token for writing\"").substr(0, 10), "-WRONGPASS");
  EXPECT_EQ(ask(client, "AUTH default \"a token for writing\""), "+OK\r\n");
  EXPECT_EQ(ask(client, "SET key value"), "+OK\r\n");
  EXPECT_EQ(ask(client, "FLUSHALL").substr(0, 7), "-NOPERM");
  EXPECT_EQ(ask(client, "AUTH \"a token for all\""), "+OK\r\n");
  EXPECT_EQ(ask(client, "FLUSHALL"), "+OK\r\n");
}

TEST_F(DaemonTest, counts_redis_clients_by_user_where_others_are_admitted) {
  if (::geteuid() != 0) {
    GTEST_SKIP() << "only root can be another user";
  }
  settings_.access.others = link::Role::read;
  settings_.most_clients = 4;
  settings_.access.clients_per_user = 1;
  settings_.resp_clients = 8;
  const auto daemon = opened();
  constexpr uid_t other = 65534;
  const auto come = [&](uid_t user) {
    (void)::setfsuid(user);
    const int client = redis_client(*daemon);
    (void)::setfsuid(::geteuid());
    return client;
  };
  EXPECT_EQ(ask(come(other), "GET key"), "$-1\r\n");
  EXPECT_EQ(ask(come(other), "GET key"), "$-1\r\n");
  EXPECT_EQ(ask(come(other), "GET key"), "-ERR max number of clients reached for user 65534\r\n");
  for (int i = 0; i < 6; ++i) {
    EXPECT_EQ(ask(come(::geteuid()), "GET key"), "$-1\r\n");
  }
  EXPECT_EQ(ask(come(::geteuid()), "GET key"), "-ERR max number of clients reached\r\n");
}

// It has sent, and gone before anybody asked the kernel who it is: as unknown as one that comes
// from another machine.
TEST_F(DaemonTest, runs_nothing_of_a_redis_client_whose_user_nobody_knows) {
  settings_.access.others = link::Role::write;
  const auto daemon = opened();
  const int gone = redis_client(*daemon);
  const std::string request = "SET key value\r\n";
  ASSERT_EQ(::send(gone, request.data(), request.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(request.size()));
  clients_.clear();
  EXPECT_EQ(ask(redis_client(*daemon), "GET key"), "$-1\r\n");
  EXPECT_EQ(daemon->redis()->counters().rejected, 1u);
}

TEST_F(DaemonTest, answers_its_own_user_that_sends_no_more_before_it_is_let_in) {
  const auto daemon = opened();
  const int client = redis_client(*daemon);
  const std::string request = "SET key value\r\n";
  ASSERT_EQ(::send(client, request.data(), request.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(request.size()));
  ASSERT_EQ(::shutdown(client, SHUT_WR), 0);
  std::array<char, 16> reply;
  ssize_t size = -1;
  while ((size = ::recv(client, reply.data(), reply.size(), MSG_DONTWAIT)) < 0) {
    ASSERT_EQ(errno, EAGAIN);
    (void)loop_.run_for(100'000);
  }
  EXPECT_EQ(std::string(reply.data(), static_cast<std::size_t>(size)), "+OK\r\n");
}

TEST_F(DaemonTest, does_without_redis_clients_where_the_automatic_port_is_taken) {
  settings_.resp = "auto";
  const auto first = opened();
  Settings others = settings_;
  others.pool = folder_.file("b.pool");
  const Result<std::unique_ptr<Daemon>> second = Daemon::open(loop_, others, "");
  ASSERT_TRUE(second.ok()) << second.status().message();
  EXPECT_EQ((*second)->redis(), nullptr);
  EXPECT_THAT((*second)->announcement(), HasSubstr("none: cannot listen"));
  others.pool = folder_.file("c.pool");
  others.insecure = true;
  others.resp = "192.0.2.1:80";  // an address of nobody
  EXPECT_FALSE(Daemon::open(loop_, others, "").ok());
}

TEST_F(DaemonTest, a_redis_client_that_never_stops_does_not_keep_it_from_ending) {
  const auto daemon = opened();
  const int client = redis_client(*daemon);
  EXPECT_EQ(ask(client, "SET key 0"), "+OK\r\n");
  std::string flood;
  for (int i = 0; i < 1000; ++i) {
    flood += "INCR key\r\n";
  }
  // Answered by nobody yet: what is in the socket when the signal comes.
  ASSERT_GT(::send(client, flood.data(), flood.size(), MSG_DONTWAIT), 0);
  ASSERT_EQ(::kill(::getpid(), SIGTERM), 0);
  const Status status = daemon->serve(*signals_);
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_FALSE(daemon->redis()->busy());
  while (ask(client, "PING") != "closed") {
  }
  const SocketAddress address = *SocketAddress::of("127.0.0.1", daemon->redis()->port());
  const fabric::nic::Descriptor late(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  EXPECT_NE(::connect(late.number(), address.plain(), address.size_bytes), 0);
}

// What an engine leaves to a power cut is not called persistent, whatever others do.
TEST_F(DaemonTest, says_what_its_engine_makes_of_a_put) {
  settings_.engine = "ca";
  settings_.resp = "";
  const auto daemon = opened();
  const std::string said = daemon->announcement();
  EXPECT_THAT(said, HasSubstr("never persistent by itself"));
  EXPECT_THAT(said, HasSubstr("torn"));
  EXPECT_THAT(said, Not(HasSubstr("moment later")));
  EXPECT_THAT(daemon->farewell(), HasSubstr("a power cut may still take the rest"));
  EXPECT_THAT(find_fact(daemon->host().facts(), "acknowledged_put").value(),
              HasSubstr("never persistent by itself"));
}

TEST_F(DaemonTest, promises_nothing_of_memory) {
  settings_.pool = "";
  settings_.socket = folder_.file("m.sock");
  const auto daemon = opened();
  const std::string said = daemon->announcement();
  EXPECT_THAT(said, HasSubstr("visible at once; nothing survives the end of this process\n"));
  EXPECT_THAT(said, HasSubstr("for this user; nothing survives the end of this process\n"));
  EXPECT_THAT(said, Not(HasSubstr("persistent")));
  EXPECT_THAT(daemon->farewell(), HasSubstr("gone"));
  EXPECT_EQ(find_fact(daemon->host().facts(), "survives_process_end"), "no");
  const int client = redis_client(*daemon);
  EXPECT_EQ(ask(client, "SET key value"), "+OK\r\n");
  EXPECT_THAT(ask(client, "WAITAOF 1 0 0"), HasSubstr("appendonly is disabled"));
  EXPECT_EQ(ask(client, "WAITAOF 0 1 1"), "*2\r\n:0\r\n:0\r\n");
  EXPECT_THAT(ask(client, "INFO persistence"), HasSubstr("aof_enabled:0\r\n"));
  EXPECT_THAT(ask(client, "CONFIG GET appendonly"), HasSubstr("no\r\n"));
}

TEST_F(DaemonTest, says_of_redis_clients_what_their_reads_may_show) {
  EXPECT_THAT(opened()->announcement(), HasSubstr("(WAITAOF waits); a read may show them before"));
  settings_.resp_durability = resp::Durability::persistent;
  EXPECT_THAT(
      opened()->announcement(),
      HasSubstr("writes are answered, and reads of what other Redis clients wrote, when they "
                "are persistent; a read may show a native client's put before that"));
}

TEST_F(DaemonTest, listens_at_the_address_of_a_name) {
  settings_.resp = "localhost:0";
  settings_.metrics = "localhost:0";
  const auto daemon = opened();
  EXPECT_NE(daemon->redis(), nullptr);
  EXPECT_NE(daemon->redis()->port(), 0);
  EXPECT_TRUE(daemon->settings().metrics == "127.0.0.1:0" ||
              daemon->settings().metrics == "[::1]:0");
  settings_.pool = folder_.file("b.pool");
  settings_.metrics = "nobody..invalid:80";
  const Result<std::unique_ptr<Daemon>> nowhere = Daemon::open(loop_, settings_, "");
  EXPECT_EQ(nowhere.code(), Code::invalid_argument);
  EXPECT_THAT(std::string(nowhere.status().message()), HasSubstr("metrics: there is no host"));
}

TEST_F(DaemonTest, leaves_no_new_pool_behind_when_it_cannot_listen) {
  Settings first = settings_;
  first.pool = "";
  first.socket = folder_.file("first.sock");
  const auto daemon = Daemon::open(loop_, first, "").value();
  const std::string taken = "127.0.0.1:" + std::to_string(daemon->redis()->port());
  Settings wrong = settings_;
  wrong.resp = taken;
  EXPECT_FALSE(Daemon::open(loop_, wrong, "").ok());
  EXPECT_FALSE(std::filesystem::exists(settings_.pool)) << "after a port that is taken";
  wrong.resp = "";
  wrong.metrics = taken;
  EXPECT_FALSE(Daemon::open(loop_, wrong, "").ok());
  EXPECT_FALSE(std::filesystem::exists(settings_.pool)) << "after another one";
  wrong.metrics = "";
  wrong.socket = folder_.file(std::string(200, 's'));
  EXPECT_FALSE(Daemon::open(loop_, wrong, "").ok());
  EXPECT_FALSE(std::filesystem::exists(settings_.pool)) << "after a socket's path too long";
  (void)opened();
  wrong = settings_;
  wrong.resp = taken;
  EXPECT_FALSE(Daemon::open(loop_, wrong, "").ok());
  EXPECT_TRUE(std::filesystem::exists(settings_.pool)) << "one that was there stays";
}

TEST_F(DaemonTest, says_which_setting_cannot_work) {
  const auto daemon = opened();
  EXPECT_EQ(Daemon::open(loop_, settings_, "").code(), Code::in_use);
  settings_.pool = "/proc/no/such/place/a.pool";
  EXPECT_FALSE(Daemon::open(loop_, settings_, "").ok());
  settings_.pool = folder_.file("b.pool");
  settings_.insecure = true;
  settings_.metrics = "192.0.2.1:80";  // an address of nobody
  EXPECT_FALSE(Daemon::open(loop_, settings_, "").ok());
}

// A key that cannot be believed any more: after an orderly stop that is damage.
TEST_F(DaemonTest, refuses_a_damaged_store_unless_that_is_accepted_and_then_says_so) {
  {
    const std::unique_ptr<Daemon> daemon = opened();
    const int client = redis_client(*daemon);
    EXPECT_EQ(ask(client, "SET whole value"), "+OK\r\n");
    EXPECT_EQ(ask(client, "SET broken-key value"), "+OK\r\n");
    EXPECT_EQ(ask(client, "SET last value"), "+OK\r\n");
    ASSERT_EQ(::kill(::getpid(), SIGTERM), 0);
    EXPECT_TRUE(daemon->serve(*signals_).ok());
  }
  std::fstream file(settings_.pool, std::ios::in | std::ios::out | std::ios::binary);
  const std::string bytes(std::istreambuf_iterator<char>(file), {});
  const std::size_t at = bytes.find("broken-key");
  ASSERT_NE(at, std::string::npos);
  file.clear();
  file.seekp(static_cast<std::streamoff>(at));
  file.put('B');
  file.close();
  const Result<std::unique_ptr<Daemon>> refused = Daemon::open(loop_, settings_, "1.2.3");
  EXPECT_EQ(refused.code(), Code::damaged);
  settings_.accept_damage = true;
  const std::unique_ptr<Daemon> daemon = opened();
  EXPECT_THAT(daemon->announcement(), HasSubstr("damaged      the store is damaged"));
  EXPECT_THAT(link::to_text(daemon->host().facts()), HasSubstr("read_only the store is damaged"));
  const int client = redis_client(*daemon);
  EXPECT_EQ(ask(client, "GET whole"), "$5\r\nvalue\r\n");
  EXPECT_EQ(ask(client, "GET last"), "$5\r\nvalue\r\n");
  EXPECT_EQ(ask(client, "SET whole other").substr(0, 9), "-READONLY");
}

}  // namespace
}  // namespace remora::server
