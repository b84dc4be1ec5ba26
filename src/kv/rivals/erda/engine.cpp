#include "kv/rivals/erda/engine.h"

#include "kv/common/plain_engine.h"
#include "kv/rivals/erda/client.h"
#include "kv/rivals/erda/faults.h"
#include "kv/rivals/erda/server.h"
#include "kv/store_descriptor.h"

namespace remora::kv::erda {
namespace {

constexpr auto sources = sources_of_store("src/kv/rivals/erda/");

constexpr Descriptor described = {
    .name = "erda",
    .about = "two offsets in eight bytes; the reader checks the checksum",
    .caveat =
        "two puts of a key that a kill or a power cut tears take the version before them along, "
        "even "
        "if that was persistent",
    .unsummed =
        "the entries of its table: damage there leads to the version before, or to none; padding "
        "and free space. A value that fails its checksum counts as one that never came",
    .paper = "Erda (Liu et al., arXiv:1906.08173)",
    .section = "eFactory, 5.3.3",
    .is_rival = true,
    .faults = faults::all,
    .sources = sources,
    .counters = counters_of_rivals};

}  // namespace

const Engine& engine() {
  static const PlainEngine<ErdaServer, ErdaClient> engine(described, promise_visible);
  return engine;
}

}  // namespace remora::kv::erda
