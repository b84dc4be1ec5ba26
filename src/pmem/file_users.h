// Which processes have a file mapped or open, as the kernel tells it (/proc): to name them to a
// person who wants the file. A look at every process: for messages, not for decisions. Processes
// of other users are seen by root alone.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace remora {

struct FileUser {
  pid_t pid = 0;
  std::string name = {};    // of its program
  bool is_stopped = false;  // by a signal (SIGSTOP) or a debugger: it notices nothing
};

// Those that have the file of this descriptor mapped to be written and shared, or, other than this
// process, open. In the order of their numbers, and a few at most.
std::vector<FileUser> users_of_file(int descriptor);

// "process 12 (remora), which is stopped (kill -CONT 12 lets it go on), process 14 (app)"; empty
// for nobody.
std::string words_of(const std::vector<FileUser>& users);

}  // namespace remora
