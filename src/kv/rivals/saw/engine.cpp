#include "kv/rivals/saw/engine.h"

#include "kv/common/plain_engine.h"
#include "kv/rivals/saw/client.h"
#include "kv/rivals/saw/faults.h"
#include "kv/rivals/saw/server.h"
#include "kv/store_descriptor.h"

namespace remora::kv::saw {
namespace {

constexpr auto sources = sources_of_store("src/kv/rivals/saw/");

constexpr Descriptor described = {
    .name = "saw",
    .about = "client-active, SEND after WRITE: persistent before metadata",
    .unsummed =
        "values, which are served as the pool has them; links between versions, padding and free "
        "space",
    .paper = "Douglas, SDC 2015",
    .section = "eFactory, 5.3.1",
    .is_rival = true,
    .faults = faults::all,
    .sources = sources,
    .counters = counters_of_rivals};

}  // namespace

const Engine& engine() {
  static const PlainEngine<SawServer, SawClient> engine(described, promise_persistent);
  return engine;
}

}  // namespace remora::kv::saw
