// A cache line that two cores hand to and fro: what any two processes that share memory must pay.
// It depends on where the two cores sit, and a virtual machine is moved about.
#pragma once

#include <memory>

#include "base/result.h"
#include "bench/measure.h"
#include "bench/nic/child.h"

namespace remora::bench {

class PingPong {
 public:
  // The other side runs on that core.
  static Result<std::unique_ptr<PingPong>> start(int core);

  pid_t process() const { return child_->process(); }
  // A few dozen short samples of a round trip. The process must not be held.
  Result<Spread> round_trip_ns();

 private:
  PingPong(SharedMemory memory, std::unique_ptr<Child> child)
      : memory_(std::move(memory)), child_(std::move(child)) {}
  Status run(std::uint64_t round_trips);

  SharedMemory memory_;
  std::unique_ptr<Child> child_;
  std::uint64_t sent_ = 0;
};

}  // namespace remora::bench
