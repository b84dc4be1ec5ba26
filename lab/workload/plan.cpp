#include "lab/workload/plan.h"

#include <fmt/format.h>

namespace remora::workload {
namespace {

Status refused(std::string message) {
  return Status(Code::invalid_argument, std::move(message));
}

Status validate_workload(const Workload& workload) {
  double sum = 0;
  for (double weight : workload.weights) {
    if (!(weight >= 0)) {
      return refused("a weight of the workload is negative; weights are 0 or more");
    }
    sum += weight;
  }
  if (sum <= 0) {
    return refused("the workload does nothing; give one of its operations a weight");
  }
  if (workload.scan_low == 0 || workload.scan_low > workload.scan_high) {
    return refused(
        fmt::format("a scan of {} to {} records; the smaller number goes first, and is "
                    "at least 1",
                    workload.scan_low, workload.scan_high));
  }
  const double theta = workload.distribution.theta;
  if (!(theta >= 0 && theta <= largest_theta)) {
    return refused(fmt::format("theta is {}; it lies between 0 and {}", theta, largest_theta));
  }
  return Status();
}

}  // namespace

Status validate(const Plan& plan) {
  REMORA_TRY(validate_workload(plan.workload));
  if (plan.records == 0) {
    return refused("there are no records to work on; load at least 1");
  }
  if (plan.clients == 0 || plan.clients > clients_max) {
    return refused(fmt::format("{} clients; there are 1 to {}", plan.clients, clients_max));
  }
  if (plan.records > plan.keys.capacity()) {
    return refused(
        fmt::format("keys of {} bytes can name {} records, not {}; use larger keys or "
                    "fewer records",
                    plan.keys.sizes().low_bytes, plan.keys.capacity(), plan.records));
  }
  return Status();
}

}  // namespace remora::workload
