// InventoryServer: a PlainServer on an Inventory. Get, del and scan are answered here; what an
// engine does with a put is its own, but for the step that rpc, saw and imm share:
//
//   commit   the value is persistent; then the flag is set, and is persistent; then the index leads
//            to the version, and the put is acknowledged. So no reader and no recovery finds a
//            version whose value is not persistent, and nothing has to be verified.
//
// On media where a ticket takes its time (an ordinary file) these are two commits one after the
// other: the request waits for them in a flow, and others go on.
#pragma once

#include <memory>

#include "kv/common/inventory.h"
#include "kv/common/plain_server.h"

namespace remora::kv {

// An engine's planted mistakes in its commit.
struct CommitFaults {
  const Fault& flag_before_value;
  const Fault& flag_not_persisted;
  const Fault& acknowledged_early;
};

class InventoryServer : public PlainServer {
 public:
  std::vector<Counter> counters() const override;

 protected:
  InventoryServer(const Host& host, Pool& pool, const ServerOptions& options,
                  std::unique_ptr<Inventory> inventory)
      : PlainServer(host, pool, options), inventory_(std::move(inventory)) {}

  rpc::Reply get(const Request& request) override;
  rpc::Reply del(const Request& request) override;
  rpc::Reply scan(const Request& request) override;
  // Clients READ the index.
  IndexPlace index_place() const override {
    return {inventory_->generation(), inventory_->index().geometry(), inventory_->index().memory(),
            inventory_->index_region()};
  }

  // The value was flushed, or copied, by this host before.
  rpc::Reply commit(const Request& request, const Object& object, const CommitFaults& faults);
  void publish(const Object& object) {
    inventory_->publish(object);
    share_index();
  }

  Inventory& inventory() { return *inventory_; }
  Log& log() override { return inventory_->log(); }

 private:
  Task<void> commit_later(rpc::SessionId session, std::uint32_t call, Object object, Ticket value);

  std::unique_ptr<Inventory> inventory_;
};

}  // namespace remora::kv
