#include "kv/rivals/imm/engine.h"

#include "kv/common/plain_engine.h"
#include "kv/rivals/imm/client.h"
#include "kv/rivals/imm/faults.h"
#include "kv/rivals/imm/server.h"
#include "kv/store_descriptor.h"

namespace remora::kv::imm {
namespace {

constexpr auto sources = sources_of_store("src/kv/rivals/imm/");

constexpr Descriptor described = {
    .name = "imm",
    .about = "client-active, WRITE with IMM: persistent before metadata",
    .unsummed =
        "values, which are served as the pool has them; links between versions, padding and free "
        "space",
    .paper = "Orion (Yang et al., FAST 2019)",
    .section = "eFactory, 5.3.2",
    .is_rival = true,
    .faults = faults::all,
    .sources = sources,
    .counters = counters_of_rivals};

}  // namespace

const Engine& engine() {
  static const PlainEngine<ImmServer, ImmClient> engine(described, promise_persistent);
  return engine;
}

}  // namespace remora::kv::imm
