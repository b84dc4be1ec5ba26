// Server: any Redis client reaches the store of this process, by TCP.
//
// One thread, the loop's; the runtime and the store outlive it. It is a poller of its loop with one
// epoll descriptor, at which the loop sleeps. In a turn it reads once from every connection that
// has something and runs all requests that are whole, then writes all replies: the first wakes a
// client that sleeps, and the others find it awake. A connection costs some hundred
// bytes while it is idle: what it sent is read to a buffer that all share, and only what is not
// whole is kept. Of a long request the rest is received behind what is kept, in room for all of it,
// so that the bytes of a value are copied once more alone: into the pool.
//
// Durability. `asynchronous`: a reply to a write says that it is visible; the store makes it
// persistent by itself, and WAITAOF waits for that. A read shows what is visible, of this client
// and of others, and a power cut may still take it: as Redis's appendfsync everysec. `persistent`:
// what is told of the store, be it the reply to a write or to a read, leaves when every change
// before it is persistent, whoever made it: as appendfsync always; and so does what the same client
// asked for after it. One group commit serves all, and nothing waits where nothing is to be made
// persistent; but where at least three in four clients wait for the same commit and the store has
// no clients of its own, the others wait for that one, whatever they ask. Changes of native clients
// are theirs: seen when acknowledged, as they asked for.
//
// A client that reads none of its replies is not read from any more, nor are more of its requests
// run, and in the end it is cut off. One that sends what is no request is told so and cut off when
// it had the time to read it. Half a request stops nobody. One whose requests take long, though
// their replies are short, has some of them run in a turn, and others are served between. Above
// what all connections together may keep, the one that keeps most is cut off. Without a descriptor
// for one more client the others are served on, and the next is let in when there is one again.
#pragma once

#include <sys/epoll.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/histogram.h"
#include "base/result.h"
#include "base/socket_address.h"
#include "front/resp/command.h"
#include "front/resp/connection.h"
#include "front/resp/desk.h"
#include "front/resp/farewells.h"
#include "front/resp/guests.h"
#include "front/resp/handshakes.h"
#include "front/resp/held_replies.h"
#include "front/resp/monitors.h"
#include "front/resp/output.h"
#include "front/resp/pauses.h"
#include "front/resp/socket_events.h"
#include "kv/local_store.h"
#include "runtime/door.h"
#include "runtime/poller.h"
#include "runtime/runtime.h"

namespace remora::resp {

enum class Durability : std::uint8_t { asynchronous, persistent };

// Who is at the other end of a connection, before it has said so itself.
struct Visitor {
  Access access = Access::none;
  // By whom it is counted among the guests, a user or a machine; nobody: the store's own, whom no
  // place is refused that there is.
  std::string guest = {};
};

struct RespOptions {
  std::string host = "127.0.0.1";  // an address, of IPv4 or IPv6, not a name
  std::uint16_t port = 6379;       // 0: one that is free
  std::string password = {};       // of the user "default"; empty: none is needed
  // Instead of the password: who may do what. The password's own may do all.
  std::function<Access(std::string_view user, std::string_view password)> authenticator = {};
  // Who the peer of this socket is, of this address. Without: one who may do all, where no password
  // is needed, else nothing. Who may do nothing, and has no way to say who it is, is turned away.
  std::function<Visitor(int descriptor, const std::string& host)> doorkeeper = {};
  // Clients at a time; of them guests, and those of one guest.
  std::uint32_t most_clients = limits::clients;
  // With it every connection is TLS; certificates that are read again serve those who come then.
  std::shared_ptr<TlsContext> tls = {};
  std::uint64_t handshake_ns = limits::handshake_ns;
  // How long a client that sends what is no request is read from after it was told so, and how many
  // such clients there are at a time.
  std::uint64_t farewell_ns = limits::farewell_ns;
  std::size_t most_farewells = limits::farewells;
  std::uint32_t most_guests = UINT32_MAX;
  std::uint32_t most_of_guest = UINT32_MAX;
  // Of one client: replies that wait for durability, beyond which it is not read from for the time
  // being; and the bytes of a request, or of replies that it does not take, beyond which it is cut
  // off.
  std::uint32_t client_operations = UINT32_MAX;
  std::uint64_t client_bytes = limits::output_bytes;
  // What all connections may keep.
  std::uint64_t kept_bytes = limits::kept_bytes;
  Durability durability = Durability::asynchronous;
  // Whether the store is there when this process has ended. If not, it says so as a Redis without
  // an append-only file does.
  bool outlives_process = true;
  // For INFO: the size of the pool, which bounds what can be kept; 0: not known.
  std::uint64_t pool_bytes = 0;
};

class Server final : public Poller, private Desk {
 public:
  // Listens. Fails with what is wrong: the address, the port.
  static Result<std::unique_ptr<Server>> open(Runtime& runtime, kv::LocalStore& store,
                                              const RespOptions& options);
  // Closes every connection.
  ~Server() override;

  // Lets nobody in any more and cuts off who is there. What they have changed is the store's to
  // make persistent; `busy` tells that something here still waits for it.
  void close_doors();
  bool busy() const { return held_.busy() || pauses_.busy(); }

  // Whether clients may say who they are by a password, from now on.
  void expect_passwords(bool are_expected) { settings_.needs_password = are_expected; }
  void pool_grew(std::uint64_t pool_bytes) { settings_.pool_bytes = pool_bytes; }

  std::uint16_t port() const { return settings_.port; }
  const Counters& counters() const { return counters_; }
  // By command, and those that took long.
  const CommandStats& stats() const { return executor_.stats(); }
  // Group commits that replies have waited for.
  std::uint64_t commits() const { return held_.commits(); }
  // What connections keep now: requests that are not whole, replies that were not taken. And bytes
  // of requests that were copied because they came in parts.
  std::uint64_t kept_bytes() const { return kept_; }
  std::uint64_t copied_bytes() const { return copied_; }
  // How often memory of clients that had left was given back to the system.
  std::uint64_t trims() const { return trims_; }
  // TLS handshakes that are under way.
  std::size_t handshakes() const { return handshakes_.size(); }
  // Of commands: from the beginning of the turn that read them until the replies of that turn had
  // been written, or were held back for their durability. Nanoseconds.
  const Histogram& latency() const { return latency_; }

 private:
  // What is watched of a connection that is read from.
  static constexpr std::uint32_t read_events = EPOLLIN | EPOLLRDHUP;

  // Gives memory of clients that have left back to the system.
  class Trimmer final : public Timer {
   public:
    explicit Trimmer(Server& server) : server_(server) {}
    void expire() override { server_.trim(); }

   private:
    Server& server_;
  };

  Server(Runtime& runtime, kv::LocalStore& store, const RespOptions& options);
  Status listen(const RespOptions& options);

  bool poll() override;
  int wake_fd() const override { return events_.descriptor(); }
  bool arm_wake() override {
    events_.look_again();
    return true;
  }
  bool wants_spin() const override { return false; }
  void nothing_came() override { events_.nothing_came(); }
  Sleeper* sleeper() override { return &events_; }

  void accept_some();
  void add(int descriptor, const SocketAddress& peer);
  void reject(int descriptor, std::string_view reply);
  void trim();
  // Of this number, or null.
  Connection* find(std::uint64_t id);

  // Desk.
  bool send(Connection& connection) override;
  void go_on(Connection& connection) override;
  void count_kept(Connection& connection) override;
  void close(Connection& connection) override;
  void bury() override;
  void look_again() override { events_.look_again(); }
  std::size_t connected() const override { return connections_.size(); }

  // server_serve.cpp: a turn, and one connection in it.
  void serve(Connection& connection, std::uint32_t events);
  void read(Connection& connection);
  // Runs the requests in `bytes` and returns how many bytes they had.
  std::size_t run(Connection& connection, std::string_view bytes);
  void keep_rest(Connection& connection, std::string_view rest);
  static std::size_t room_for(const Connection& connection, std::size_t came);
  void run_kept(Connection& connection);
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

  // server_tls.cpp: connections that are encrypted.
  bool begin_handshake(Connection& connection);
  bool shake(Connection& connection);
  bool begins_tls(Connection& connection);
  ssize_t receive(Connection& connection, std::span<char> room);
  void close_ended();

  // server_farewell.cpp: connections that were told why they end.
  void refuse(Connection& connection, const std::string& why);
  void say_farewell(Connection& connection);
  void discard(Connection& connection);

  Runtime& runtime_;
  kv::LocalStore& store_;
  Settings settings_;
  Counters counters_;
  Histogram latency_;
  const std::function<Visitor(int descriptor, const std::string& host)> doorkeeper_;
  const std::uint32_t client_operations_;
  const std::size_t client_bytes_;
  const std::size_t most_kept_;
  const std::shared_ptr<TlsContext> tls_;
  Executor executor_;

  // Those who come.
  int listener_ = -1;
  SocketEvents events_{runtime_, [this] { return !held_.empty(); }};
  Door door_{runtime_};
  Guests guests_;
  Handshakes handshakes_;
  Farewells farewells_;
  std::uint64_t last_id_ = 0;

  // Those who are there, and what they keep.
  Spares spares_;
  std::vector<std::unique_ptr<Connection>> connections_;
  std::vector<std::unique_ptr<Connection>> graves_;
  std::size_t kept_ = 0;  // by the connections
  std::uint64_t copied_ = 0;
  std::size_t left_behind_ = 0;  // by clients that have left, since the last trim
  std::uint64_t trims_ = 0;
  Trimmer trimmer_{*this};

  // The connection that is served, and what has come of others in this turn.
  std::unique_ptr<char[]> input_;
  Output out_;
  Parser parser_;
  struct Postponed {
    Connection* connection = nullptr;
    Output::Aside text;
  };
  std::vector<Postponed> postponed_;  // replies
  std::vector<Connection*> ended_;    // have sent their last byte, behind others
  bool again_ = false;                // requests were left, for the size of the replies alone

  HeldReplies held_;
  Pauses pauses_;
  Monitors monitors_;
};

}  // namespace remora::resp
