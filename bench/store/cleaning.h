// The log under updates that never end: a small pool takes many times its size, so that it is
// cleaned again and again, with gets beside it whose values are looked at. A store in a process of
// its own; one client, on this thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "bench/store/store.h"

namespace remora::bench {

struct CleaningOptions {
  std::uint64_t pool_bytes = std::uint64_t{256} << 20;
  std::uint64_t bytes = 20'000'000'000;      // of updates
  std::uint64_t step_bytes = 1'000'000'000;  // after so many there is a step of the report
  std::uint32_t value_bytes = 1024;          // a quarter of the pool's size are there at a time
  bool on_disk = false;                      // the pool is a file in the folder; else memory
  std::uint64_t seed = 1;
};

struct CleaningReport {
  // What was seen since the step before; memory is that which no file stands behind.
  struct Step {
    double updates_per_s = 0;
    double gets_per_s = 0;
    std::uint64_t put_p50_ns = 0;
    std::uint64_t put_p99_ns = 0;
    std::uint64_t get_p50_ns = 0;
    std::uint64_t get_p99_ns = 0;
    std::uint64_t cleanings = 0;  // from the start, of all of the log or of a part
    std::uint64_t server_private_bytes = 0;
    std::uint64_t client_private_bytes = 0;
  };
  std::uint64_t updated_bytes = 0;
  std::vector<Step> steps;
};

using CleaningStep = std::function<void(const CleaningReport& so_far)>;

// Fails with the first failure of an operation, or when a get returns what was not put.
Result<CleaningReport> run_cleaning(const CleaningOptions& options, const std::string& folder,
                                    const CleaningStep& step = {});

}  // namespace remora::bench
