// VirtualWorker: a worker's thread (runtime/worker.h) in virtual time, on a core of its own. Pieces
// are done one after another, each at a moment of the seed's choosing; its flow goes on some time
// after that, and the loop does other things before and between.
//
// One thread, the loop's. The runtime outlives it, and it outlives every flow that waits.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/random.h"
#include "runtime/aside.h"
#include "runtime/runtime.h"

namespace remora::lab {

class VirtualWorker final : public Aside {
 public:
  // A piece takes no longer than twice `longest_ns`.
  VirtualWorker(Runtime& runtime, std::uint64_t seed, std::uint64_t longest_ns)
      : runtime_(runtime), random_(seed), longest_ns_(longest_ns) {}

 private:
  Task<void> run_piece(void (*call)(void*), void* work) override {
    const std::uint64_t begin_ns = std::max(runtime_.now_ns(), free_ns_);
    const std::uint64_t call_ns = begin_ns + random_.below(longest_ns_ + 1);
    const std::uint64_t end_ns = call_ns + random_.below(longest_ns_ + 1);
    free_ns_ = end_ns;
    co_await runtime_.sleep_until(call_ns);
    call(work);
    co_await runtime_.sleep_until(end_ns);
  }

  Runtime& runtime_;
  Random random_;
  const std::uint64_t longest_ns_;
  std::uint64_t free_ns_ = 0;  // when the core has done all that it was handed
};

}  // namespace remora::lab
