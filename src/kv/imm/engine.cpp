#include "kv/imm/engine.h"

#include "kv/common/plain_engine.h"
#include "kv/imm/client.h"
#include "kv/imm/faults.h"
#include "kv/imm/server.h"

namespace remora::kv::imm {

const Engine& engine() {
  static const PlainEngine<ImmServer, ImmClient> engine(
      "imm", "client-active, WRITE with IMM: persistent before metadata", promise_persistent,
      faults::all);
  return engine;
}

}  // namespace remora::kv::imm
