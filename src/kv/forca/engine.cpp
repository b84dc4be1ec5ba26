#include "kv/forca/engine.h"

#include "kv/common/plain_engine.h"
#include "kv/forca/client.h"
#include "kv/forca/faults.h"
#include "kv/forca/server.h"

namespace remora::kv::forca {

const Engine& engine() {
  static const PlainEngine<ForcaServer, ForcaClient> engine(
      "forca", "the server checks and persists on every read",
      {Acknowledged::visible, Returned::latest, true}, faults::all, {},
      "a get may find the version before, as long as an RDMA device has the value and memory has "
      "not");
  return engine;
}

}  // namespace remora::kv::forca
