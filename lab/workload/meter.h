// Meter: what the operations of a run took, by kind. Each client has its own, and they are merged
// in the end. It has no clock: latencies and durations are handed to it, in virtual or in real
// time.
//
// Threads: one at a time. Recording allocates nothing. An object takes about 200 KiB: keep it off
// the stack.
#pragma once

#include <array>
#include <cstdint>

#include "base/histogram.h"
#include "lab/workload/workload.h"

namespace remora::workload {

// All are 0 where nothing was recorded. Percentiles as Histogram has them: above the true one by
// less than 1/64.
struct Summary {
  std::uint64_t count = 0;     // operations that succeeded; the latencies are theirs
  std::uint64_t missing = 0;   // of these, how many found no such key
  std::uint64_t failures = 0;  // operations that failed: not among the count
  double mean_ns = 0;
  std::uint64_t min_ns = 0;
  std::uint64_t p50_ns = 0;
  std::uint64_t p99_ns = 0;
  std::uint64_t p999_ns = 0;
  std::uint64_t max_ns = 0;
};

class Meter {
 public:
  void record(Kind kind, std::uint64_t latency_ns) { of(kind).latency_ns.record(latency_ns); }
  // It succeeded, and there was no such key.
  void record_missing(Kind kind, std::uint64_t latency_ns) {
    record(kind, latency_ns);
    ++of(kind).missing;
  }
  void record_failure(Kind kind) { ++of(kind).failures; }

  // Adds all that the other has seen.
  void merge(const Meter& other);
  void clear();

  const Histogram& latency_ns(Kind kind) const { return of(kind).latency_ns; }

  Summary summary(Kind kind) const;
  // Of all kinds together.
  Summary summary() const;

  // Operations that succeeded, of all kinds.
  std::uint64_t count() const;
  // The same per second, over a time that the caller measured; 0 if that is 0.
  double operations_per_second(std::uint64_t duration_ns) const;

 private:
  struct Seen {
    Histogram latency_ns;
    std::uint64_t missing = 0;
    std::uint64_t failures = 0;

    void merge(const Seen& other);
    Summary summary() const;
  };

  Seen& of(Kind kind) { return seen_[static_cast<std::size_t>(kind)]; }
  const Seen& of(Kind kind) const { return seen_[static_cast<std::size_t>(kind)]; }

  std::array<Seen, kind_count> seen_ = {};
};

}  // namespace remora::workload
