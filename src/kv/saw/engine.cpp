#include "kv/saw/engine.h"

#include "kv/common/plain_engine.h"
#include "kv/saw/client.h"
#include "kv/saw/faults.h"
#include "kv/saw/server.h"

namespace remora::kv::saw {

const Engine& engine() {
  static const PlainEngine<SawServer, SawClient> engine(
      "saw", "client-active, SEND after WRITE: persistent before metadata", promise_persistent,
      faults::all);
  return engine;
}

}  // namespace remora::kv::saw
