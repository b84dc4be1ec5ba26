#include "kv/log/store_writer.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>

namespace remora::kv {
namespace {

// What may wait for its commit: on page media the system would write it back by then anyway.
constexpr std::uint64_t most_unpersisted_bytes = 16 << 20;

}  // namespace

Result<std::unique_ptr<StoreWriter>> StoreWriter::create(const Host& host, Pool& pool,
                                                         std::string_view engine) {
  REMORA_TRY_RESULT(log, Log::create(host, pool, {.engine = engine}));
  (*log)->set_reserve(0);
  return std::unique_ptr<StoreWriter>(new StoreWriter(pool, std::move(log).value()));
}

Status StoreWriter::add(const ReadObject& object) {
  REMORA_TRY_RESULT(placed,
                    log_->append({.key = object.key,
                                  .value_bytes = static_cast<std::uint32_t>(object.value.size()),
                                  .kind = object.kind,
                                  .checksum = object.checksum,
                                  .sequence = object.sequence,
                                  .flags = object_format::durable_flag,
                                  .expires = object.expires,
                                  .content = std::span(&object.value, 1)},
                                 DataPool::current, Reserve::may_use));
  newest_ = std::max(newest_, object.sequence);
  ++objects_;
  size_bytes_ += placed->size_bytes;
  unpersisted_bytes_ += placed->size_bytes;
  return unpersisted_bytes_ < most_unpersisted_bytes ? Status() : finish();
}

Status StoreWriter::finish() {
  unpersisted_bytes_ = 0;
  (void)log_->note_bounds({});
  REMORA_TRY(pool_.wait(log_->seal()));
  REMORA_TRY(log_->settle(newest_).status());
  const Result<Ticket> moved = log_->move_marks(SIZE_MAX);
  return moved.ok() ? pool_.wait(*moved) : moved.status();
}

}  // namespace remora::kv
