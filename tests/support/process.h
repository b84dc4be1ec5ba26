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

// A program that goes on until it is told to end. One that still runs is killed when this goes.
class RunningProcess {
 public:
  // Starts it as run_process does.
  explicit RunningProcess(const std::vector<std::string>& argv, const ProcessOptions& options = {});
  RunningProcess(RunningProcess&& other) noexcept;
  RunningProcess& operator=(RunningProcess&&) = delete;
  ~RunningProcess();

  int pid() const { return pid_; }
  // What it has said so far.
  std::string out() const;
  std::string err() const;
  // Whether it has ended, by itself or by a signal.
  bool ended();
  // Sends the signal.
  void signal(int number) const;
  // Blocks until it ends; its exit status as in Outcome.
  int wait();

 private:
  int pid_ = -1;
  int out_ = -1;
  int err_ = -1;
  int exit_status_ = -1;
};

}  // namespace remora
