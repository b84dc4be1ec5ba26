// PlainEngine: an engine made of a server, which has a static start(), and a client that says
// hello.
#pragma once

#include <memory>

#include "kv/common/connecting.h"
#include "kv/common/messages.h"
#include "kv/store.h"

namespace remora::kv {

template <typename Server, typename Client>
class PlainEngine final : public Engine {
 public:
  // The descriptor outlives it.
  PlainEngine(const Descriptor& descriptor, const Promise& promise,
              const rpc::CallerOptions& caller = {})
      : descriptor_(descriptor), promise_(promise), caller_(caller) {}

  const Descriptor& descriptor() const override { return descriptor_; }
  Promise promise() const override { return promise_; }
  Result<std::unique_ptr<StoreServer>> start_server(Host host, Pool& pool,
                                                    const ServerOptions& options) const override {
    return Server::start(host, pool, options);
  }
  Result<std::unique_ptr<PendingClient>> start_client(Host host,
                                                      const ClientOptions& options) const override {
    return Connecting<Client, PlainLayout, hello>::start(host, options, caller_);
  }

 private:
  const Descriptor& descriptor_;
  const Promise promise_;
  const rpc::CallerOptions caller_;
};

}  // namespace remora::kv
