// StoreService: the store of a host, as clients join it.
#pragma once

#include <memory>
#include <string_view>
#include <utility>

#include "kv/store.h"
#include "link/session_message.h"
#include "server/pool_service.h"

namespace remora::server {

class StoreService final : public PoolService {
 public:
  StoreService(const kv::Engine& engine, std::unique_ptr<kv::StoreServer> store)
      : engine_(engine), store_(std::move(store)) {}

  kv::StoreServer& store() { return *store_; }

  std::string_view name() const override { return link::store_service; }
  std::string_view design() const override { return engine_.name(); }
  Result<fabric::QueuePairAddress> accept(const fabric::QueuePairAddress& client,
                                          link::Role role) override {
    const kv::Rights rights = role == link::Role::read ? kv::Rights::read : kv::Rights::write;
    REMORA_TRY_RESULT(server, store_->accept({client}, rights));
    return server->queue_pair;
  }
  std::size_t clients() const override { return store_->clients(); }
  bool busy() const override { return store_->busy(); }
  Status finish() override { return store_->finish(); }

 private:
  const kv::Engine& engine_;
  const std::unique_ptr<kv::StoreServer> store_;
};

}  // namespace remora::server
