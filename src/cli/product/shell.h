// remora shell: a person talks to a running store, in the manner of other stores' shells.
#pragma once

#include <string>

#include "cli/product/connection.h"

namespace remora::cli {

struct ShellArguments {
  std::string history;  // the file; empty: ~/.remora_history
};

int shell_command(const ConnectArguments& where, const ShellArguments& arguments);

}  // namespace remora::cli
