#include "kv/rivals/forca/engine.h"

#include "kv/common/plain_engine.h"
#include "kv/rivals/forca/client.h"
#include "kv/rivals/forca/faults.h"
#include "kv/rivals/forca/server.h"
#include "kv/store_descriptor.h"

namespace remora::kv::forca {
namespace {

constexpr auto sources = sources_of_store("src/kv/rivals/forca/");

constexpr std::string_view late_value =
    "a get may find the version before, as long as an RDMA device has the value and memory has not";

constexpr Descriptor verifies_once = {
    .name = "forca",
    .about = "the server checks and persists a version when it is first read",
    .caveat = late_value,
    .unsummed =
        "padding and free space. A record or value that fails its checksum counts as one that "
        "never came, unless it was read before by a client of this server",
    .paper = "Forca (Huang et al., ICCD 2018)",
    .section = "its source",
    .is_rival = true,
    .faults = faults::all,
    .sources = sources,
    .counters = counters_of_rivals};

constexpr Descriptor verifies_always = {
    .name = "forca-verify-always",
    .about = "Forca as others describe it: checks and persists on every read",
    .caveat = late_value,
    .unsummed =
        "padding and free space. A record or value that fails its checksum counts as one that "
        "never came",
    .paper = "Forca (Huang et al., ICCD 2018)",
    .section = "eFactory, 5.3.4",
    .is_rival = true,
    .faults = faults::all,
    .sources = sources,
    .counters = counters_of_rivals};

constexpr Promise promise = {Acknowledged::visible, Returned::latest, true};

template <Verifies verifies>
struct Server {
  static Result<std::unique_ptr<StoreServer>> start(const Host& host, Pool& pool,
                                                    const ServerOptions& options) {
    return ForcaServer::start(host, pool, options, verifies);
  }
};

}  // namespace

const Engine& engine() {
  static const PlainEngine<Server<Verifies::once>, ForcaClient> engine(verifies_once, promise);
  return engine;
}

const Engine& engine_that_verifies_always() {
  static const PlainEngine<Server<Verifies::always>, ForcaClient> engine(verifies_always, promise);
  return engine;
}

}  // namespace remora::kv::forca
