#include "kv/efactory/engine.h"

#include "kv/common/connecting.h"
#include "kv/efactory/client.h"
#include "kv/efactory/faults.h"
#include "kv/efactory/server.h"

namespace remora::kv::efactory {
namespace {

class Efactory final : public Engine {
 public:
  Efactory(std::string_view name, std::string_view about, const EngineOptions& options)
      : name_(name), about_(about), options_(options) {}

  std::string_view name() const override { return name_; }
  std::string_view about() const override { return about_; }
  Promise promise() const override { return promise_asynchronous; }
  Durability del_durability() const override { return Durability::persistent; }
  const std::vector<const Fault*>& faults() const override {
    static const std::vector<const Fault*> list(faults::all.begin(), faults::all.end());
    return list;
  }
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
  const std::string_view name_;
  const std::string_view about_;
  const EngineOptions options_;
};

}  // namespace

const Engine& engine() {
  static const Efactory efactory("efactory",
                                 "multi-version log, asynchronous durability, hybrid reads", {});
  return efactory;
}

const Engine& engine_without_hybrid_reads() {
  static const Efactory efactory("efactory-no-hr", "eFactory with every get by RPC and READ",
                                 {.hybrid_reads = false});
  return efactory;
}

}  // namespace remora::kv::efactory
