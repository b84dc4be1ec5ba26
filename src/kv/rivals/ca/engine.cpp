#include "kv/rivals/ca/engine.h"

#include "kv/common/plain_engine.h"
#include "kv/rivals/ca/client.h"
#include "kv/rivals/ca/faults.h"
#include "kv/rivals/ca/server.h"
#include "kv/store_descriptor.h"

namespace remora::kv::ca {
namespace {

constexpr auto sources = sources_of_store("src/kv/rivals/ca/");

constexpr Descriptor described = {
    .name = "ca",
    .about = "client-active without persistence: metadata before data",
    .caveat =
        "nothing is verified: gets, and the store after a kill or a power cut, may return a value "
        "that is torn or was never written, even in place of one that was persistent",
    .unsummed =
        "values, which are served as the pool has them; links between versions, padding and free "
        "space",
    .paper = "eFactory (Du et al., ICPP 2021)",
    .section = "eFactory, 1",
    .is_rival = true,
    .faults = faults::all,
    .sources = sources,
    .counters = counters_of_rivals};

}  // namespace

const Engine& engine() {
  static const PlainEngine<CaServer, CaClient> engine(described, promise_visible);
  return engine;
}

}  // namespace remora::kv::ca
