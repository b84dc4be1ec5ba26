#include "kv/rivals/erda/server.h"

#include "kv/common/scan.h"
#include "kv/common/values.h"
#include "kv/common/wire.h"
#include "kv/rivals/erda/faults.h"
#include "kv/rivals/erda/messages.h"

namespace remora::kv::erda {

Result<std::unique_ptr<StoreServer>> ErdaServer::start(const Host& host, Pool& pool,
                                                       const ServerOptions& options) {
  if (host.region().size() > largest_pool_bytes) {
    return Status(Code::unsupported,
                  "Erda's offsets reach 128 GB; use a smaller pool, or another engine");
  }
  std::unique_ptr<ErdaServer> server(new ErdaServer(host, pool, options));
  if (options.create) {
    REMORA_TRY_RESULT(
        log, Log::create(host, pool, {.engine = "erda", .segment_bytes = options.segment_bytes}));
    server->log_ = std::move(log).value();
    REMORA_TRY_RESULT(
        table, HopscotchTable::create(host, pool, faults::table_kind, options.expected_keys));
    server->table_ = std::move(table).value();
  } else {
    REMORA_TRY(server->recover(pool));
  }
  REMORA_TRY(server->listen());
  return std::unique_ptr<StoreServer>(std::move(server));
}

Bucket* ErdaServer::find(Tag tag, ConstBytes key) const {
  return table_->find(tag, [&](const Bucket& bucket) { return same(newest(bucket).key(), key); });
}

// Space, and the key for whoever looks for it; the index follows at once. One drain is enough for
// header and region: a region that is persistent without its header leads to no object, and the
// version before it counts.
rpc::Reply ErdaServer::put(const Request& request) {
  const Result<PutAsk> ask = read_put(request);
  if (!ask.ok()) {
    return failure(request, ask.status());
  }
  const Tag tag = table_->tag(ask->key);
  Bucket* bucket = find(tag, ask->key);
  const std::uint64_t sequence = sequence_ + 1;
  const Result<Placed> placed =
      log_->append({.key = ask->key,
                    .value_bytes = ask->head.value_bytes + std::uint32_t{sizeof(ObjectHead)},
                    .sequence = sequence});
  if (!placed.ok()) {
    return failure(request, placed.status());
  }
  sequence_ = sequence;
  const std::uint64_t word = bucket != nullptr ? bucket->words[region_word] : 0;
  const std::uint64_t sizes = bucket != nullptr ? bucket->words[sizes_word] : 0;
  const bool in_place = host().faults().planted(faults::region_in_place) && word != 0;
  const std::uint64_t versions =
      in_place ? with_newest(word, newest_of(word), placed->offset) : advance(word, placed->offset);
  const std::uint64_t hints = with_size(sizes, newest_of(versions), placed->size_bytes);
  if (bucket != nullptr) {
    table_->set(*bucket, {versions, hints});
  } else if (Status status = table_->insert(tag, {versions, hints}); !status.ok()) {
    return failure(request, status);
  }
  (void)host().drain();
  return grant(request, log_->at(placed->offset));
}

rpc::Reply ErdaServer::get(const Request& request) {
  const Bucket* bucket = find(table_->tag(request.bytes), request.bytes);
  if (bucket == nullptr) {
    return reply(request, VersionsReply{.generation = table_->generation()}, last_del_);
  }
  return reply(request, VersionsReply{bucket->words[region_word], bucket->words[sizes_word],
                                      table_->generation()});
}

rpc::Reply ErdaServer::del(const Request& request) {
  if (Bucket* bucket = find(table_->tag(request.bytes), request.bytes); bucket != nullptr) {
    table_->erase(*bucket);
    last_del_ = host().drain();
  }
  return {.ticket = last_del_};
}

rpc::Reply ErdaServer::persist(const Request& request) {
  return persist_if_intact(request, faults::persist_not_flushed);
}

rpc::Reply ErdaServer::scan(const Request& request) {
  const std::optional<ScanRequest> ask = read_struct<ScanRequest>(request.bytes);
  if (!ask) {
    return nonsense(request);
  }
  const std::size_t size = pack_scan(*ask, request.body, [this](Tag from, const auto& visit) {
    return table_->scan(from,
                        [&](const Bucket& bucket) { visit(bucket.tag, newest(bucket).key()); });
  });
  return {.size_bytes = static_cast<std::uint32_t>(size)};
}

std::vector<StoreServer::Counter> ErdaServer::counters() const {
  const LogUsage usage = log_->usage();
  return {{"keys", table_->size()},
          {"log_bytes_in_use", usage.segment_bytes},
          {"log_bytes_total", usage.total_bytes},
          {"index_generation", table_->generation()}};
}

}  // namespace remora::kv::erda
