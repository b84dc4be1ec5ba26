#include "kv/rivals/saw/server.h"

#include "kv/common/wire.h"
#include "kv/rivals/saw/faults.h"

namespace remora::kv::saw {

Result<std::unique_ptr<StoreServer>> SawServer::start(const Host& host, Pool& pool,
                                                      const ServerOptions& options) {
  REMORA_TRY_RESULT(inventory, Inventory::start(host, pool, options, "saw", faults::of_inventory));
  std::unique_ptr<SawServer> server(
      new SawServer(host, pool, options, std::move(inventory).value()));
  REMORA_TRY(server->listen());
  return std::unique_ptr<StoreServer>(std::move(server));
}

// Space and nothing else: nobody is led to it yet.
rpc::Reply SawServer::put(const Request& request) {
  const Result<PutAsk> ask = read_put(request);
  if (!ask.ok()) {
    return failure(request, ask.status());
  }
  const Result<Object> object = inventory().append(ask->key, ask->head.value_bytes);
  if (!object.ok()) {
    return failure(request, object.status());
  }
  if (host().faults().planted(faults::index_first)) {
    publish(*object);
  }
  return grant(request, *object);
}

// The SEND came after the WRITE, so the value is visible here.
rpc::Reply SawServer::persist(const Request& request) {
  const std::optional<PersistRequest> ask = read_struct<PersistRequest>(request.bytes);
  if (!ask) {
    return nonsense(request);
  }
  const Result<Object> object = inventory().find(ask->object_offset, ask->sequence);
  if (!object.ok()) {
    return failure(request, object.status());
  }
  if (!host().faults().planted(faults::value_not_persisted)) {
    host().flush(object->value());
  }
  return commit(request, *object, faults::of_commit);
}

}  // namespace remora::kv::saw
