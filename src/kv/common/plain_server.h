// PlainServer: what the servers of the plain engines have in common: clients that reach the pool
// (and, where the engine lets them, the index) by themselves, and requests that are taken one by
// one.
//
// The index may move, and there are no rounds as eFactory has them: the old memory stays registered
// and is emptied, so that who READs it misses and asks; the reply names the new generation, and the
// client says hello again.
//
// A writer reaches the values that it was granted, until their put is committed or enough others
// have come after them, and nothing else of the pool (kv/common/store_guard.h). Engines that use
// space again take the grants in it back; the others have none to take.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "kv/common/await_persistent.h"
#include "kv/common/messages.h"
#include "kv/common/segment_keys.h"
#include "kv/common/store_guard.h"
#include "kv/log/log.h"
#include "kv/log/object.h"
#include "kv/store.h"
#include "rpc/server.h"
#include "runtime/flows.h"

namespace remora::kv {

class PlainServer : public StoreServer, protected rpc::Service {
 public:
  ~PlainServer() override;

  using StoreServer::accept;
  Result<PeerAddress> accept(const PeerAddress& client, Rights rights) override;
  Status finish() override;
  std::size_t clients() const override { return rpc_->clients(); }
  bool busy() const override { return flows_.size() != 0; }
  std::uint64_t failed_requests() const override { return rpc_->failures(); }

 protected:
  // A request, and where the body of its reply goes.
  struct Request {
    const rpc::Session& session;
    std::uint32_t call;
    ConstBytes bytes;
    Bytes body;
  };

  PlainServer(const Host& host, Pool& pool, const ServerOptions& options);
  // The last step of starting. The batch is what the design takes at once.
  Status listen(rpc::ServerOptions rpc_options = {}, std::uint32_t batch = 1);

  // --- What an engine answers.
  virtual rpc::Reply put(const Request& request) = 0;
  virtual rpc::Reply get(const Request& request) = 0;
  virtual rpc::Reply del(const Request& request) = 0;
  virtual rpc::Reply scan(const Request& request) = 0;
  virtual rpc::Reply persist(const Request& request) = 0;
  virtual rpc::Reply other(const Request& request, rpc::Kind kind);
  // A client's own state, if the engine has some.
  virtual void gone(rpc::SessionId) {}

  // --- Where the index is.
  struct IndexPlace {
    std::uint64_t generation = 0;
    IndexGeometry geometry = {};
    Bytes memory = {};  // to be registered for READs, with what it lies in, if any; or
    Region* region = nullptr;
    std::uint64_t offset = 0;  // in the pool, and its size there
    std::uint64_t size_bytes = 0;
  };
  virtual IndexPlace index_place() const = 0;
  // What its clients do now (PlainLayout).
  virtual std::uint64_t phase() const { return 0; }
  // What the engine's objects lie in, from listen() on.
  virtual Log& log() = 0;
  // Lets every client READ the index where it is now. Before any reply names its generation.
  void share_index();

  // --- Replies.
  template <typename T>
  static rpc::Reply reply(const Request& request, const T& value, Ticket ticket = {}) {
    std::memcpy(request.body.data(), &value, sizeof value);
    return {.size_bytes = sizeof value, .ticket = ticket};
  }
  static rpc::Reply failure(const Request& request, const Status& status) {
    return rpc::Reply::failure(request.body, status.code(), status.message());
  }
  static rpc::Reply nonsense(const Request& request) {
    return rpc::Reply::failure(request.body, Code::invalid_argument, "no such request");
  }
  // The place of an object that was granted, for the client to fill.
  rpc::Reply grant(const Request& request, const Object& object);
  // The value of an object that was granted stands still from here on.
  void close_grant(const Request& request, Offset object);

  // Whether a version is whole, by the checksum that the design has. Costs a pass over the value.
  virtual bool is_intact(const Object& object) const { return object.intact(); }
  // Makes the version that is asked for persistent, if that says that it is whole.
  rpc::Reply persist_if_intact(const Request& request, const Fault& not_flushed);

  // The head of a put, and the key behind it; a failure when they are impossible.
  struct PutAsk {
    PutRequest head;
    ConstBytes key;
  };
  static Result<PutAsk> read_put(const Request& request);

  // What each client may do by itself: visit(SessionId, StoreGuard&).
  template <typename Visit>
  void for_each_client(const Visit& visit) {
    for (auto& [session, peer] : peers_) {
      visit(session, *peer.guard);
    }
  }

  // These bytes of the pool may be READ for good, whatever comes to lie there.
  void keep_readable(Offset begin, std::uint64_t size_bytes) { readable_->add(begin, size_bytes); }

  // Everything in the log is decided when it is appended: headers are all that marks speak of.
  Task<void> move_marks();
  Task<Status> persistent(Ticket ticket) { return await_persistent(host_, ticket); }

  const Host& host() const { return host_; }
  const ServerOptions& options() const { return options_; }
  rpc::Server& rpc_server() { return *rpc_; }
  Flows& flows() { return flows_; }

 private:
  struct Peer {
    std::unique_ptr<StoreGuard> guard;           // outlives the region
    std::unique_ptr<fabric::MemoryRegion> pool;  // from its first block on; or else:
    std::unique_ptr<SegmentKeys> segments;
    std::unique_ptr<fabric::MemoryRegion> index;
    std::vector<std::unique_ptr<fabric::MemoryRegion>> old;  // which it may still READ
    std::uint64_t generation = 0;                            // of `index`
  };

  rpc::Reply handle(const rpc::Session& session, std::uint32_t call, rpc::Kind kind,
                    ConstBytes request, Bytes body) override;
  Status joined(const rpc::Session& session) override;
  bool client_left(const rpc::Session& session) override;
  Status share_log(const rpc::Session& session, Peer& peer);
  rpc::Reply list_segments(const Request& request);
  Status share_index_with(const rpc::Session& session, Peer& peer);
  PlainLayout layout(const Peer& peer);

  const Host host_;
  const Offset first_block_;  // of the pool
  const ServerOptions options_;
  std::optional<ReadableSpace> readable_;
  std::map<rpc::SessionId, Peer> peers_;
  std::unique_ptr<rpc::Server> rpc_;
  std::uint64_t shared_generation_ = 0;
  Flows flows_;
  Flows mark_flows_;  // they never end, and are no work that is under way
};

}  // namespace remora::kv
