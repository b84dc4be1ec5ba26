#include "runtime/flows.h"

#include <utility>

#include "base/check.h"

namespace remora {

Flows::~Flows() {
  REMORA_CHECK(size_ == 0, "a loop was destroyed while spawned tasks are unfinished");
}

void Flows::keep(Task<void> task) {
  REMORA_CHECK(task.valid(), "spawned a Task that holds none");
  if (!task.finished()) {
    wait_for(*this, std::move(task));
  }
}

void Flows::abandon() {
  const AbandonScope scope;
  while (!keepers_.empty()) {
    std::coroutine_handle<Keeper::promise_type>::from_promise(keepers_.front()).destroy();
  }
}

Flows::Keeper Flows::wait_for(Flows&, Task<void> task) {
  co_await task;
}

}  // namespace remora
