// The results of remora bench, for people and for programs.
#pragma once

#include <nlohmann/json.hpp>

#include "cli/store_bench/store_bench.h"

namespace remora::cli {

// A line on standard output, with a head above it for the first.
void print_row(const StoreBenchRun& run, const StoreBenchResult& result, bool first);

nlohmann::ordered_json to_json(const StoreBenchRun& run, const StoreBenchResult& result);

}  // namespace remora::cli
