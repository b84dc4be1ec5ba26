#include "kv/rivals/rpc/server.h"

#include <bit>
#include <cstring>

#include "kv/common/wire.h"
#include "kv/rivals/rpc/faults.h"

namespace remora::kv::rpc_store {

Result<std::unique_ptr<StoreServer>> RpcServer::start(const Host& host, Pool& pool,
                                                      const ServerOptions& options) {
  REMORA_TRY_RESULT(inventory, Inventory::start(host, pool, options, "rpc", faults::of_inventory));
  std::unique_ptr<RpcServer> server(
      new RpcServer(host, pool, options, std::move(inventory).value()));
  REMORA_TRY(server->listen({.request_bytes = request_bytes, .reply_bytes = reply_bytes}));
  return std::unique_ptr<StoreServer>(std::move(server));
}

// The value is behind the key, or in the staging area: the request came after the WRITE, so it is
// visible there.
rpc::Reply RpcServer::put(const Request& request) {
  const Result<PutAsk> ask = read_put(request);
  if (!ask.ok()) {
    return failure(request, ask.status());
  }
  ConstBytes source = request.bytes.subspan(sizeof(PutRequest) + ask->key.size());
  if (ask->head.value_bytes > inline_bytes) {
    source = stages_[request.session.id].bytes;
  }
  if (source.size() < ask->head.value_bytes) {
    return nonsense(request);
  }
  const ConstBytes value = source.first(ask->head.value_bytes);

  const Result<Object> object = inventory().append(ask->key, ask->head.value_bytes);
  if (!object.ok()) {
    return failure(request, object.status());
  }
  if (host().faults().planted(faults::value_not_persisted)) {
    std::memcpy(object->value().data(), value.data(), value.size());
  } else if (!value.empty()) {
    host().copy(object->value().data(), value);
  }
  return commit(request, *object, faults::of_commit);
}

rpc::Reply RpcServer::get(const Request& request) {
  const std::optional<Object> object = inventory().find(request.bytes);
  if (!object) {
    return reply(request, ValueReply{}, inventory().last_del());
  }
  const ConstBytes value = object->value();
  const ValueReply head{{object->offset(), object->size_bytes(), object->sequence()}, value.size()};
  rpc::Reply answer = reply(request, head);
  if (!value.empty() && value.size() <= inline_bytes) {
    host().charge_copy(value.size());
    std::memcpy(request.body.data() + sizeof head, value.data(), value.size());
    answer.size_bytes += static_cast<std::uint32_t>(value.size());
  }
  return answer;
}

rpc::Reply RpcServer::other(const Request& request, rpc::Kind kind) {
  const std::optional<StageRequest> ask = read_struct<StageRequest>(request.bytes);
  if (kind != stage_request || !ask || ask->size_bytes > limits::value_bytes) {
    return nonsense(request);
  }
  Stage& stage = stages_[request.session.id];
  stage.region.reset();
  stage.bytes.resize(std::bit_ceil(std::max<std::uint64_t>(ask->size_bytes, page_bytes)));
  Result<std::unique_ptr<fabric::MemoryRegion>> region = request.session.domain->register_memory(
      stage.bytes, fabric::local_write | fabric::remote_write);
  if (!region.ok()) {
    return failure(request, region.status());
  }
  stage.region = std::move(region).value();
  return reply(request, StageReply{stage.region->remote(0), stage.bytes.size()});
}

}  // namespace remora::kv::rpc_store
