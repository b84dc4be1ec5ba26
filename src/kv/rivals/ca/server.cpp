#include "kv/rivals/ca/server.h"

#include "kv/common/wire.h"
#include "kv/rivals/ca/faults.h"

namespace remora::kv::ca {

Result<std::unique_ptr<StoreServer>> CaServer::start(const Host& host, Pool& pool,
                                                     const ServerOptions& options) {
  REMORA_TRY_RESULT(inventory, Inventory::start(host, pool, options, "ca", faults::of_inventory));
  std::unique_ptr<CaServer> server(new CaServer(host, pool, options, std::move(inventory).value()));
  REMORA_TRY(server->listen());
  return std::unique_ptr<StoreServer>(std::move(server));
}

// Metadata before data: everyone is led to a value that has not come.
rpc::Reply CaServer::put(const Request& request) {
  const Result<PutAsk> ask = read_put(request);
  if (!ask.ok()) {
    return failure(request, ask.status());
  }
  const Result<Object> object =
      inventory().append(ask->key, ask->head.value_bytes, object_format::durable_flag);
  if (!object.ok()) {
    return failure(request, object.status());
  }
  const bool is_forgotten =
      host().faults().planted(faults::update_forgotten) && inventory().find(ask->key).has_value();
  if (!is_forgotten) {
    publish(*object);
  }
  return grant(request, *object);
}

rpc::Reply CaServer::persist(const Request& request) {
  const std::optional<PersistRequest> ask = read_struct<PersistRequest>(request.bytes);
  if (!ask) {
    return nonsense(request);
  }
  const Result<Object> object = inventory().find(ask->object_offset, ask->sequence);
  if (!object.ok()) {
    return failure(request, object.status());
  }
  if (host().faults().planted(faults::persist_not_flushed)) {
    return {.ticket = host().drain()};
  }
  if (host().faults().planted(faults::persist_not_drained)) {
    host().flush(object->value());
    return {};
  }
  return {.ticket = host().persist(object->value())};
}

}  // namespace remora::kv::ca
