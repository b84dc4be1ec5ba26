// For the tests of the log: a store in a region whose power can be cut.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "kv/log/log_testing.h"
#include "pmem/pmem_testing.h"

namespace remora::kv {

class LogTest : public testing::TestWithParam<Granularity> {
 protected:
  struct Found {
    std::string key;
    std::uint64_t sequence;
    bool intact;
    bool durable;
    Link previous;

    bool operator==(const Found&) const = default;
  };

  explicit LogTest(std::uint64_t pool_bytes = 512 << 10)
      : region_(pool_bytes, GetParam()), machine_(region_) {
    auto pool = Pool::create(region_, {});
    REMORA_CHECK(pool.ok(), "the pool is made");
    pool_ = std::move(pool).value();
    auto log = Log::create(machine_.host, *pool_, options());
    REMORA_CHECK(log.ok(), "the log is made");
    log_ = std::move(log).value();
  }

  static LogOptions options() { return {"test", 16 << 10}; }

  // Appends and fills, and leaves it to the caller to make that persistent.
  Placed put(std::string_view key, std::string_view value, DataPool pool = DataPool::current,
             Reserve reserve = Reserve::keep) {
    Result<Placed> placed = try_put(key, value, pool, reserve);
    REMORA_CHECK(placed.ok(), "there is room");
    return *placed;
  }
  Result<Placed> try_put(std::string_view key, std::string_view value,
                         DataPool pool = DataPool::current, Reserve reserve = Reserve::keep) {
    Result<Placed> placed =
        log_->append(new_object(as_bytes(key), as_bytes(value), ++sequence_), pool, reserve);
    if (placed.ok()) {
      std::ranges::copy(as_bytes(value), placed->value.begin());
      region_.flush(placed->value);
    }
    return placed;
  }
  void seal() { ASSERT_TRUE(region_.wait(log_->seal()).ok()); }

  // Power off and on again. What is found, in order.
  Status restart() {
    log_.reset();
    pool_.reset();
    region_.cut();
    found_.clear();
    REMORA_TRY_RESULT(pool, Pool::open(region_, "the pool"));
    pool_ = std::move(pool).value();
    auto log = Log::recover(machine_.host, *pool_, options(), [this](const Object& object) {
      found_.push_back({std::string(as_text(object.key())), object.sequence(), object.intact(),
                        object.durable(), object.previous()});
    });
    REMORA_TRY(log.status());
    log_ = std::move(log).value();
    return Status();
  }
  std::string keys() const {
    std::string text;
    for (const Found& found : found_) {
      text += (text.empty() ? "" : " ") + found.key;
    }
    return text;
  }
  // Makes what the test wrote by hand persistent, past the log.
  void write_back() {
    region_.flush(region_.bytes());
    ASSERT_TRUE(region_.wait(region_.drain()).ok());
  }

  FakeRegion region_;
  LogMachine machine_;
  std::unique_ptr<Pool> pool_;
  std::unique_ptr<Log> log_;
  std::vector<Found> found_;
  std::uint64_t sequence_ = 0;
};

inline std::string granularity_name(const testing::TestParamInfo<Granularity>& param) {
  return param.param == Granularity::page ? "page" : "line";
}
inline auto both_media() {
  return testing::Values(Granularity::cache_line, Granularity::page);
}

}  // namespace remora::kv
