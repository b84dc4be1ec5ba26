// StoreWriter: makes a store in a fresh pool from objects that come in any order, such as those of
// a copy. Which of them are the newest is found out when the store is opened, by their sequence
// numbers.
//
// Nothing is persistent before finish() has ended with success. One thread; the pool outlives it.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "base/result.h"
#include "host/host.h"
#include "kv/log/log.h"
#include "kv/log/object.h"
#include "pmem/pool.h"

namespace remora::kv {

class StoreWriter {
 public:
  static Result<std::unique_ptr<StoreWriter>> create(const Host& host, Pool& pool,
                                                     std::string_view engine);

  // no_space when the pool is too small. Blocks now and then until what came before is persistent.
  Status add(const ReadObject& object);
  // Blocks until all is persistent, and the marks of all segments too.
  Status finish();

  std::uint64_t objects() const { return objects_; }
  std::uint64_t size_bytes() const { return size_bytes_; }

 private:
  explicit StoreWriter(Pool& pool, std::unique_ptr<Log> log) : pool_(pool), log_(std::move(log)) {}

  Pool& pool_;
  std::unique_ptr<Log> log_;
  std::uint64_t objects_ = 0;
  std::uint64_t size_bytes_ = 0;
  std::uint64_t unpersisted_bytes_ = 0;
  std::uint64_t newest_ = 0;  // sequence number
};

}  // namespace remora::kv
