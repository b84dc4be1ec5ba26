#include "sim/crash/pool_subject.h"

#include <array>

#include "pmem/pool_faults.h"
#include "sim/crash/nested_lives.h"
#include "sim/crash/pool_life.h"

namespace remora {
namespace {

constexpr std::array<LifeLevel, 4> pool_levels = {{
    {20, {8, 6}, 1, 24},
    {30, {3, 3}, 2, 8},
    {40, {2, 2}, 3, 4},
    {0, {0, 0}, 0, 0},
}};

}  // namespace

std::span<const Fault* const> PoolSubject::faults() const {
  return pool_faults::all;
}

std::unique_ptr<CrashWorker> PoolSubject::worker() const {
  return std::make_unique<NestedLives<PoolLife>>(pool_levels);
}

}  // namespace remora
