// remora bench: adds its options to the command of that name, which runs it when no subcommand is
// chosen.
#pragma once

#include <CLI/App.hpp>

namespace remora::cli {

void add_store_bench(CLI::App& bench, int& exit_status);

}  // namespace remora::cli
