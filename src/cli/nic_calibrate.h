// remora nic calibrate: profiles of this machine, and the model against it.
#pragma once

#include <CLI/App.hpp>

namespace remora::cli {

void add_calibrate_command(CLI::App& nic, int& exit_status);

}  // namespace remora::cli
