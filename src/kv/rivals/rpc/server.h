// RpcServer: the server half of RPC; see engine.h.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "kv/common/inventory_server.h"
#include "kv/rivals/rpc/messages.h"

namespace remora::kv::rpc_store {

class RpcServer final : public InventoryServer {
 public:
  static Result<std::unique_ptr<StoreServer>> start(const Host& host, Pool& pool,
                                                    const ServerOptions& options);

 private:
  using InventoryServer::InventoryServer;

  // Where a client writes a value that does not fit a message.
  struct Stage {
    std::vector<std::byte> bytes;
    std::unique_ptr<fabric::MemoryRegion> region;
  };

  rpc::Reply put(const Request& request) override;
  rpc::Reply get(const Request& request) override;
  rpc::Reply persist(const Request& request) override { return nonsense(request); }
  rpc::Reply other(const Request& request, rpc::Kind kind) override;
  void gone(rpc::SessionId session) override { stages_.erase(session); }
  // Clients do not READ the index.
  IndexPlace index_place() const override { return {}; }

  std::map<rpc::SessionId, Stage> stages_;
};

}  // namespace remora::kv::rpc_store
