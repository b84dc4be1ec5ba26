// SawServer: the server half of send after write; see engine.h.
#pragma once

#include "kv/common/inventory_server.h"

namespace remora::kv::saw {

class SawServer final : public InventoryServer {
 public:
  static Result<std::unique_ptr<StoreServer>> start(const Host& host, Pool& pool,
                                                    const ServerOptions& options);

 private:
  using InventoryServer::InventoryServer;

  rpc::Reply put(const Request& request) override;
  rpc::Reply persist(const Request& request) override;
};

}  // namespace remora::kv::saw
