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
// run, and in the end it is cut off; so is one that sends what is no request. Half a request stops
// nobody. Above what all connections together may keep, the one that keeps most is cut off. Without
// a descriptor for one more client the others are served on, and the next is let in when there is
// one again.
#pragma once

#include <sys/epoll.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/histogram.h"
#include "base/result.h"
#include "base/socket_address.h"
#include "kv/local_store.h"
#include "resp/command.h"
#include "resp/connection.h"
#include "resp/gathering.h"
#include "resp/output.h"
#include "resp/short_waits.h"
#include "runtime/door.h"
#include "runtime/flows.h"
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
  // Instead of the password: who may do what.
  std::function<Access(std::string_view user, std::string_view password)> authenticator = {};
  // Who the peer of this socket is, of this address. Without: one who may do all, where no password
  // is needed, else nothing. Who may do nothing, and has no way to say who it is, is turned away.
  std::function<Visitor(int descriptor, const std::string& host)> doorkeeper = {};
  // Clients at a time; of them guests, and those of one guest.
  std::uint32_t most_clients = limits::clients;
  // With it every connection is TLS; certificates that are read again serve those who come then.
  std::shared_ptr<TlsContext> tls = {};
  std::uint64_t handshake_ns = limits::handshake_ns;
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

  // Whether clients may say who they are by a password, from now on.
  void expect_passwords(bool are_expected) { settings_.needs_password = are_expected; }

  std::uint16_t port() const { return settings_.port; }
  const Counters& counters() const { return counters_; }
  // Group commits that replies have waited for.
  std::uint64_t commits() const { return commits_; }
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

  // Looks after clients that wait for a time.
  class Clock final : public Timer {
   public:
    explicit Clock(Server& server) : server_(server) {}
    void expire() override { server_.end_waits(); }

   private:
    Server& server_;
  };

  // Ends handshakes that take too long.
  class HandshakeClock final : public Timer {
   public:
    explicit HandshakeClock(Server& server) : server_(server) {}
    void expire() override { server_.end_late_handshakes(); }

   private:
    Server& server_;
  };
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
  void add(int descriptor, const SocketAddress& peer);
  bool has_place_for(const std::string& guest) const;
  void reject(int descriptor, std::string_view reply);
  void close(Connection& connection);
  void bury();
  void trim();
  void count_kept(Connection& connection);

  // server_serve.cpp: one connection.
  void serve(Connection& connection, std::uint32_t events);
  void read(Connection& connection);
  // Runs the requests in `bytes` and returns how many bytes they had.
  std::size_t run(Connection& connection, std::string_view bytes);
  void keep_rest(Connection& connection, std::string_view rest);
  static std::size_t room_for(const Connection& connection, std::size_t came);
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

  // server_tls.cpp: connections that are encrypted.
  bool begin_handshake(Connection& connection);
  bool shake(Connection& connection);
  bool begins_tls(Connection& connection);
  void end_late_handshakes();
  void end_handshake(Connection& connection);
  ssize_t receive(Connection& connection, std::span<char> room);
  void close_ended();

  // server_waits.cpp: what connections wait for.
  void hold(Connection& connection, std::size_t from, bool is_joined);
  void see_to_held();
  void release_held();
  void fail_held(const Status& why);
  Task<void> commit();
  Task<void> make_persistent(kv::LocalStore::Mark mark);
  Task<void> make_room();
  void wait_for_room(Connection& connection);
  Task<void> settle();
  void begin_to_settle();
  bool end_left_moves();
  void wait_for_commit(Connection& connection);
  void wait_for_persistence(Connection& connection);
  std::uint64_t next_end_ns() const;
  void end_waits();
  void answer_wait(Connection& connection, bool is_persistent);

  Runtime& runtime_;
  kv::LocalStore& store_;
  Settings settings_;
  Counters counters_;
  Histogram latency_;
  const std::function<Visitor(int descriptor, const std::string& host)> doorkeeper_;
  const std::uint32_t most_guests_;
  const std::uint32_t most_of_guest_;
  const std::uint32_t client_operations_;
  const std::size_t client_bytes_;
  const std::size_t most_kept_;
  const std::shared_ptr<TlsContext> tls_;
  const std::uint64_t handshake_ns_;
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
  Door door_{runtime_};
  std::uint64_t last_id_ = 0;
  std::unique_ptr<char[]> input_;
  Output out_;  // of the connection that is served
  Parser parser_;
  Spares spares_;
  std::vector<std::unique_ptr<Connection>> connections_;
  std::vector<std::unique_ptr<Connection>> graves_;
  std::unordered_map<std::string, std::uint32_t> guests_;  // their connections
  std::uint32_t guest_connections_ = 0;
  std::size_t kept_ = 0;  // by the connections
  std::uint64_t copied_ = 0;
  struct Postponed {
    Connection* connection = nullptr;
    Output::Aside text;
  };
  std::vector<Postponed> postponed_;   // replies of this turn
  std::vector<Connection*> holding_;   // replies
  std::vector<Connection*> roomless_;  // wait for room
  std::vector<Connection*> uncommitted_;
  // Keys whose clients have left in the middle of moving them: their old names go all the same.
  struct LeftMove {
    std::string key;
    kv::KeyMove move;
    int tries = 0;  // that found no room
  };
  std::vector<LeftMove> left_moves_;
  std::vector<Connection*> waiting_;     // wait for persistence
  std::vector<Connection*> handshakes_;  // under way, in the order in which they began
  std::uint32_t shaken_ = 0;             // in this turn
  std::vector<Connection*> ended_;       // have sent their last byte, behind others, in this turn
  HandshakeClock handshake_clock_{*this};
  bool again_ = false;  // requests were left, for the size of the replies alone
  bool committing_ = false;
  std::uint64_t commits_ = 0;
  kv::LocalStore::Mark released_ = 0;  // replies up to here have left
  bool making_room_ = false;
  bool settling_ = false;
  std::size_t left_behind_ = 0;  // by clients that have left, since the last trim
  std::uint64_t trims_ = 0;
  Trimmer trimmer_{*this};
  Clock clock_{*this};
  Flows flows_;
};

}  // namespace remora::resp
