#include "kv/rivals/efactory_published/server.h"

#include <vector>

#include "kv/common/scan.h"
#include "kv/common/values.h"
#include "kv/common/wire.h"
#include "kv/rivals/efactory_published/messages.h"

namespace remora::kv::efactory_published {
namespace {

constexpr std::uint64_t tell_again_ns = 1'000;

}  // namespace

PublishedServer::PublishedServer(const Host& host, Pool& pool, const ServerOptions& options,
                                 std::unique_ptr<Versions> versions)
    : PlainServer(host, pool, options),
      versions_(std::move(versions)),
      verifier_(*versions_, host.background(), options.put_timeout_ns),
      cleaner_(*versions_, verifier_, host.background(), options,
               {.tell = [this](std::uint64_t phase) { return tell(phase); },
                .pool_changes = [this] { note_grants(); },
                .pool_goes = [this](const std::vector<Segment>& old) { leave(old); }}) {}

PublishedServer::~PublishedServer() {
  background_.abandon();
}

// Requests that wait are taken together: the paper's multiple receiving regions.
Result<std::unique_ptr<StoreServer>> PublishedServer::start(const Host& host, Pool& pool,
                                                            const ServerOptions& options) {
  REMORA_TRY_RESULT(versions, options.create ? Versions::create(host, pool, options)
                                             : Versions::recover(host, pool, options));
  std::unique_ptr<PublishedServer> server(
      new PublishedServer(host, pool, options, std::move(versions).value()));
  REMORA_TRY(server->listen({}, rpc::ServerOptions().batch));
  server->background_.keep(server->verifier_.verify());
  server->background_.keep(server->cleaner_.keep_up());
  return std::unique_ptr<StoreServer>(std::move(server));
}

PlainServer::IndexPlace PublishedServer::index_place() const {
  const HopscotchTable& table = versions_->table();
  return {.generation = table.generation(),
          .geometry = table.geometry(),
          .offset = table.buckets_offset(),
          .size_bytes = std::as_bytes(table.all()).size()};
}

// --- Requests ---

rpc::Reply PublishedServer::put(const Request& request) {
  const Result<PutAsk> ask = read_put(request);
  if (!ask.ok()) {
    return failure(request, ask.status());
  }
  const Result<Object> object =
      versions_->put(ask->key, ask->head.value_bytes, ask->head.client_sum);
  if (!object.ok()) {
    const bool is_full = object.status().code() == Code::no_space;
    return is_full && cleaner_.press() ? rpc::Reply::failure(request.body, Code::in_use,
                                                             "space is being cleaned; try again")
                                       : failure(request, object.status());
  }
  const Ticket ticket = host().drain();
  verifier_.expect(*object);
  cleaner_.took(object->size_bytes());
  rpc::Reply granted = grant(request, *object);
  granted.ticket = ticket;
  return granted;
}

rpc::Reply PublishedServer::get(const Request& request) {
  const Versions::Found found = versions_->get(request.bytes);
  GetReply answer{.generation = versions_->table().generation()};
  if (found.object) {
    answer.object_offset = found.object->offset();
    answer.size_bytes = found.object->size_bytes();
    answer.sequence = found.object->sequence();
  }
  return reply(request, answer, found.ticket);
}

rpc::Reply PublishedServer::del(const Request& request) {
  cleaner_.deleted();
  return {.ticket = versions_->del(request.bytes)};
}

rpc::Reply PublishedServer::persist(const Request& request) {
  const std::optional<PersistRequest> ask = read_struct<PersistRequest>(request.bytes);
  if (!ask) {
    return nonsense(request);
  }
  const Result<Object> object = versions_->log().find(ask->object_offset);
  const bool is_there = object.ok() && object->sequence() == ask->sequence;
  if (is_there && !object->invalid()) {
    return persist_if_intact(request, faults::persist_not_flushed);
  }
  return versions_->has_left(ask->object_offset, ask->sequence)
             ? rpc::Reply{}
             : rpc::Reply::failure(request.body, Code::timed_out,
                                   "the value came too late, or was cleaned away since");
}

rpc::Reply PublishedServer::scan(const Request& request) {
  const std::optional<ScanRequest> ask = read_struct<ScanRequest>(request.bytes);
  if (!ask) {
    return nonsense(request);
  }
  const std::size_t size = pack_scan(*ask, request.body, [this](Tag from, const auto& visit) {
    return versions_->table().scan(
        from, [&](const Bucket& bucket) { visit(bucket.tag, versions_->newest(bucket).key()); });
  });
  return {.size_bytes = static_cast<std::uint32_t>(size)};
}

// --- What a cleaning asks ---

// A client to whom too many notices are on their way hears of it a little later.
Task<void> PublishedServer::tell(std::uint64_t phase) {
  std::vector<rpc::SessionId> untold;
  rpc_server().for_each([&](const rpc::Session& session) { untold.push_back(session.id); });
  const std::uint64_t give_up_ns = host().runtime().after(options().client_timeout_ns);
  for (;;) {
    std::erase_if(untold, [&](rpc::SessionId session) {
      return rpc_server().notify(session, new_phase, object_bytes(phase)).code() != Code::no_space;
    });
    if (untold.empty()) {
      co_return;
    }
    if (host().now_ns() > give_up_ns) {
      for (const rpc::SessionId session : untold) {
        rpc_server().disconnect(session);
      }
      co_return;
    }
    co_await host().runtime().sleep_for(tell_again_ns);
  }
}

void PublishedServer::note_grants() {
  first_of_new_pool_.clear();
  for_each_client([this](rpc::SessionId session, StoreGuard& guard) {
    first_of_new_pool_[session] = guard.grants().next_number();
  });
}

// A client that came since then was granted nothing in the old pool. Who READs there later finds
// whatever is there then.
void PublishedServer::leave(const std::vector<Segment>& old) {
  for (const Segment& segment : old) {
    keep_readable(segment.offset, segment.capacity_bytes);
  }
  for_each_client([this](rpc::SessionId session, StoreGuard& guard) {
    if (const auto first = first_of_new_pool_.find(session); first != first_of_new_pool_.end()) {
      guard.grants().drop_before(first->second);
    }
  });
}

std::vector<StoreServer::Counter> PublishedServer::counters() const {
  const LogUsage usage = versions_->log().usage();
  return {{"keys", versions_->table().size()},
          {"log_bytes_in_use", usage.segment_bytes},
          {"log_bytes_total", usage.total_bytes},
          {"index_generation", versions_->table().generation()},
          {"awaited_versions", verifier_.awaited()},
          {"verified_versions", verifier_.verified()},
          {"invalidated_versions", verifier_.invalidated()},
          {"cleanings", cleaner_.cleanings()},
          {"moved_versions", cleaner_.moved()}};
}

}  // namespace remora::kv::efactory_published
