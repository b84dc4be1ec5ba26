// ChildTarget: the process that is the target of a benchmark of two processes: a child of this one,
// with a pair of sockets between them. It ends with its parent, however that ends.
#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>

#include "base/result.h"

namespace remora::lab {

class ChildTarget {
 public:
  // The child's whole work, given its end of the sockets. A failure is printed.
  using Serve = std::function<Status(int socket)>;
  static Result<std::unique_ptr<ChildTarget>> start(const Serve& serve);
  ChildTarget(const ChildTarget&) = delete;
  ChildTarget& operator=(const ChildTarget&) = delete;
  // Kills the child, and waits until it is gone.
  ~ChildTarget();

  pid_t process() const { return process_; }
  // This side's end.
  int socket() const { return socket_; }

 private:
  ChildTarget(pid_t process, int socket) : process_(process), socket_(socket) {}

  const pid_t process_;
  const int socket_;
};

}  // namespace remora::lab
