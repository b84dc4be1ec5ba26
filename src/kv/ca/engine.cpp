#include "kv/ca/engine.h"

#include "kv/ca/client.h"
#include "kv/ca/faults.h"
#include "kv/ca/server.h"
#include "kv/common/plain_engine.h"

namespace remora::kv::ca {

const Engine& engine() {
  static const PlainEngine<CaServer, CaClient> engine(
      "ca", "client-active without persistence: metadata before data", promise_visible, faults::all,
      {},
      "nothing is verified: gets, and the store after a kill or a power cut, may return a value "
      "that is torn or was never written, even in place of one that was persistent");
  return engine;
}

}  // namespace remora::kv::ca
