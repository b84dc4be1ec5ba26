// CallServer: durable calls in one pool. It recovers the sessions that the pool has, lets callers
// resume them, and tells them results. Calls come through the logs (calls/session.h); all else, by
// messages.
//
// Whether a sender's FLUSH is trusted is chosen once, when a caller comes: where the device on
// either side declares less than persistence for it, and the owner of this machine does not vouch
// that DMA goes past its caches, the receiver flushes, and says so.
//
// One thread, the loop's. What is handed in outlives it.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "rpc/calls/messages.h"
#include "rpc/calls/session.h"
#include "rpc/server.h"

namespace remora::rpc::calls {

struct CallServerOptions {
  std::uint32_t most_clients = 64;
  // Unprocessed calls of a session, beyond which its caller is told to slow down.
  std::uint64_t slow_at = 192;
  // DMA of this machine goes past its caches (DDIO is off): then a FLUSH that pushes bytes out of
  // the NIC makes them persistent.
  bool dma_passes_caches = false;
  // The receiver flushes in any case (W-RFlush-RPC).
  bool receiver_flushes = false;
  // For the numbers of sessions, which must not be guessable; by default the system's.
  std::function<std::uint64_t()> draw_number = {};
  Committer* committer = nullptr;  // as ServerOptions have it
  fabric::ConnectOptions connect = {};
};

class CallServer final : private Service, private Poller {
 public:
  static Result<std::unique_ptr<CallServer>> start(const Host& host, Pool& pool, Effects& effects,
                                                   const Methods& methods,
                                                   const CallServerOptions& options);
  ~CallServer() override;

  Result<fabric::QueuePairAddress> accept(const fabric::QueuePairAddress& client) {
    return rpc_->accept(client);
  }
  // Whether calls wait or run.
  bool is_busy() const;
  const CallCounters& counters() const { return counters_; }
  // Of all sessions: calls that were found and are not recorded.
  std::uint64_t backlog() const;
  // The first session that can go on no more, or success.
  Status failure() const;

 private:
  // A session, and the connection that has it.
  struct Held {
    Held(const CallParts& parts, std::unique_ptr<SessionLog> log)
        : session(parts, std::move(log)), notice(notice_bytes) {}

    CallSession session;
    SessionId client = 0;
    bool is_resuming = false;
    std::unique_ptr<fabric::MemoryRegion> ring;
    std::vector<std::byte> notice;
    std::size_t unsent_bytes = 0;  // of the notice that is to leave next
  };

  CallServer(const Host& host, Pool& pool, Effects& effects, const Methods& methods,
             const CallServerOptions& options);
  Status recover();

  Reply handle(const Session& session, std::uint32_t call, Kind kind, ConstBytes request,
               Bytes body) override;
  Status joined(const Session& session) override;
  bool client_left(const Session& session) override;
  bool poll() override;
  bool arm_wake() override { return true; }
  bool follows() const override { return true; }
  bool wants_spin() const override { return false; }

  Task<void> attach(SessionId client, std::uint32_t call, AttachRequest request);
  Task<Result<AttachReply>> attach_session(SessionId client, AttachRequest request);
  Task<Result<Held*>> find_or_make(const AttachRequest& request);
  Task<Status> take_from_others(Held& held);
  Task<void> serve(Held& held, bool receiver_flushes);
  bool trusts_flush(const AttachRequest& request) const;
  Form form_of(const AttachRequest& request, bool receiver_flushes) const;

  const Host host_;
  Pool& pool_;
  const CallServerOptions options_;
  std::optional<Committer> own_committer_;
  CallCounters counters_;
  KeyOrder order_;
  Flows flows_;
  CallParts parts_;
  std::map<SessionId, Session> clients_;
  std::vector<std::unique_ptr<Held>> sessions_;
  std::unique_ptr<Server> rpc_;
};

}  // namespace remora::rpc::calls
