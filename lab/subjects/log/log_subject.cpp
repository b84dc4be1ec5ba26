#include "lab/subjects/log/log_subject.h"

#include <array>

#include "kv/log/log_faults.h"
#include "lab/crash/nested_lives.h"
#include "lab/subjects/log/log_life.h"

namespace remora {
namespace {

constexpr std::array<LifeLevel, 4> log_levels = {{
    {16, {6, 4}, 1, 70},
    {24, {3, 3}, 1, 30},
    {40, {2, 2}, 1, 12},
    {0, {0, 0}, 1, 0},
}};

// The calls of the log pass their caller's place on: muting one in the workload mutes one in the
// log.
constexpr std::string_view log_sources[] = {"src/kv/log/", "lab/subjects/log/"};

constexpr Descriptor log_descriptor = {
    .name = "log",
    .kind = SystemKind::part,
    .about = "the object log of stores: segments, marks and recovery",
    .faults = kv::log_faults::all,
    .sources = log_sources};

}  // namespace

const Descriptor& LogSubject::descriptor() const {
  return log_descriptor;
}

std::unique_ptr<CrashWorker> LogSubject::worker() const {
  return std::make_unique<NestedLives<LogLife>>(log_levels);
}

}  // namespace remora
