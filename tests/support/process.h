// Runs a program as a person's shell would, and keeps what it said.
#pragma once

#include <string>
#include <vector>

namespace remora {

struct Outcome {
  int exit_status = -1;  // 128 + the signal, as a shell says it, when one ended the program
  std::string out;
  std::string err;
};

struct ProcessOptions {
  std::string folder;         // to run in; empty: this process's own
  bool unprivileged = false;  // as the user `nobody`, where this process is root
};

// Runs argv[0], by its path, with the others as its arguments and with an empty standard input.
// Blocks until it ends. The exit status is 127 when it cannot be started.
Outcome run_process(const std::vector<std::string>& argv, const ProcessOptions& options = {});

}  // namespace remora
