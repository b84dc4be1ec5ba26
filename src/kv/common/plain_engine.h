// PlainEngine: an engine made of a server, which has a static start(), and a client that says
// hello.
#pragma once

#include <string_view>
#include <vector>

#include "kv/common/connecting.h"
#include "kv/common/messages.h"
#include "kv/store.h"

namespace remora::kv {

template <typename Server, typename Client>
class PlainEngine final : public Engine {
 public:
  template <typename List>
  PlainEngine(std::string_view name, std::string_view about, const Promise& promise,
              const List& faults, const rpc::CallerOptions& caller = {},
              std::string_view caveat = {})
      : name_(name),
        about_(about),
        promise_(promise),
        faults_(faults.begin(), faults.end()),
        caller_(caller),
        caveat_(caveat) {}

  std::string_view name() const override { return name_; }
  std::string_view about() const override { return about_; }
  Promise promise() const override { return promise_; }
  std::string_view caveat() const override { return caveat_; }
  const std::vector<const Fault*>& faults() const override { return faults_; }
  Result<std::unique_ptr<StoreServer>> start_server(Host host, Pool& pool,
                                                    const ServerOptions& options) const override {
    return Server::start(host, pool, options);
  }
  Result<std::unique_ptr<PendingClient>> start_client(Host host,
                                                      const ClientOptions& options) const override {
    return Connecting<Client, PlainLayout, hello>::start(host, options, caller_);
  }

 private:
  const std::string_view name_;
  const std::string_view about_;
  const Promise promise_;
  const std::vector<const Fault*> faults_;
  const rpc::CallerOptions caller_;
  const std::string_view caveat_;
};

}  // namespace remora::kv
