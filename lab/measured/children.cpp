#include "lab/measured/children.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>

#include <csignal>

#include "lab/measured/child.h"
#include "lab/measured/seat.h"

namespace remora::lab {

Children::Children() : processors_(usable_processors().size()) {}

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
  const Result<pid_t> child = fork_child("the process of the " + name, [&] {
    const Seat seat(processor);
    run();
    return 0;
  });
  REMORA_TRY(child.status());
  running_.push_back({*child, name});
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

}  // namespace remora::lab
