// DesignEngine: an RPC design as the harness of modelled runs (lab/run/modelled.h) takes it: its
// store is the objects that its calls work on. For one run; server and clients are of one process.
#pragma once

#include <memory>

#include "kv/store.h"
#include "lab/rpc/object_client.h"

namespace remora::lab {

class DesignEngine final : public kv::Engine {
 public:
  // Options are those of server and clients. The plan says how many objects there are, and how
  // large.
  DesignEngine(const rpc::Design& design, const rpc::DesignOptions& options, const CallWork& work,
               const workload::Plan& plan);

  const Descriptor& descriptor() const override { return design_.descriptor; }
  Promise promise() const override { return promise_persistent; }
  Result<std::unique_ptr<kv::StoreServer>> start_server(
      Host host, Pool& pool, const kv::ServerOptions& options) const override;
  Result<std::unique_ptr<kv::PendingClient>> start_client(
      Host host, const kv::ClientOptions& options) const override;

  // What a pool must have for the objects.
  std::uint64_t pool_bytes() const;

 private:
  const rpc::Design& design_;
  const rpc::DesignOptions options_;
  const CallWork work_;
  const std::size_t object_bytes_;
  const std::shared_ptr<const ObjectIndex> index_;
  mutable rpc::Server* server_ = nullptr;  // of the run, where clients introduce themselves
};

}  // namespace remora::lab
