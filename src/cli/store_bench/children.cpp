#include "cli/store_bench/children.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "cli/store_bench/seat.h"

namespace remora::cli {

Children::Children() : parent_(getpid()), processors_(usable_processors().size()) {}

Children::~Children() {
  for (const Child& child : running_) {
    kill(child.process, SIGKILL);
  }
  for (const Child& child : running_) {
    waitpid(child.process, nullptr, 0);
  }
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
    const Seat seat(processor);
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
