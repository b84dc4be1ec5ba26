#include "kv/rivals/imm/server.h"

#include "kv/rivals/imm/faults.h"

namespace remora::kv::imm {

Result<std::unique_ptr<StoreServer>> ImmServer::start(const Host& host, Pool& pool,
                                                      const ServerOptions& options) {
  REMORA_TRY_RESULT(inventory, Inventory::start(host, pool, options, "imm", faults::of_inventory));
  std::unique_ptr<ImmServer> server(
      new ImmServer(host, pool, options, std::move(inventory).value()));
  REMORA_TRY(server->listen());
  return std::unique_ptr<StoreServer>(std::move(server));
}

// Space and nothing else: nobody is led to it yet.
rpc::Reply ImmServer::put(const Request& request) {
  const Result<PutAsk> ask = read_put(request);
  if (!ask.ok()) {
    return failure(request, ask.status());
  }
  const Result<Object> object = inventory().append(ask->key, ask->head.value_bytes);
  if (!object.ok()) {
    return failure(request, object.status());
  }
  granted_[request.session.id][request.call & rpc::slot_mask] = object->offset();
  if (host().faults().planted(faults::index_first)) {
    publish(*object);
  }
  return grant(request, *object);
}

// The value is visible here.
rpc::Reply ImmServer::written(const rpc::Session& session, std::uint32_t call, Bytes body) {
  const Request request{session, call, {}, body};
  std::map<std::uint32_t, Offset>& granted = granted_[session.id];
  const auto grant = granted.find(call & rpc::slot_mask);
  if (grant == granted.end()) {
    return nonsense(request);
  }
  const Object object = inventory().log().at(grant->second);
  granted.erase(grant);
  if (!host().faults().planted(faults::value_not_persisted)) {
    host().flush(object.value());
  }
  return commit(request, object, faults::of_commit);
}

}  // namespace remora::kv::imm
