// remora bench rpc: what calls cost by each RPC design, measured here or modelled by hardware
// profiles.
#pragma once

#include <CLI/App.hpp>

namespace remora::cli {

void add_call_bench(CLI::App& bench, int& exit_status);

}  // namespace remora::cli
