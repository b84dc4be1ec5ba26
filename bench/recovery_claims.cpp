#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <utility>
#include <vector>

#include "base/size_text.h"
#include "bench/claims.h"
#include "pmem/pool_file.h"

namespace remora::bench {
namespace {

constexpr std::array<std::uint64_t, 3> object_counts = {1'000, 10'000, 100'000};
constexpr std::uint64_t object_bytes = 256;
constexpr std::uint64_t small_pool_bytes = std::uint64_t{64} << 20;
constexpr std::uint64_t large_pool_bytes = std::uint64_t{4} << 30;
constexpr double recovery_target_ratio = 1.5;

// A pool in memory that has no name and takes only the pages that were touched. It is opened by the
// path of its descriptor.
class PoolInMemory {
 public:
  static Result<PoolInMemory> make(std::uint64_t size_bytes) {
    const int descriptor = memfd_create("remora-micro", MFD_CLOEXEC);
    if (descriptor < 0) {
      return os_failure("cannot make a file in memory", errno);
    }
    PoolInMemory pool(descriptor);
    if (ftruncate(descriptor, static_cast<off_t>(size_bytes)) != 0) {
      return os_failure("cannot size a file in memory", errno);
    }
    return pool;
  }
  PoolInMemory(PoolInMemory&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  PoolInMemory& operator=(PoolInMemory&&) = delete;
  ~PoolInMemory() {
    if (descriptor_ >= 0) {
      close(descriptor_);
    }
  }

  std::string path() const { return fmt::format("/proc/self/fd/{}", descriptor_); }

 private:
  explicit PoolInMemory(int descriptor) : descriptor_(descriptor) {}

  int descriptor_;
};

Status publish(Pool& pool, std::uint64_t count) {
  Transaction transaction;
  for (; count > 0; --count) {
    REMORA_TRY_RESULT(object, pool.reserve(object_bytes));
    REMORA_TRY(transaction.publish(*object, 0));
  }
  return pool.commit(transaction).status();
}

Status fill(const std::string& path, std::uint64_t objects) {
  REMORA_TRY_RESULT(file, FileHandle::open(path, true));
  REMORA_TRY_RESULT(region, open_region(*file, Media::dram));
  REMORA_TRY_RESULT(pool, Pool::create(**region, pool_format::Uuid{}));
  for (std::uint64_t left = objects; left > 0;) {
    const std::uint64_t count = std::min<std::uint64_t>(left, Transaction::most_objects);
    REMORA_TRY(publish(**pool, count));
    left -= count;
  }
  return Status();
}

Result<PoolInMemory> make_filled(std::uint64_t size_bytes, std::uint64_t objects) {
  Result<PoolInMemory> pool = PoolInMemory::make(size_bytes);
  if (!pool.ok()) {
    return pool;
  }
  REMORA_TRY(fill(pool->path(), objects));
  return pool;
}

Side opening(const PoolInMemory& pool, std::uint64_t objects) {
  return [path = pool.path(), objects](std::uint64_t iterations) {
    for (; iterations > 0; --iterations) {
      Result<PoolFile> file = PoolFile::open(path, Media::automatic);
      REMORA_CHECK(file.ok() && file->pool().usage().object_count == objects,
                   "a pool was not recovered as it was filled");
    }
  };
}

Claim by_size(std::uint64_t objects, std::span<const double> large, std::span<const double> small) {
  Claim claim =
      compare({fmt::format("recovery/{}", objects),
               fmt::format("opening a pool of {} with {} objects does not pay for its size",
                           format_size(large_pool_bytes), objects),
               fmt::format("the same objects in a pool of {}", format_size(small_pool_bytes)),
               recovery_target_ratio},
              large, small);
  claim.beside.emplace_back("ns_per_object",
                            claim.obtained_ns.median / static_cast<double>(objects));
  return claim;
}

Claim by_objects(std::uint64_t objects, std::span<const double> many, std::span<const double> few) {
  std::vector<double> ten_times;
  for (double sample : few) {
    ten_times.push_back(10 * sample);
  }
  return compare({fmt::format("recovery-growth/{}", objects),
                  fmt::format("opening {} objects costs no more than in proportion", objects),
                  "ten times what a tenth of the objects cost", recovery_target_ratio},
                 many, ten_times);
}

}  // namespace

Result<Claims> measure_recovery(const MicroOptions& options) {
  std::vector<PoolInMemory> pools;
  std::vector<Side> sides;  // for each number of objects: small, large
  for (std::uint64_t objects : object_counts) {
    for (std::uint64_t size_bytes : {small_pool_bytes, large_pool_bytes}) {
      REMORA_TRY_RESULT(pool, make_filled(size_bytes, objects));
      sides.push_back(opening(*pool, objects));
      pools.push_back(std::move(pool).value());
    }
  }
  Plan plan = memory_plan(options);
  plan.work = Work::own;
  const auto series = interleave(sides, plan);
  Claims claims;
  for (std::size_t i = 0; i < object_counts.size(); ++i) {
    claims.push_back(by_size(object_counts[i], series[2 * i + 1], series[2 * i]));
  }
  for (std::size_t i = 1; i < object_counts.size(); ++i) {
    claims.push_back(by_objects(object_counts[i], series[2 * i + 1], series[2 * i - 1]));
  }
  return claims;
}

}  // namespace remora::bench
