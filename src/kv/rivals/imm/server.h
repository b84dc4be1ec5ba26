// ImmServer: the server half of WRITE with IMM; see engine.h.
#pragma once

#include <map>

#include "kv/common/inventory_server.h"

namespace remora::kv::imm {

class ImmServer final : public InventoryServer {
 public:
  static Result<std::unique_ptr<StoreServer>> start(const Host& host, Pool& pool,
                                                    const ServerOptions& options);

 private:
  using InventoryServer::InventoryServer;

  rpc::Reply put(const Request& request) override;
  rpc::Reply written(const rpc::Session& session, std::uint32_t call, Bytes body) override;
  rpc::Reply persist(const Request& request) override { return nonsense(request); }
  void gone(rpc::SessionId session) override { granted_.erase(session); }

  // What a client was granted and has not written yet, by the slot of its calls: as many as it may
  // have calls in flight.
  std::map<rpc::SessionId, std::map<std::uint32_t, Offset>> granted_;
};

}  // namespace remora::kv::imm
