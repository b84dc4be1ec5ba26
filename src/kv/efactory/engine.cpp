#include "kv/efactory/engine.h"

#include "kv/common/connecting.h"
#include "kv/efactory/client.h"
#include "kv/efactory/counters.h"
#include "kv/efactory/faults.h"
#include "kv/efactory/server.h"
#include "kv/store_descriptor.h"

namespace remora::kv::efactory {
namespace {

constexpr auto sources = sources_of_store("src/kv/efactory/");

constexpr std::string_view unsummed_bytes =
    "links between versions, which recovery does not follow, padding and free space. A value whose "
    "segment's mark has not passed it counts as one that never came if it fails its checksum";

constexpr Descriptor as_published = {
    .name = "efactory",
    .about = "multi-version log, asynchronous durability, hybrid reads",
    .unsummed = unsummed_bytes,
    .paper = "eFactory (Du et al., ICPP 2021)",
    .section = "eFactory, 4",
    .faults = faults::all,
    .sources = sources,
    .counters = counter_texts};

constexpr Descriptor without_hybrid_reads = {.name = "efactory-no-hr",
                                             .about = "eFactory with every get by RPC and READ",
                                             .unsummed = unsummed_bytes,
                                             .paper = "eFactory (Du et al., ICPP 2021)",
                                             .section = "eFactory, 6.1",
                                             .faults = faults::all,
                                             .sources = sources,
                                             .counters = counter_texts};

class Efactory final : public Engine {
 public:
  Efactory(const Descriptor& descriptor, const EngineOptions& options)
      : descriptor_(descriptor), options_(options) {}

  const Descriptor& descriptor() const override { return descriptor_; }
  Promise promise() const override { return promise_asynchronous; }
  Durability del_durability() const override { return Durability::persistent; }
  Result<std::unique_ptr<StoreServer>> start_server(Host host, Pool& pool,
                                                    const ServerOptions& options) const override {
    return EfactoryServer::start(host, pool, options, options_);
  }
  Result<std::unique_ptr<PendingClient>> start_client(Host host,
                                                      const ClientOptions& options) const override {
    return Connecting<EfactoryClient, Layout, hello>::start(
        host, options, {.request_bytes = request_bytes_max, .reply_bytes = reply_bytes_max});
  }

 private:
  const Descriptor& descriptor_;
  const EngineOptions options_;
};

}  // namespace

const Engine& engine() {
  static const Efactory efactory(as_published, {});
  return efactory;
}

const Engine& engine_without_hybrid_reads() {
  static const Efactory efactory(without_hybrid_reads, {.hybrid_reads = false});
  return efactory;
}

std::unique_ptr<const Engine> engine_with(const EngineOptions& options) {
  return std::make_unique<Efactory>(as_published, options);
}

}  // namespace remora::kv::efactory
