#include "cli/store_bench/children.h"

#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

namespace remora::cli {

Children::Children() : parent_(getpid()) {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) {
    for (std::size_t processor = 0; processor < CPU_SETSIZE; ++processor) {
      if (CPU_ISSET(processor, &allowed)) {
        processors_.push_back(processor);
      }
    }
  }
}

Children::~Children() {
  for (const Child& child : running_) {
    kill(child.process, SIGKILL);
  }
  for (const Child& child : running_) {
    waitpid(child.process, nullptr, 0);
  }
}

void Children::stay_on(unsigned processor) const {
  if (processors_.size() < 2) {
    return;
  }
  cpu_set_t chosen;
  CPU_ZERO(&chosen);
  CPU_SET(processors_[processor % processors_.size()], &chosen);
  (void)sched_setaffinity(0, sizeof chosen, &chosen);  // it is only slower elsewhere
}

Status Children::start(const std::string& name, unsigned processor,
                       const std::function<void()>& run) {
  const pid_t child = fork();
  if (child < 0) {
    return os_failure("cannot start the process of the " + name, errno);
  }
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent_) {
      _exit(1);
    }
    stay_on(processor);
    run();
    _exit(0);
  }
  running_.push_back({child, name});
  return {};
}

Status Children::pause(int milliseconds) {
  (void)poll(nullptr, 0, milliseconds);
  Status status;
  std::erase_if(running_, [&](const Child& child) {
    int ended = 0;
    if (waitpid(child.process, &ended, WNOHANG) != child.process) {
      return false;
    }
    if (WIFSIGNALED(ended)) {
      status = Status(Code::io_error, fmt::format("the process of the {} was ended by signal {}",
                                                  child.name, WTERMSIG(ended)));
    }
    return true;
  });
  return status;
}

}  // namespace remora::cli
