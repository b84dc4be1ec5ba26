// Aside: where a flow has long pieces of work done beside its loop: work that touches nothing of
// the loop's but memory. A thread does it in the product (worker.h), another core in virtual time.
//
// Used on the loop's thread alone.
#pragma once

#include <concepts>

#include "runtime/task.h"

namespace remora {

class Aside {
 public:
  virtual ~Aside() = default;

  // Calls `work` aside. It, and what it refers to, must stay until the flow goes on; what the loop
  // wrote before is seen there, and what the work wrote is seen by the flow.
  template <std::invocable Work>
  Task<void> run(Work& work) {
    return run_piece([](void* of) { (*static_cast<Work*>(of))(); }, &work);
  }

 private:
  virtual Task<void> run_piece(void (*call)(void*), void* work) = 0;
};

}  // namespace remora
