// Children: processes that a command starts and that end with it, in every case: when the object
// goes, and when the command is killed.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"

namespace remora::lab {

class Children {
 public:
  Children();
  Children(const Children&) = delete;
  Children& operator=(const Children&) = delete;
  // Kills those that still run, and waits for them.
  ~Children();

  // Runs the function in a process of its own, which ends when it returns; it prints nothing. On a
  // machine with two processors or more it stays on the one of that number (modulo what there is).
  Status start(const std::string& name, unsigned processor, const std::function<void()>& run);

  // Waits that long, or until a child has ended. io_error when one ended by a signal.
  Status pause(int milliseconds);

  // Processors that this command may use.
  unsigned processors() const { return static_cast<unsigned>(processors_); }

 private:
  struct Child {
    pid_t process;
    std::string name;
  };

  const std::size_t processors_;
  std::vector<Child> running_;
};

}  // namespace remora::lab
