// ForcaServer: the server half of Forca; see engine.h.
#pragma once

#include <memory>
#include <optional>

#include "kv/common/index_memory.h"
#include "kv/common/plain_server.h"
#include "kv/index/index.h"
#include "kv/log/log.h"
#include "kv/rivals/forca/records.h"

namespace remora::kv::forca {

enum class Verifies : std::uint8_t { once, always };

class ForcaServer final : public PlainServer {
 public:
  static Result<std::unique_ptr<StoreServer>> start(const Host& host, Pool& pool,
                                                    const ServerOptions& options,
                                                    Verifies verifies);
  std::vector<Counter> counters() const override;

 private:
  ForcaServer(const Host& host, Pool& pool, const ServerOptions& options, Verifies verifies);

  rpc::Reply put(const Request& request) override;
  rpc::Reply get(const Request& request) override;
  rpc::Reply del(const Request& request) override;
  rpc::Reply scan(const Request& request) override;
  rpc::Reply persist(const Request& request) override;
  // Clients do not READ the index.
  IndexPlace index_place() const override { return {}; }
  Log& log() override { return *log_; }

  Status recover(Pool& pool);
  void take_recovered(Offset record);
  void forget_tombstones();

  // The entry whose record is the key's.
  IndexSlot find(Tag tag, ConstBytes key) const;
  Offset record_of(IndexSlot slot) const { return slot.place(0).offset; }
  Object object_of(const Record& record) const { return log_->at(record.object); }
  void lead_to(Tag tag, IndexSlot slot, Offset record, bool deleted);
  void release(IndexSlot slot);
  // The newest version of a key was found whole, and is persistent when the ticket is.
  void remember(IndexSlot slot, Ticket ticket);
  rpc::Reply answer(const Request& request, const Object& object, Ticket ticket);
  // Self-verification: whether key and value are what the record's checksum says.
  bool whole(const Record& record) const;
  // Object and record of a new version.
  Result<Offset> append(ConstBytes key, Kind kind, std::uint32_t value_bytes,
                        std::uint32_t client_sum, Offset previous);

  const Verifies verifies_;
  std::unique_ptr<Log> log_;
  std::unique_ptr<Records> records_;
  IndexMemory memory_;
  std::unique_ptr<Index> index_;
  std::uint64_t sequence_ = 0;
  Ticket last_del_;
};

}  // namespace remora::kv::forca
