// Connecting: a client that has its address and says hello to the server, for every engine whose
// server answers `hello` with one struct, the Layout.
//
//   Client(std::unique_ptr<rpc::Caller>, std::unique_ptr<Buffers>, const Layout&,
//          const ClientOptions&)
//   Layout::geometry.plausible()
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "kv/buffers.h"
#include "kv/common/wire.h"
#include "kv/store.h"
#include "rpc/caller.h"

namespace remora::kv {

template <typename Client, typename Layout, rpc::Kind hello_kind>
class Connecting final : public PendingClient {
 public:
  // One slot more than calls in flight, for what the client says on its own.
  static Result<std::unique_ptr<PendingClient>> start(const Host& host,
                                                      const ClientOptions& options,
                                                      rpc::CallerOptions caller_options = {}) {
    caller_options.slots = std::min<std::uint32_t>(options.in_flight, 14) + 1;
    caller_options.operations = 2 * options.in_flight + 2;
    caller_options.timeout_ns = options.timeout_ns;
    REMORA_TRY_RESULT(caller, rpc::Caller::create(host, caller_options));
    REMORA_TRY_RESULT(buffers,
                      Buffers::create(host.runtime(), (*caller)->domain(), options.buffer_bytes));
    return std::unique_ptr<PendingClient>(
        new Connecting(std::move(caller).value(), std::move(buffers).value(), options));
  }

  PeerAddress address() const override { return {caller_->address()}; }

  Task<Result<std::unique_ptr<StoreClient>>> connect(const PeerAddress& server) override {
    REMORA_CO_TRY(caller_->connect(server.queue_pair, options_.connect));
    Layout layout;
    {
      rpc::CallSlot slot = co_await caller_->slot();
      REMORA_CO_TRY_RESULT(reply, co_await caller_->call(slot, hello_kind, 0));
      const std::optional<Layout> told = read_struct<Layout>(*reply);
      if (!told || !told->geometry.plausible()) {
        co_return Status(Code::closed, "the server does not speak this version of the protocol");
      }
      layout = *told;
    }
    co_return std::unique_ptr<StoreClient>(
        std::make_unique<Client>(std::move(caller_), std::move(buffers_), layout, options_));
  }

 private:
  Connecting(std::unique_ptr<rpc::Caller> caller, std::unique_ptr<Buffers> buffers,
             const ClientOptions& options)
      : caller_(std::move(caller)), buffers_(std::move(buffers)), options_(options) {}

  std::unique_ptr<rpc::Caller> caller_;
  std::unique_ptr<Buffers> buffers_;
  const ClientOptions options_;
};

}  // namespace remora::kv
