#include "kv/rivals/rpc/engine.h"

#include "kv/common/plain_engine.h"
#include "kv/rivals/rpc/client.h"
#include "kv/rivals/rpc/faults.h"
#include "kv/rivals/rpc/messages.h"
#include "kv/rivals/rpc/server.h"
#include "kv/store_descriptor.h"

namespace remora::kv::rpc_store {
namespace {

constexpr auto sources = sources_of_store("src/kv/rivals/rpc/");

constexpr Descriptor described = {
    .name = "rpc",
    .about = "the server handles everything: copies, persists, updates",
    .unsummed =
        "values, which are served as the pool has them; links between versions, padding and free "
        "space",
    .paper = "eFactory (Du et al., ICPP 2021)",
    .section = "eFactory, 3",
    .is_rival = true,
    .faults = faults::all,
    .sources = sources,
    .counters = counters_of_rivals};

}  // namespace

const Engine& engine() {
  static const PlainEngine<RpcServer, RpcClient> engine(
      described, promise_persistent, {.request_bytes = request_bytes, .reply_bytes = reply_bytes});
  return engine;
}

}  // namespace remora::kv::rpc_store
