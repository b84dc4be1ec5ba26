// Server: the answering side of the RPC. It is a loop (sessions, tickets and the committer, replies
// that wait, limits) that finds requests at an Inlet (rpc/inlet.h), lets a Service answer them, and
// sends the answers by an Outlet (rpc/outlet.h). Those two are what designs differ in; the store's
// messages are a receive queue and SENDs, which it makes by itself when it is handed none.
//
// The service's functions are plain: they return a reply and a ticket. The reply leaves when the
// ticket is persistent and, in virtual time, when the core has done what it was charged for: at
// once on byte and cache-line media in real time, after the group commit on page media. Replies do
// not wait for each other. One that is given `later` waits for a flow, or for whatever it likes.
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
#include "rpc/inlet.h"
#include "rpc/message.h"
#include "rpc/outlet.h"
#include "rpc/request_cores.h"
#include "rpc/service.h"
#include "runtime/poller.h"

namespace remora::rpc {

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

// Where requests are found, and how answers go. The inlet may know the outlet, and goes before it.
struct Ends {
  std::unique_ptr<Outlet> outlet;
  std::unique_ptr<Inlet> inlet;
};

class Server final : private Poller, private Committer::Party, private Outlet::Broken {
 public:
  // With messages: SENDs both ways.
  static Result<std::unique_ptr<Server>> create(const Host& host, Service& service,
                                                const ServerOptions& options);
  // With the ends of a design, whose places are for options.most_clients; receives, notices and
  // sizes of the options are theirs to say.
  static Result<std::unique_ptr<Server>> create(const Host& host, Service& service,
                                                const ServerOptions& options, Ends ends);
  ~Server() override;

  // A client that came, by what it tells of itself; the answer is what tells it of this side. What
  // it tells may be anything.
  Result<Introduction> accept(const Introduction& client, bool may_write = true);
  // The same for messages, whose ends have no more to tell than their queue pairs.
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
        visit(client->connection.session);
      }
    }
  }

 private:
  static constexpr std::size_t most_batch = 64;
  enum class State : std::uint8_t { connected, leaving };
  struct Client {
    Connection connection;
    std::uint32_t owed = 0;  // replies that wait
    State state = State::connected;
  };
  // A reply that is not to leave yet.
  struct Waiting {
    SessionId session;
    std::uint32_t place;
    MessageHead head;
    Ticket ticket;
    std::uint64_t due_ns;
  };
  // An event, where nothing happens without one.
  class Kick final : public Timer {
   public:
    void expire() override {}
  };

  Server(const Host& host, Service& service, const ServerOptions& options, Ends ends);

  bool poll() override;
  bool arm_wake() override { return leaving_ == 0 && (waiting_.empty() || is_to_be_woken()); }
  // Where requests come by completions, the device's poller makes those.
  bool follows() const override { return inlet_->is_told(); }
  bool wants_spin() const override { return !inlet_->is_told() && live_ != 0; }
  // While another thread makes the commit that all wait for.
  bool wants_sleep() const override {
    return uncommitted_ != 0 && committer_->is_under_way() && !committer_->is_planned() &&
           !kick_.armed() && all_owed();
  }
  bool all_wait() override {
    return live_ + leaving_ == 0 || (options_.may_stand_still && all_owed());
  }
  void broken(SessionId session) override { disconnect(session); }
  Status connect(Client& client, const Introduction& theirs, Introduction& ours);
  void close(Client& client);
  bool take_requests();
  bool take_by_cores();
  void handle(Client& client, const Arrival& arrival);
  void cut_off(Client& client, const Arrival& arrival, std::uint32_t place);
  void reply(Client& client, std::uint32_t place, const MessageHead& head, const Reply& reply);
  // Returns whether a reply has left, or a commit has begun.
  bool send_waiting();
  void send_failure(Client& client, std::uint32_t place, MessageHead head);
  bool all_owed() const;
  // Whether the end of a commit, or a timer, wakes the loop for replies that wait.
  bool is_to_be_woken() const {
    return committer_ != nullptr && committer_->is_told() &&
           (kick_.armed() || committer_->is_planned() || committer_->is_under_way());
  }
  void send(Client& client, std::uint32_t place, const MessageHead& head);
  Outlet::Place take_place(Client& client, std::uint32_t call);
  void drop(Client& client);
  bool let_go();
  Client* find(SessionId session);
  const Client* find(SessionId session) const;

  Host host_;
  Service& service_;
  const ServerOptions options_;
  std::unique_ptr<Outlet> outlet_;
  std::unique_ptr<Inlet> inlet_;
  std::unique_ptr<RequestCores> cores_;  // null where requests are handled when they are found
  std::vector<std::unique_ptr<Client>> clients_;  // by place; the session id names place and round
  std::uint64_t rounds_ = 0;
  std::size_t live_ = 0;
  std::uint64_t failures_ = 0;
  std::size_t leaving_ = 0;
  std::vector<Waiting> waiting_;
  std::optional<Committer> own_committer_;
  Committer* committer_ = nullptr;            // null where there is no persistent memory
  std::size_t uncommitted_ = 0;               // replies that wait for a commit
  std::array<Arrival, most_batch> arrivals_;  // what a poll fills
  Kick kick_;
};

}  // namespace remora::rpc
