#include "lab/crash/pool_subject.h"

#include <array>

#include "lab/crash/nested_lives.h"
#include "lab/crash/pool_life.h"
#include "pmem/pool_faults.h"

namespace remora {
namespace {

constexpr std::array<LifeLevel, 4> pool_levels = {{
    {20, {8, 6}, 1, 24},
    {30, {3, 3}, 2, 8},
    {40, {2, 2}, 3, 4},
    {0, {0, 0}, 0, 0},
}};

constexpr std::string_view pool_sources[] = {"src/pmem/"};

constexpr Descriptor pool_descriptor = {
    .name = "pool",
    .kind = SystemKind::part,
    .about = "the pool: allocator, roots, redo log and recovery",
    .faults = pool_faults::all,
    .sources = pool_sources};

}  // namespace

const Descriptor& PoolSubject::descriptor() const {
  return pool_descriptor;
}

std::unique_ptr<CrashWorker> PoolSubject::worker() const {
  return std::make_unique<NestedLives<PoolLife>>(pool_levels);
}

}  // namespace remora
