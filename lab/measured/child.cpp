#include "lab/measured/child.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <string>

namespace remora::lab {

Result<pid_t> fork_child(std::string_view what, const std::function<int()>& run) {
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) {
    return os_failure("cannot start " + std::string(what), errno);
  }
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    // The parent may have gone before that call.
    _exit(getppid() == parent ? run() : 1);
  }
  return child;
}

void end_child(pid_t child) {
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}

}  // namespace remora::lab
