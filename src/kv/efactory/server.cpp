#include "kv/efactory/server.h"

#include <algorithm>
#include <utility>

namespace remora::kv::efactory {

EfactoryServer::EfactoryServer(std::unique_ptr<Catalogue> catalogue, const ServerOptions& options,
                               const EngineOptions& engine)
    : catalogue_(std::move(catalogue)),
      commits_(catalogue_->background().runtime(), catalogue_->background().region()),
      peers_(catalogue_->host(), *catalogue_, options),
      local_(*catalogue_, *this, commits_, options.local_commit_ns),
      rounds_(*catalogue_, peers_, options, engine),
      snapshots_(*catalogue_),
      verifier_(*catalogue_, commits_, peers_, local_, options.put_timeout_ns,
                engine.verifies_newest),
      cleaner_(*catalogue_, commits_, peers_, rounds_, verifier_, snapshots_, options),
      upkeep_(*catalogue_, commits_, peers_, rounds_, cleaner_, snapshots_),
      growth_(*catalogue_, commits_, peers_, rounds_, upkeep_),
      marks_(*catalogue_, commits_, verifier_, options.mark_every_ns),
      scrubber_(*catalogue_, options.scrub_ns),
      expirer_(*catalogue_, local_),
      requests_({*catalogue_, peers_, rounds_, snapshots_, verifier_, cleaner_, upkeep_, local_},
                options) {
  local_.verify_reads(options.verify_reads, options.verified_bytes);
}

EfactoryServer::~EfactoryServer() {
  flows_.abandon();
}

Result<std::unique_ptr<StoreServer>> EfactoryServer::start(const Host& host, Pool& pool,
                                                           const ServerOptions& options,
                                                           const EngineOptions& engine) {
  REMORA_TRY_RESULT(catalogue, options.create ? Catalogue::create(host, pool, options)
                                              : Catalogue::recover(host, pool, options));
  std::unique_ptr<EfactoryServer> server(
      new EfactoryServer(std::move(catalogue).value(), options, engine));
  REMORA_TRY(server->open(host, options));
  return std::unique_ptr<StoreServer>(std::move(server));
}

Status EfactoryServer::open(const Host& host, const ServerOptions& options) {
  REMORA_TRY_RESULT(
      rpc,
      rpc::Server::create(host, requests_,
                          {.most_clients = options.most_clients,
                           .batch = options.batch != 0 ? options.batch : rpc::ServerOptions().batch,
                           .request_bytes = request_bytes_max,
                           .reply_bytes = reply_bytes_max,
                           .committer = &commits_,
                           .may_stand_still = options.may_stand_still,
                           .connect = options.connect}));
  rpc_ = std::move(rpc).value();
  commits_.join(upkeep_);
  commits_.join(local_);
  rounds_.use(*rpc_);
  upkeep_.use(*rpc_);
  flows_.keep(verifier_.verify());
  flows_.keep(verifier_.flag_flushed());
  flows_.keep(upkeep_.keep_up());
  flows_.keep(upkeep_.stop_readers());
  flows_.keep(scrubber_.scrub());
  flows_.keep(expirer_.forget());
  flows_.keep(local_.commit());
  flows_.keep(marks_.move_always());
  flows_.keep(marks_.verify_recovered());
  return Status();
}

Result<PeerAddress> EfactoryServer::accept(const PeerAddress& client, Rights rights) {
  REMORA_TRY_RESULT(own, rpc_->accept(client.queue_pair, rights == Rights::write));
  return PeerAddress{*own};
}

Status EfactoryServer::scrub() {
  scrubber_.hurry();
  return Status();
}

// --- For the local store ---

void EfactoryServer::changed(std::uint64_t size_bytes, bool expires) {
  cleaner_.took(size_bytes);
  upkeep_.wake();
  if (expires) {
    expirer_.wake();
  }
}

// --- Numbers ---

std::uint64_t EfactoryServer::durability_lag_ns() const {
  const std::uint64_t now_ns = catalogue_->host().now_ns();
  std::uint64_t oldest_ns = now_ns;
  for (const Awaited& version : catalogue_->awaited()) {
    oldest_ns = std::min(oldest_ns, version.received_ns);
  }
  if (local_.waits_since_ns() != 0) {
    oldest_ns = std::min(oldest_ns, local_.waits_since_ns());
  }
  return now_ns - oldest_ns;
}

std::vector<StoreServer::Counter> EfactoryServer::counters() const {
  const LogUsage usage = catalogue_->log().usage();
  const Scrubber::Tally& scrubbed = scrubber_.tally();
  return {{"keys", catalogue_->keys()},
          {"keys_with_expiry", catalogue_->expiring()},
          {"recovered_keys", catalogue_->recovered_keys()},
          {"verified_keys", marks_.verified_keys()},
          {"damaged_keys", catalogue_->damaged().size()},
          {"damaged_headers", catalogue_->unreadable().size()},
          {"index_bytes", catalogue_->index_bytes()},
          {"index_growths", upkeep_.growths()},
          {"index_shrinks", upkeep_.shrinks()},
          {"expired_keys", expirer_.expired()},
          {"put_requests", requests_.puts()},
          {"get_requests", requests_.gets()},
          {"del_requests", requests_.dels()},
          {"durability_lag_ns", durability_lag_ns()},
          {"live_bytes", catalogue_->live_bytes()},
          {"usable_bytes", usable_bytes(catalogue_->log())},
          {"log_bytes_in_use", usage.segment_bytes},
          {"log_bytes_total", usage.total_bytes},
          {"awaited_versions", catalogue_->awaited().size() + local_.waiting()},
          {"verified_versions", verifier_.verified()},
          {"verified_by_worker", verifier_.looked_aside()},
          {"superseded_versions", verifier_.superseded()},
          {"invalidated_versions", verifier_.invalidated()},
          {"cleanings", cleaner_.policy().cleaned()},
          {"cleaned_parts", cleaner_.policy().cleaned_parts()},
          {"moved_versions", cleaner_.moved_versions()},
          {"scrub_passes", scrubbed.passes},
          {"scrub_reached", scrubbed.reached},
          {"scrub_objects", scrubbed.objects},
          {"scrub_last_keys", scrubbed.last_keys},
          {"scrub_last_damaged", scrubbed.last_damaged},
          {"scrub_last_end_ms", scrubbed.last_end_ms},
          {"rounds", rounds_.number()}};
}

}  // namespace remora::kv::efactory
