#include "sim/store_log/log_subject.h"

#include <array>

#include "kv/log/log_faults.h"
#include "sim/crash/nested_lives.h"
#include "sim/store_log/log_life.h"

namespace remora {
namespace {

constexpr std::array<LifeLevel, 4> log_levels = {{
    {16, {6, 4}, 1, 70},
    {24, {3, 3}, 1, 30},
    {40, {2, 2}, 1, 12},
    {0, {0, 0}, 1, 0},
}};

}  // namespace

std::span<const Fault* const> LogSubject::faults() const {
  return kv::log_faults::all;
}

std::unique_ptr<CrashWorker> LogSubject::worker() const {
  return std::make_unique<NestedLives<LogLife>>(log_levels);
}

}  // namespace remora
