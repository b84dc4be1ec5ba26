// Server: any Redis client reaches the store of this process, by TCP.
//
// One thread, the loop's; the runtime and the store outlive it. It is a poller of its loop with one
// epoll descriptor, at which the loop sleeps. In a turn it reads once from every connection that
// has something and runs all requests that are whole, then writes all replies: the first wakes a
// client that sleeps, and the others find it awake. A connection costs some hundred
// bytes while it is idle: what it sent is read to a buffer that all share, and only what is not
// whole is kept.
//
// Durability. `asynchronous`: a reply to a write says that it is visible; the store makes it
// persistent by itself, and WAITAOF waits for that. `persistent`: replies to writes, and what the
// same client asked for after them, leave when the writes are persistent; one group commit serves
// all. Nobody waits for the writes of another, but where at least three in four clients wait for
// the same commit and the store has no clients of its own: then the others wait for that one too.
//
// A client that reads none of its replies is not read from any more, and in the end cut off; so is
// one that sends what is no request. Half a request stops nobody.
#pragma once

#include <sys/epoll.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/histogram.h"
#include "base/result.h"
#include "kv/local_store.h"
#include "resp/command.h"
#include "resp/connection.h"
#include "resp/gathering.h"
#include "resp/output.h"
#include "resp/short_waits.h"
#include "runtime/flows.h"
#include "runtime/poller.h"
#include "runtime/runtime.h"

namespace remora::resp {

enum class Durability : std::uint8_t { asynchronous, persistent };

struct RespOptions {
  std::string host = "127.0.0.1";  // an address, of IPv4 or IPv6, not a name
  std::uint16_t port = 6379;       // 0: one that is free
  std::string password = {};       // of the user "default"; empty: none is needed
  // Instead of the password: who may do what.
  std::function<Access(std::string_view user, std::string_view password)> authenticator = {};
  // What the peer of this socket may do before it has said who it is. Without: all, where no
  // password is needed, else nothing. Who may do nothing, and has no way to say who it is, is
  // turned away.
  std::function<Access(int descriptor)> doorkeeper = {};
  std::uint32_t most_clients = 10'000;
  // Of one client: writes whose replies wait for their durability, beyond which it is not read from
  // for the time being; and the bytes of a request, or of replies that it does not take, beyond
  // which it is cut off.
  std::uint32_t client_operations = UINT32_MAX;
  std::uint64_t client_bytes = limits::output_bytes;
  Durability durability = Durability::asynchronous;
  // Whether the store is there when this process has ended. If not, it says so as a Redis without
  // an append-only file does.
  bool outlives_process = true;
};

class Server final : public Poller, private Sleeper {
 public:
  // Listens. Fails with what is wrong: the address, the port.
  static Result<std::unique_ptr<Server>> open(Runtime& runtime, kv::LocalStore& store,
                                              const RespOptions& options);
  // Closes every connection.
  ~Server() override;

  // Lets nobody in any more and cuts off who is there. What they have changed is the store's to
  // make persistent; `busy` tells that something here still waits for it.
  void close_doors();
  bool busy() const { return flows_.size() != 0; }

  std::uint16_t port() const { return settings_.port; }
  const Counters& counters() const { return counters_; }
  // Group commits that replies have waited for.
  std::uint64_t commits() const { return commits_; }
  // Of commands: from the beginning of the turn that read them until the replies of that turn had
  // been written, or were held back for their durability. Nanoseconds.
  const Histogram& latency() const { return latency_; }

 private:
  // What is watched of a connection that is read from.
  static constexpr std::uint32_t read_events = EPOLLIN | EPOLLRDHUP;

  // Looks after clients that wait for a time.
  class Clock final : public Timer {
   public:
    explicit Clock(Server& server) : server_(server) {}
    void expire() override { server_.end_waits(); }

   private:
    Server& server_;
  };

  Server(Runtime& runtime, kv::LocalStore& store, const RespOptions& options);
  Status listen(const RespOptions& options);

  bool poll() override;
  int wake_fd() const override { return epoll_; }
  bool arm_wake() override;
  bool wants_spin() const override { return false; }
  void nothing_came() override { look_ = false; }
  Sleeper* sleeper() override { return this; }
  bool also(int others) override;
  bool sleep(std::uint64_t span_ns) override;
  int sleep_for(std::uint64_t span_ns);
  int gather(std::uint64_t span_ns);

  void accept_some();
  void add(int descriptor, std::string peer);
  void reject(int descriptor, std::string_view reply);
  void close(Connection& connection);
  void bury();

  // server_serve.cpp: one connection.
  void serve(Connection& connection, std::uint32_t events);
  void read(Connection& connection);
  // Runs the requests in `bytes` and returns how many bytes they had.
  std::size_t run(Connection& connection, std::string_view bytes);
  void keep_rest(Connection& connection, std::string_view rest);
  void go_on(Connection& connection);
  bool send(Connection& connection);
  void postpone(Connection& connection);
  void send_postponed();
  void send_borrowed(Connection& connection);
  bool write_now(Connection& connection, std::string_view text, std::size_t& sent);
  void watch(Connection& connection);
  bool tell_again(Connection& connection);
  // Nothing more is read from it for the time being.
  bool is_choked(const Connection& connection) const {
    return connection.held >= client_operations_ ||
           connection.out.size() - connection.sent > pause_bytes();
  }
  std::size_t pause_bytes() const { return std::min(limits::output_pause_bytes, client_bytes_); }

  // server_waits.cpp: what connections wait for.
  bool hold(Connection& connection, std::size_t from);
  void see_to_held();
  void release_held();
  Task<void> commit();
  Task<void> make_persistent(kv::LocalStore::Mark mark);
  Task<void> make_room();
  void wait_for_room(Connection& connection);
  void wait_for_persistence(Connection& connection);
  std::uint64_t next_end_ns() const;
  void end_waits();
  void answer_wait(Connection& connection, bool is_persistent);

  Runtime& runtime_;
  kv::LocalStore& store_;
  Settings settings_;
  Counters counters_;
  Histogram latency_;
  const std::function<Access(int descriptor)> doorkeeper_;
  const std::uint32_t client_operations_;
  const std::size_t client_bytes_;
  Executor executor_;
  int listener_ = -1;
  int epoll_ = -1;
  bool look_ = true;         // something may be ready
  std::uint32_t turns_ = 0;  // since the last look
  std::array<epoll_event, limits::events_per_turn> events_;
  ShortWaits short_waits_;
  Gathering gathering_;
  bool others_came_ = false;  // to the end of a nap
  int others_ = -1;           // a sleep ends, too, when this is readable
  std::optional<int> slept_;  // so many events were found by a sleep, and not yet served
  std::uint64_t last_id_ = 0;
  std::unique_ptr<char[]> input_;
  Output out_;  // of the connection that is served
  Parser parser_;
  std::vector<std::unique_ptr<Connection>> connections_;
  std::vector<std::unique_ptr<Connection>> graves_;
  struct Postponed {
    Connection* connection = nullptr;
    Output::Aside text;
  };
  std::vector<Postponed> postponed_;   // replies of this turn
  std::vector<Connection*> holding_;   // replies
  std::vector<Connection*> roomless_;  // wait for room
  std::vector<Connection*> waiting_;   // wait for persistence
  bool again_ = false;                 // requests were left, for the size of the replies alone
  bool committing_ = false;
  std::uint64_t commits_ = 0;
  kv::LocalStore::Mark released_ = 0;  // replies up to here have left
  bool making_room_ = false;
  Clock clock_{*this};
  Flows flows_;
};

}  // namespace remora::resp
