// The two processes of the benchmark on the roce wire, both on loopback: a child that is the
// target, and the side that reaches it. The child ends when it is told to, or with its parent.
#pragma once

#include <sys/types.h>

#include <memory>
#include <utility>

#include "base/result.h"
#include "fabric/nic/wire/roce/roce_wire.h"
#include "lab/measured/nic/child_target.h"
#include "lab/measured/nic/side.h"
#include "runtime/runtime.h"

namespace remora::lab {

// Both on addresses and ports of loopback that are free.
Result<std::unique_ptr<fabric::nic::roce::RoceWire>> loopback_roce_wire();

class RoceTarget {
 public:
  // Starts the child, which waits for the peer's introduction.
  static Result<std::unique_ptr<RoceTarget>> start(std::uint64_t memory_bytes, std::uint64_t depth,
                                                   const Answering& answering);

  // Introduces both sides to each other and gives this one. It must go before the target, and the
  // wire is the target's to keep.
  Result<std::unique_ptr<Side>> connect(Runtime& runtime, std::uint64_t memory_bytes,
                                        std::uint64_t depth);
  pid_t process() const { return child_->process(); }
  const fabric::nic::roce::RoceWire& wire() const { return *wire_; }

 private:
  explicit RoceTarget(std::unique_ptr<ChildTarget> child) : child_(std::move(child)) {}

  const std::unique_ptr<ChildTarget> child_;
  std::unique_ptr<fabric::nic::roce::RoceWire> wire_;
};

}  // namespace remora::lab
