// Child: a process of this program on a core of its own, which serves while another initiates. It
// ends when told to, or with its parent.
//
// It belongs to the thread that started it. Starting, holding and ending block for a moment.
#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "bench/nic/shared_memory.h"

namespace remora::bench {

// Lets this process, and what it forks from now on, run on that core alone.
Status pin_to_core(int core);

// Takes the core away from a child of this process, and gives it back. Between the two it does not
// run at all.
void hold(pid_t process);
void let_go(pid_t process);

// What the child's side of it has.
class ChildContext {
 public:
  ChildContext(const SharedMemory& flags, int to_parent) : flags_(flags), to_parent_(to_parent) {}

  // Says that it is ready, with what the parent needs to know. Once.
  Status ready(ConstBytes message = {}) const;
  // Whether to end.
  bool ending() const;
  // Returns when it is to end, without using the core.
  void sleep_until_ending() const;

 private:
  const SharedMemory& flags_;
  int to_parent_;
};

class Child {
 public:
  using Body = std::function<Status(const ChildContext&)>;

  // Runs the body in a process of its own on that core, and waits until it is ready.
  static Result<std::unique_ptr<Child>> start(int core, const Body& body);
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  // Tells it to end, waits, and kills it when that takes too long.
  ~Child();

  pid_t process() const { return process_; }
  // What it said when it was ready.
  ConstBytes message() const { return message_; }

 private:
  Child(pid_t process, SharedMemory flags) : process_(process), flags_(std::move(flags)) {}

  pid_t process_;
  SharedMemory flags_;
  std::vector<std::byte> message_;
};

}  // namespace remora::bench
