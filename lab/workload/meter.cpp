#include "lab/workload/meter.h"

#include <memory>

namespace remora::workload {

void Meter::Seen::merge(const Seen& other) {
  latency_ns.merge(other.latency_ns);
  missing += other.missing;
  failures += other.failures;
}

Summary Meter::Seen::summary() const {
  return {.count = latency_ns.count(),
          .missing = missing,
          .failures = failures,
          .mean_ns = latency_ns.mean(),
          .min_ns = latency_ns.min(),
          .p50_ns = latency_ns.percentile(50),
          .p99_ns = latency_ns.percentile(99),
          .p999_ns = latency_ns.percentile(99.9),
          .max_ns = latency_ns.max()};
}

void Meter::merge(const Meter& other) {
  for (std::size_t i = 0; i < kind_count; ++i) {
    seen_[i].merge(other.seen_[i]);
  }
}

void Meter::clear() {
  for (Seen& seen : seen_) {
    seen = Seen();
  }
}

Summary Meter::summary(Kind kind) const {
  return of(kind).summary();
}

Summary Meter::summary() const {
  const auto all = std::make_unique<Seen>();
  for (const Seen& seen : seen_) {
    all->merge(seen);
  }
  return all->summary();
}

std::uint64_t Meter::count() const {
  std::uint64_t count = 0;
  for (const Seen& seen : seen_) {
    count += seen.latency_ns.count();
  }
  return count;
}

double Meter::operations_per_second(std::uint64_t duration_ns) const {
  return duration_ns == 0
             ? 0
             : static_cast<double>(count()) / (static_cast<double>(duration_ns) * 1e-9);
}

}  // namespace remora::workload
