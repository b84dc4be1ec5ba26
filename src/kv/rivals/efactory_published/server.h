// PublishedServer: the server half of eFactory as published; see engine.h. Put together from its
// versions, the background thread and the cleaner.
#pragma once

#include <map>
#include <memory>

#include "kv/common/plain_server.h"
#include "kv/rivals/efactory_published/cleaner.h"
#include "kv/rivals/efactory_published/verifier.h"
#include "kv/rivals/efactory_published/versions.h"

namespace remora::kv::efactory_published {

class PublishedServer final : public PlainServer {
 public:
  static Result<std::unique_ptr<StoreServer>> start(const Host& host, Pool& pool,
                                                    const ServerOptions& options);
  ~PublishedServer() override;

  bool busy() const override { return verifier_.busy() || cleaner_.busy(); }
  std::vector<Counter> counters() const override;

 private:
  PublishedServer(const Host& host, Pool& pool, const ServerOptions& options,
                  std::unique_ptr<Versions> versions);

  rpc::Reply put(const Request& request) override;
  rpc::Reply get(const Request& request) override;
  rpc::Reply del(const Request& request) override;
  rpc::Reply scan(const Request& request) override;
  rpc::Reply persist(const Request& request) override;
  std::uint64_t phase() const override { return cleaner_.phase(); }
  IndexPlace index_place() const override;
  Log& log() override { return versions_->log(); }

  Task<void> tell(std::uint64_t phase);
  void note_grants();
  void leave(const std::vector<Segment>& old);

  std::unique_ptr<Versions> versions_;
  Verifier verifier_;
  Cleaner cleaner_;
  std::map<rpc::SessionId, std::uint64_t> first_of_new_pool_;  // grant, by its number
  Flows background_;
};

}  // namespace remora::kv::efactory_published
