// remora nic pingpong: its options, and what it prints.
#pragma once

#include <CLI/CLI.hpp>

namespace remora::cli {

// Adds it to `remora nic`.
void add_pingpong_command(CLI::App& nic, int& exit_status);

}  // namespace remora::cli
