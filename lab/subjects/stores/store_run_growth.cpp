// The pool grows under the hands of clients, and the power goes meanwhile.
#include <fmt/format.h>

#include "lab/subjects/stores/store_run.h"

namespace remora::lab {

// The next growth, when there is none under way and the pool may be larger.
void StoreRun::grow_on() {
  if (!growing_.failure.ok()) {
    report("grows", "the pool cannot grow: " + std::string(growing_.failure.message()), "");
    return;
  }
  const std::uint64_t now_bytes = world_.pool_bytes();
  if (growing_.is_planned || now_bytes == 0 || now_bytes >= plan_.grown_bytes) {
    return;
  }
  const std::uint64_t left_bytes = plan_.grown_bytes - now_bytes;
  const bool in_two =
      left_bytes >= 2 * pool_format::smallest_growth_bytes && growth_random_.chance(1, 2);
  const std::uint64_t more_bytes = in_two ? left_bytes / 2 : left_bytes;
  world_.grow(now_bytes + more_bytes, growth_random_.below(plan_.longest_before_growth_ns),
              growing_);
}

bool StoreRun::is_cut_in_growth(const CrashEvent&) {
  const bool is_cut = growing_.is_under_way && world_.store() != nullptr && cuts_left_ != 0 &&
                      growth_random_.chance(1, plan_.cut_growth_one_in);
  cuts_left_ -= is_cut ? 1u : 0u;
  reached_.cuts_in_growth += is_cut ? 1u : 0u;
  return is_cut;
}

bool StoreRun::is_probed_in_growth() {
  const bool is_probed = growing_.is_under_way && world_.store() != nullptr &&
                         growth_random_.chance(1, plan_.probe_growth_one_in);
  reached_.probes_in_growth += is_probed ? 1u : 0u;
  return is_probed;
}

// What was acknowledged as larger is larger for good.
void StoreRun::judge_growth(const StoreWorld& world, const std::string& after) {
  if (world.pool_bytes() < growing_.acknowledged_bytes) {
    report("grown for good",
           fmt::format("the pool has {} bytes, and its growth to {} was acknowledged",
                       world.pool_bytes(), growing_.acknowledged_bytes),
           after);
  }
}

}  // namespace remora::lab
