// ServerProcess: a `remora serve` of its own process, started and ended by this one.
//
// It never outlives this process, nor this object.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/result.h"

namespace remora::lab {

class ServerProcess {
 public:
  // Runs `program serve ARGUMENTS`. What it prints is dropped, but for its last words on standard
  // error, which go to `complaints` (a path; empty: nowhere).
  static Result<ServerProcess> start(const std::string& program,
                                     const std::vector<std::string>& arguments,
                                     const std::string& complaints = "");
  ServerProcess(ServerProcess&& other) noexcept;
  ServerProcess& operator=(ServerProcess&& other) noexcept;
  ~ServerProcess();

  pid_t pid() const { return pid_; }
  // Ends it in the middle of whatever it does (SIGKILL), and returns at once.
  void kill() const;
  // Asks it to end (SIGTERM).
  void ask_to_stop() const;
  // Whether it has ended.
  bool ended();
  // Blocks until it has; its exit status, or 128 + the signal.
  int wait();

 private:
  explicit ServerProcess(pid_t pid) : pid_(pid) {}
  pid_t pid_ = -1;
  int status_ = -1;
};

}  // namespace remora::lab
