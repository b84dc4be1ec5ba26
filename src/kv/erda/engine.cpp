#include "kv/erda/engine.h"

#include "kv/common/plain_engine.h"
#include "kv/erda/client.h"
#include "kv/erda/faults.h"
#include "kv/erda/server.h"

namespace remora::kv::erda {

const Engine& engine() {
  static const PlainEngine<ErdaServer, ErdaClient> engine(
      "erda", "two offsets in eight bytes; the reader checks the checksum", promise_visible,
      faults::all, {},
      "two puts of a key that a kill or a power cut tears take the version before them along, even "
      "if that was persistent");
  return engine;
}

}  // namespace remora::kv::erda
