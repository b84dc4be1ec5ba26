#include "kv/common/inventory_server.h"

#include "kv/common/wire.h"

namespace remora::kv {

rpc::Reply InventoryServer::get(const Request& request) {
  const std::optional<Object> object = inventory_->find(request.bytes);
  if (!object) {
    return reply(request, GetReply{.generation = inventory_->generation()}, inventory_->last_del());
  }
  return reply(request, GetReply{object->offset(), object->size_bytes(), object->sequence(),
                                 inventory_->generation()});
}

rpc::Reply InventoryServer::del(const Request& request) {
  const Result<Ticket> ticket = inventory_->del(request.bytes);
  return ticket.ok() ? rpc::Reply{.ticket = *ticket} : failure(request, ticket.status());
}

rpc::Reply InventoryServer::scan(const Request& request) {
  const std::optional<ScanRequest> ask = read_struct<ScanRequest>(request.bytes);
  if (!ask) {
    return nonsense(request);
  }
  return {.size_bytes = static_cast<std::uint32_t>(inventory_->scan(*ask, request.body))};
}

rpc::Reply InventoryServer::commit(const Request& request, const Object& object,
                                   const CommitFaults& faults) {
  const Faults& planted = host().faults();
  close_grant(request, object.offset());
  if (planted.planted(faults.acknowledged_early)) {
    inventory_->log().set_durable(object);
    publish(object);
    return {};
  }
  if (planted.planted(faults.flag_before_value)) {
    inventory_->log().set_durable(object);
    const Ticket both = host().drain();
    publish(object);
    return {.ticket = both};
  }
  const Ticket value = host().drain();
  if (!host().region().persistent(value)) {
    flows().keep(commit_later(request.session.id, request.call, object, value));
    return {.later = true};
  }
  inventory_->log().set_durable(object);
  const Ticket flag = planted.planted(faults.flag_not_persisted) ? Ticket{} : host().drain();
  publish(object);
  return {.ticket = flag};
}

Task<void> InventoryServer::commit_later(rpc::SessionId session, std::uint32_t call, Object object,
                                         Ticket value) {
  Status status = co_await persistent(value);
  if (status.ok()) {
    inventory_->log().set_durable(object);
    status = co_await persistent(host().drain());
  }
  if (!status.ok()) {
    rpc_server().answer(session, call, {.code = status.code()},
                        std::as_bytes(std::span(status.message())));
    co_return;
  }
  publish(object);
  rpc_server().answer(session, call, {}, std::as_bytes(std::span("", 0)));
}

std::vector<StoreServer::Counter> InventoryServer::counters() const {
  const LogUsage usage = inventory_->log().usage();
  return {{"keys", inventory_->index().size()},
          {"log_bytes_in_use", usage.segment_bytes},
          {"log_bytes_total", usage.total_bytes},
          {"index_generation", inventory_->generation()}};
}

}  // namespace remora::kv
