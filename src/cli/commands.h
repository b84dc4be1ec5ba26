// The subcommands. Each adds itself to the application and, when chosen, runs and stores its exit
// status.
#pragma once

#include <CLI/App.hpp>

namespace remora::cli {

void add_product_commands(CLI::App& app, int& exit_status);
void add_pool_command(CLI::App& app, int& exit_status);
void add_systems_command(CLI::App& app, int& exit_status);
void add_crash_command(CLI::App& app, int& exit_status);
void add_matrix_command(CLI::App& app, int& exit_status);
void add_bench_command(CLI::App& app, int& exit_status);
void add_figures_command(CLI::App& app, int& exit_status);
void add_rpc_command(CLI::App& app, int& exit_status);
void add_nic_command(CLI::App& app, int& exit_status);

}  // namespace remora::cli
