#include "lab/rpc/design_engine.h"

#include <utility>

namespace remora::lab {

namespace {

constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;

class DesignServer final : public kv::StoreServer {
 public:
  static Result<std::unique_ptr<DesignServer>> start(const Host& host, Bytes memory,
                                                     std::size_t object_bytes, const CallWork& work,
                                                     const rpc::Design& design,
                                                     const rpc::DesignOptions& options) {
    std::unique_ptr<DesignServer> server(new DesignServer(host, memory, object_bytes, work));
    REMORA_TRY_RESULT(rpc, rpc::serve(design, host, server->objects_, options));
    server->rpc_ = std::move(rpc).value();
    server->objects_.serve_by(*server->rpc_);
    return server;
  }

  rpc::Server& rpc() { return *rpc_; }
  using kv::StoreServer::accept;
  // Clients have more to tell than their address, and do so themselves.
  Result<kv::PeerAddress> accept(const kv::PeerAddress&, kv::Rights) override {
    return kv::PeerAddress();
  }
  std::size_t clients() const override { return rpc_->clients(); }
  bool busy() const override { return objects_.busy() != 0; }
  std::vector<Counter> counters() const override {
    return {{"reads", objects_.reads()}, {"writes", objects_.writes()}};
  }
  std::uint64_t failed_requests() const override { return rpc_->failures(); }

 private:
  DesignServer(const Host& host, Bytes memory, std::size_t object_bytes, const CallWork& work)
      : objects_(host, memory, object_bytes, work) {}

  Objects objects_;
  std::unique_ptr<rpc::Server> rpc_;
};

class PendingObjects final : public kv::PendingClient {
 public:
  PendingObjects(const Host& host, std::unique_ptr<rpc::DesignClient> client, rpc::Server& server,
                 std::shared_ptr<const ObjectIndex> index)
      : host_(host), client_(std::move(client)), server_(server), index_(std::move(index)) {}

  kv::PeerAddress address() const override { return {}; }
  Task<Result<std::unique_ptr<kv::StoreClient>>> connect(const kv::PeerAddress&) override {
    const Result<rpc::Introduction> answer = server_.accept(client_->introduction());
    if (!answer.ok()) {
      co_return answer.status();
    }
    const Status status = client_->connect(*answer);
    if (!status.ok()) {
      co_return status;
    }
    co_return std::unique_ptr<kv::StoreClient>(
        std::make_unique<ObjectClient>(host_, std::move(client_), index_));
  }

 private:
  const Host host_;
  std::unique_ptr<rpc::DesignClient> client_;
  rpc::Server& server_;
  const std::shared_ptr<const ObjectIndex> index_;
};

}  // namespace

DesignEngine::DesignEngine(const rpc::Design& design, const rpc::DesignOptions& options,
                           const CallWork& work, const workload::Plan& plan)
    : design_(design),
      options_(options),
      work_(work),
      object_bytes_(plan.values.largest_bytes()),
      index_(std::make_shared<const ObjectIndex>(plan)) {}

std::uint64_t DesignEngine::pool_bytes() const {
  return 16 * mebibyte + (index_->objects() * object_stride(object_bytes_) * 9 / 8 + mebibyte - 1) /
                             mebibyte * mebibyte;
}

Result<std::unique_ptr<kv::StoreServer>> DesignEngine::start_server(
    Host host, Pool& pool, const kv::ServerOptions&) const {
  REMORA_TRY_RESULT(place, pool.reserve(index_->objects() * object_stride(object_bytes_)));
  REMORA_TRY_RESULT(
      server, DesignServer::start(
                  host, pool.object(*place).first(index_->objects() * object_stride(object_bytes_)),
                  object_bytes_, work_, design_, options_));
  server_ = &(*server)->rpc();
  return std::unique_ptr<kv::StoreServer>(std::move(server).value());
}

Result<std::unique_ptr<kv::PendingClient>> DesignEngine::start_client(
    Host host, const kv::ClientOptions&) const {
  REMORA_TRY_RESULT(client, design_.start_client(host, options_));
  return std::unique_ptr<kv::PendingClient>(
      std::make_unique<PendingObjects>(host, std::move(client).value(), *server_, index_));
}

}  // namespace remora::lab
