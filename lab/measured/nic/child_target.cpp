#include "lab/measured/nic/child_target.h"

#include <fmt/core.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

#include "lab/measured/child.h"

namespace remora::lab {
Result<std::unique_ptr<ChildTarget>> ChildTarget::start(const Serve& serve) {
  int sockets[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) {
    return os_failure("cannot make a pair of sockets", errno);
  }
  const Result<pid_t> child = fork_child("the target process", [&] {
    close(sockets[0]);
    const Status status = serve(sockets[1]);
    if (!status.ok()) {
      fmt::print(stderr, "remora: the target process: {}\n", status.message());
    }
    return status.ok() ? 0 : 1;
  });
  close(sockets[1]);
  if (!child.ok()) {
    close(sockets[0]);
    return child.status();
  }
  return std::unique_ptr<ChildTarget>(new ChildTarget(*child, sockets[0]));
}

ChildTarget::~ChildTarget() {
  end_child(process_);
  close(socket_);
}

}  // namespace remora::lab
