#include "cli/nic_bench/child_target.h"

#include <fmt/core.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

namespace remora::cli {
namespace {

[[noreturn]] void be_child(pid_t parent, int socket, const ChildTarget::Serve& serve) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) {
    _exit(1);
  }
  const Status status = serve(socket);
  if (!status.ok()) {
    fmt::print(stderr, "remora: the target process: {}\n", status.message());
  }
  _exit(status.ok() ? 0 : 1);
}

}  // namespace

Result<std::unique_ptr<ChildTarget>> ChildTarget::start(const Serve& serve) {
  int sockets[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) {
    return os_failure("cannot make a pair of sockets", errno);
  }
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) {
    const int error = errno;
    close(sockets[0]);
    close(sockets[1]);
    return os_failure("cannot start the target process", error);
  }
  if (child == 0) {
    close(sockets[0]);
    be_child(parent, sockets[1], serve);
  }
  close(sockets[1]);
  return std::unique_ptr<ChildTarget>(new ChildTarget(child, sockets[0]));
}

ChildTarget::~ChildTarget() {
  kill(process_, SIGKILL);
  waitpid(process_, nullptr, 0);
  close(socket_);
}

}  // namespace remora::cli
