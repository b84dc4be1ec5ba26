// ErdaServer: the server half of Erda; see engine.h.
#pragma once

#include <memory>

#include "kv/common/hopscotch_table.h"
#include "kv/common/plain_server.h"
#include "kv/log/log.h"
#include "kv/rivals/erda/region_format.h"

namespace remora::kv::erda {

class ErdaServer final : public PlainServer {
 public:
  static Result<std::unique_ptr<StoreServer>> start(const Host& host, Pool& pool,
                                                    const ServerOptions& options);
  std::vector<Counter> counters() const override;

 private:
  using PlainServer::PlainServer;

  rpc::Reply put(const Request& request) override;
  rpc::Reply get(const Request& request) override;
  rpc::Reply del(const Request& request) override;
  rpc::Reply scan(const Request& request) override;
  rpc::Reply persist(const Request& request) override;
  IndexPlace index_place() const override {
    return {.generation = table_->generation(),
            .geometry = table_->geometry(),
            .offset = table_->buckets_offset(),
            .size_bytes = std::as_bytes(table_->all()).size()};
  }
  Log& log() override { return *log_; }
  bool is_intact(const Object& object) const override {
    return value_in(object.value(), object.key(), object.sequence()).has_value();
  }

  Bucket* find(Tag tag, ConstBytes key) const;
  Object newest(const Bucket& bucket) const {
    return log_->at(decode_versions(bucket.words[region_word]).newest);
  }

  // Recovery.
  Status recover(Pool& pool);
  bool whole(Offset offset, Tag tag) const;
  void repair(Bucket& bucket);
  void forget_twin(Bucket& bucket);

  std::unique_ptr<Log> log_;
  std::unique_ptr<HopscotchTable> table_;
  std::uint64_t sequence_ = 0;
  Ticket last_del_;
};

}  // namespace remora::kv::erda
