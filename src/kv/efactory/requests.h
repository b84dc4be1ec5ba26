// Requests: what clients ask, one handler for each message. Handlers do not wait: a reply has the
// ticket of what must be persistent before it leaves.
//
// One thread, the loop's. What it is handed outlives it.
#pragma once

#include <cstdint>
#include <string_view>

#include "kv/efactory/catalogue.h"
#include "kv/efactory/cleaner.h"
#include "kv/efactory/gathered.h"
#include "kv/efactory/local_store.h"
#include "kv/efactory/messages.h"
#include "kv/efactory/peers.h"
#include "kv/efactory/rounds.h"
#include "kv/efactory/snapshots.h"
#include "kv/efactory/upkeep.h"
#include "kv/efactory/verifier.h"
#include "rpc/server.h"

namespace remora::kv::efactory {

// The parts of the server that requests use.
struct RequestParts {
  Catalogue& catalogue;
  Peers& peers;
  Rounds& rounds;
  Snapshots& snapshots;
  Verifier& verifier;
  Cleaner& cleaner;
  Upkeep& upkeep;
  EfactoryLocal& local;
};

class Requests final : public rpc::Service {
 public:
  Requests(const RequestParts& parts, const ServerOptions& options);

  rpc::Reply handle(const rpc::Session& session, std::uint32_t call, rpc::Kind kind,
                    ConstBytes request, Bytes body) override;
  Status joined(const rpc::Session& session) override;
  bool client_left(const rpc::Session& session) override;

  std::uint64_t puts() const { return puts_; }
  std::uint64_t gets() const { return gets_; }
  std::uint64_t dels() const { return dels_; }

 private:
  // Puts.
  rpc::Reply put(const rpc::Session& session, ConstBytes request, Bytes body);
  // Why the client may not have so much on its way now, or success.
  Status check_quota(const Peer& peer, std::uint64_t size_bytes);
  rpc::Reply put_whole(ConstBytes request, Bytes body, Durability durability);
  Result<Ticket> put_standard(ConstBytes key, ConstBytes value);
  Result<Ticket> put_persistent(ConstBytes key, ConstBytes value);
  rpc::Reply persist(const rpc::Session& session, ConstBytes request, Bytes body);
  rpc::Reply del(ConstBytes key, Bytes body);
  // Several keys at once (requests_together.cpp).
  rpc::Reply gather(const rpc::Session& session, ConstBytes request, Bytes body,
                    Durability durability);
  rpc::Reply write_together(ConstBytes packed, Bytes body, Durability durability);
  bool holds_so_far(ConstBytes part);
  // A put or del that failed; one that found no space is to try again if that may help.
  rpc::Reply failed(const Status& status, Bytes body);
  rpc::Reply full(Bytes body);

  // All others.
  rpc::Reply hello_to(const rpc::Session& session, Bytes body);
  rpc::Reply get(ConstBytes key, Bytes body, bool whole, bool checked);
  rpc::Reply scan(ConstBytes request, Bytes body);
  rpc::Reply list_segments(const rpc::Session& session, ConstBytes request, Bytes body);
  rpc::Reply answer_snapshot(const rpc::Session& session, ConstBytes request, Bytes body);
  rpc::Reply arrive(const rpc::Session& session, ConstBytes request, Bytes body);
  void end_snapshot_of(rpc::SessionId session);

  Catalogue& catalogue_;
  const Host& host_;
  Peers& peers_;
  Rounds& rounds_;
  Snapshots& snapshots_;
  Verifier& verifier_;
  Cleaner& cleaner_;
  Upkeep& upkeep_;
  EfactoryLocal& local_;
  const ServerOptions options_;
  Gathered gathered_;
  bool judged_ = true;  // for a planted mistake: what conditions said when the first part came
  std::uint64_t puts_ = 0;
  std::uint64_t gets_ = 0;
  std::uint64_t dels_ = 0;
};

}  // namespace remora::kv::efactory
