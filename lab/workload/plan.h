// Plan: all that a run of a workload follows from. The same plan gives the same operations, in
// virtual and in real time.
//
// A run has the phases of YCSB: the load phase inserts `records` records; then the clients perform
// `operations` operations, after `warm_up` others that are not measured.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "lab/workload/key_text.h"
#include "lab/workload/value_sizes.h"
#include "lab/workload/workload.h"

namespace remora::workload {

inline constexpr std::uint32_t clients_max = 65'536;

// The defaults are those of YCSB's files, and its record of ten fields as one value.
struct Plan {
  Workload workload;
  KeyTexts keys = KeyTexts({24, 24});
  ValueSizes values = ValueSizes(1'000);
  std::uint64_t records = 1'000;
  std::uint64_t operations = 1'000;
  std::uint64_t warm_up = 0;
  std::uint32_t clients = 1;
  std::uint64_t seed = 1;
};

// invalid_argument, with what to change, if the plan cannot be run: no records or clients, a
// workload that does nothing, more records than the smallest keys can name.
Status validate(const Plan& plan);

// How many of `total` operations client number `client` of `clients` performs: they add up to the
// total, and differ by at most one.
constexpr std::uint64_t share_of(std::uint64_t total, std::uint32_t client, std::uint32_t clients) {
  return total / clients + (client < total % clients ? 1 : 0);
}

}  // namespace remora::workload
