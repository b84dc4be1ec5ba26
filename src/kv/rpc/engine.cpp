#include "kv/rpc/engine.h"

#include "kv/common/plain_engine.h"
#include "kv/rpc/client.h"
#include "kv/rpc/faults.h"
#include "kv/rpc/messages.h"
#include "kv/rpc/server.h"

namespace remora::kv::rpc_store {

const Engine& engine() {
  static const PlainEngine<RpcServer, RpcClient> engine(
      "rpc", "the server handles everything: copies, persists, updates", promise_persistent,
      faults::all, {.request_bytes = request_bytes, .reply_bytes = reply_bytes});
  return engine;
}

}  // namespace remora::kv::rpc_store
