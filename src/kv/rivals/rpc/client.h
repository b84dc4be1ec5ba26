// RpcClient: the client half of RPC; see engine.h.
#pragma once

#include "kv/common/plain_client.h"
#include "kv/rivals/rpc/messages.h"

namespace remora::kv::rpc_store {

class RpcClient final : public PlainClient {
 public:
  RpcClient(std::unique_ptr<rpc::Caller> caller, std::unique_ptr<Buffers> buffers,
            const PlainLayout& layout, const ClientOptions& options)
      : PlainClient(std::move(caller), std::move(buffers), layout, options),
        stage_free_(host().runtime(), 1) {}

  Task<Status> put(ConstBytes key, ConstBytes value, PutOptions options) override;
  Task<Result<std::size_t>> get(ConstBytes key, Bytes value) override;

 private:
  Task<Status> put_staged(ConstBytes key, ConstBytes value);
  Task<Status> make_room(rpc::CallSlot& slot, std::size_t size_bytes);

  Semaphore stage_free_;  // one value at a time
  StageReply stage_;
};

}  // namespace remora::kv::rpc_store
