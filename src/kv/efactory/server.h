// EfactoryServer: the server half, put together from its parts.
//
//   Requests   what clients ask
//   Peers      what each client reaches by itself
//   Rounds     clients are told of a new layout, and awaited
//   Verifier   makes durable what clients have written
//   Cleaner    cleans the log; CleaningPolicy says when and what, CleaningRoom what puts may take
//   Upkeep     growth, cleaning and rounds, one after the other
//   Growth     the pool becomes larger
//   Marks      how far the log is known to be persistent
//   Scrubber   looks for damage
//   Expirer    deletes keys whose time has come
//   Snapshots  what a client READs that copies the store
//
// All work on one Catalogue, on the loop's thread. A part knows those that it is handed, which come
// before it; the local store alone asks back (Surroundings).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "host/committer.h"
#include "kv/efactory/catalogue.h"
#include "kv/efactory/cleaner.h"
#include "kv/efactory/engine_options.h"
#include "kv/efactory/expirer.h"
#include "kv/efactory/growth.h"
#include "kv/efactory/local_store.h"
#include "kv/efactory/marks.h"
#include "kv/efactory/peers.h"
#include "kv/efactory/requests.h"
#include "kv/efactory/rounds.h"
#include "kv/efactory/scrubber.h"
#include "kv/efactory/snapshots.h"
#include "kv/efactory/upkeep.h"
#include "kv/efactory/verifier.h"
#include "kv/store.h"
#include "rpc/server.h"
#include "runtime/flows.h"

namespace remora::kv::efactory {

class EfactoryServer final : public StoreServer, private Surroundings {
 public:
  static Result<std::unique_ptr<StoreServer>> start(const Host& host, Pool& pool,
                                                    const ServerOptions& options,
                                                    const EngineOptions& engine);
  ~EfactoryServer() override;

  using StoreServer::accept;
  Result<PeerAddress> accept(const PeerAddress& client, Rights rights) override;
  std::size_t clients() const override { return rpc_->clients(); }
  LocalStore* local() override { return &local_; }
  bool busy() const override {
    return verifier_.busy() || upkeep_.busy() || growth_.busy() || local_.busy();
  }
  Status finish() override { return marks_.finish(); }
  Status changeable() const override { return catalogue_->log().changeable(); }
  Status scrub() override;
  bool grows() const override { return true; }
  Task<Status> grow(std::uint64_t pool_bytes) override { return growth_.grow(pool_bytes); }
  std::vector<Counter> counters() const override;
  std::uint64_t failed_requests() const override { return rpc_->failures(); }
  const Histogram* durability_latency() const override { return &verifier_.durability(); }

 private:
  EfactoryServer(std::unique_ptr<Catalogue> catalogue, const ServerOptions& options,
                 const EngineOptions& engine);
  Status open(const Host& host, const ServerOptions& options);
  std::uint64_t durability_lag_ns() const;

  // For the local store.
  bool admits(std::uint64_t size_bytes) const override { return cleaner_.admits(size_bytes); }
  void changed(std::uint64_t size_bytes, bool expires) override;
  void flushed() override { verifier_.wake_flagger(); }
  void persisted_after(std::uint64_t waited_ns) override { verifier_.note_durability(waited_ns); }
  Task<Status> room() override { return upkeep_.room(); }
  bool may_clear() override { return upkeep_.may_clear(); }
  void cleared(Catalogue::Table old) override { upkeep_.cleared(std::move(old)); }
  std::uint64_t expired_keys() const override { return expirer_.expired(); }

  // A part outlives those that are handed it.
  std::unique_ptr<Catalogue> catalogue_;
  Committer commits_;
  Peers peers_;
  EfactoryLocal local_;
  Rounds rounds_;
  Snapshots snapshots_;
  Verifier verifier_;
  Cleaner cleaner_;
  Upkeep upkeep_;
  Growth growth_;
  Marks marks_;
  Scrubber scrubber_;
  Expirer expirer_;
  Requests requests_;
  std::unique_ptr<rpc::Server> rpc_;
  Flows flows_;
};

}  // namespace remora::kv::efactory
