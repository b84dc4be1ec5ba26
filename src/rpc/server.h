// Server: the answering side of the RPC. It has one queue pair and one protection domain for each
// client, takes requests in batches from one completion queue, and lets a Service answer them.
//
// The service's functions are plain: they return a reply and a ticket. The reply leaves when the
// ticket is persistent and, in virtual time, when the core has done what it was charged for: at
// once on byte and cache-line media in real time, after the group commit on page media. Replies do
// not wait for each other.
//
// Where a machine is modelled with several request cores, a request waits until one of them takes
// it (rpc/request_cores.h), and takes effect then; elsewhere it is handled when the poll finds it.
//
// A client that sends nonsense, or more than it was told it may, is disconnected. One thread, the
// loop's; nothing is allocated while requests flow. Host and service outlive it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/device.h"
#include "host/committer.h"
#include "host/host.h"
#include "rpc/message.h"
#include "rpc/request_cores.h"
#include "runtime/poller.h"

namespace remora::rpc {

using SessionId = std::uint64_t;  // never used twice

struct ServerOptions {
  std::uint32_t most_clients = 64;
  // Requests that a client may have in flight: its receive regions.
  std::uint32_t receives = 16;
  // Requests that one poll takes. A design that handles them one by one has 1.
  std::uint32_t batch = 32;
  std::uint32_t request_bytes = 2048;
  std::uint32_t reply_bytes = 4096;
  std::uint32_t notices = 4;  // for each client, on their way
  // Decides about the commits that replies wait for, and outlives the server. Without one, each
  // reply asks for its own commit, and the server looks for its end.
  Committer* committer = nullptr;
  // Whether the loop may stand still for a commit that all clients wait for. One that is far away
  // would take that for a server that is gone.
  bool may_stand_still = true;
  fabric::ConnectOptions connect = {};
};

// What the service answers.
struct Reply {
  Code code = Code::ok;
  std::uint32_t size_bytes = 0;  // of the body
  Ticket ticket = {};
  bool later = false;  // not now: the service calls Server::answer when it is time
  // Who asked will wait for a commit next, and does not mind if one that is under way delays this.
  bool patient = false;

  static Reply failure(Bytes body, Code code, std::string_view message);
};

// One client. Its domain is where the service registers what the client may reach.
struct Session {
  SessionId id = 0;
  bool may_write = true;  // else it gets no right but to READ, and no WRITE with IMM is taken of it
  fabric::ProtectionDomain* domain = nullptr;
  fabric::QueuePair* queue_pair = nullptr;
};

class Service {
 public:
  virtual ~Service() = default;
  // A request. Its body comes from outside and may be anything; it stays until this returns. The
  // reply's body is written to `body`.
  virtual Reply handle(const Session& session, std::uint32_t call, Kind kind, ConstBytes request,
                       Bytes body) = 0;
  // A WRITE with IMM: all that it and the WRITEs before it wrote is visible. Answered like a
  // request; `call` is the immediate.
  virtual Reply written(const Session&, std::uint32_t /*call*/, Bytes body) {
    return Reply::failure(body, Code::invalid_argument, "no WRITE with IMM is expected here");
  }
  // A client has come; a failure turns it away. And it has gone: what it was granted may still be
  // written until queue_pair->quiet(); the session's objects are destroyed when this has returned
  // true, which is asked again until then.
  virtual Status joined(const Session&) { return {}; }
  virtual bool client_left(const Session&) { return true; }
};

class Server final : private Poller, private Committer::Party {
 public:
  static Result<std::unique_ptr<Server>> create(const Host& host, Service& service,
                                                const ServerOptions& options);
  ~Server() override;

  // A client that came, by its queue pair's address; the answer is the one that serves it.
  Result<fabric::QueuePairAddress> accept(const fabric::QueuePairAddress& client,
                                          bool may_write = true);
  // The client finds its queue pair gone, and `client_left` is called in the next turn.
  void disconnect(SessionId session);
  std::size_t clients() const { return live_; }
  // Replies that told of a failure other than not_found.
  std::uint64_t failures() const { return failures_; }
  // Whether a reply to it waits here, for what it tells of to be persistent.
  bool owes(SessionId session) const;

  // A message that nobody asked for; no_space while too many are on their way, not_found when the
  // client is gone.
  Status notify(SessionId session, Kind kind, ConstBytes body);
  // The answer to a request that was to come later; nothing happens when the client is gone.
  void answer(SessionId session, std::uint32_t call, const Reply& reply, ConstBytes body);

  // Calls visit(session) for each client that is connected.
  template <typename Visit>
  void for_each(Visit visit) const {
    for (const std::unique_ptr<Client>& client : clients_) {
      if (client && client->state == State::connected) {
        visit(client->session);
      }
    }
  }

 private:
  static constexpr std::size_t most_batch = 64;
  enum class State : std::uint8_t { connected, leaving };
  struct Client {
    Session session;
    std::unique_ptr<fabric::ProtectionDomain> domain;
    std::vector<std::byte> request_memory;
    std::vector<std::byte> reply_memory;
    std::unique_ptr<fabric::MemoryRegion> requests;
    std::unique_ptr<fabric::MemoryRegion> replies;
    std::unique_ptr<fabric::QueuePair> queue_pair;
    std::uint64_t unused = 0;   // buffers for messages to it, a bit for each
    std::uint32_t notices = 0;  // on their way
    std::uint32_t owed = 0;     // replies that wait
    State state = State::connected;
  };
  // A reply that is not to leave yet.
  struct Waiting {
    SessionId session;
    std::uint32_t buffer;
    std::uint32_t size_bytes;  // with its head
    Ticket ticket;
    std::uint64_t due_ns;
  };
  // An event, where nothing happens without one.
  class Kick final : public Timer {
   public:
    void expire() override {}
  };

  Server(const Host& host, Service& service, const ServerOptions& options);

  bool poll() override;
  bool arm_wake() override { return leaving_ == 0 && (waiting_.empty() || is_to_be_woken()); }
  // Requests come by completions, which the device's poller makes.
  bool follows() const override { return true; }
  bool wants_spin() const override { return false; }
  // While another thread makes the commit that all wait for.
  bool wants_sleep() const override {
    return uncommitted_ != 0 && committer_->is_under_way() && !committer_->is_planned() &&
           !kick_.armed() && all_owed();
  }
  bool all_wait() override {
    return live_ + leaving_ == 0 || (options_.may_stand_still && all_owed());
  }
  bool take_requests();
  bool take_by_cores();
  bool take_sent();
  void handle(Client& client, const fabric::WorkCompletion& completion);
  void reply(Client& client, const MessageHead& head, std::uint32_t buffer, const Reply& reply);
  // Returns whether a reply has left, or a commit has begun.
  bool send_waiting();
  void send_failure(Client& client, std::uint32_t buffer);
  bool all_owed() const;
  // Whether the end of a commit, or a timer, wakes the loop for replies that wait.
  bool is_to_be_woken() const {
    return committer_ != nullptr && committer_->is_told() &&
           (kick_.armed() || committer_->is_planned() || committer_->is_under_way());
  }
  void send(Client& client, std::uint32_t buffer, std::uint32_t size_bytes);
  Status post_receive(Client& client, std::uint32_t receive);
  std::uint32_t take_buffer(Client& client);
  Bytes body_of(Client& client, std::uint32_t buffer);
  void drop(Client& client);
  bool let_go();
  Client* find(SessionId session);
  const Client* find(SessionId session) const;
  std::size_t request_stride() const { return head_bytes + options_.request_bytes; }
  std::size_t reply_stride() const { return head_bytes + options_.reply_bytes; }

  Host host_;
  Service& service_;
  const ServerOptions options_;
  std::unique_ptr<fabric::CompletionQueue> receives_;
  std::unique_ptr<fabric::CompletionQueue> sends_;
  std::unique_ptr<RequestCores> cores_;  // null where requests are handled when they are found
  std::vector<std::unique_ptr<Client>> clients_;  // by place; the session id names place and round
  std::uint64_t rounds_ = 0;
  std::size_t live_ = 0;
  std::uint64_t failures_ = 0;
  std::size_t leaving_ = 0;
  std::vector<Waiting> waiting_;
  std::optional<Committer> own_committer_;
  Committer* committer_ = nullptr;  // null where there is no persistent memory
  std::size_t uncommitted_ = 0;     // replies that wait for a commit
  // What polls fill. The second is filled while the first is gone through.
  std::array<fabric::WorkCompletion, most_batch> requests_;
  std::array<fabric::WorkCompletion, most_batch> sent_;
  Kick kick_;
};

}  // namespace remora::rpc
