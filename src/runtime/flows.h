// Flows: the detached tasks of a loop, or of one simulated host. Each is kept until it finishes;
// then its memory is freed by itself. One thread.
#pragma once

#include <coroutine>
#include <cstddef>

#include "runtime/intrusive_list.h"
#include "runtime/task.h"

namespace remora {

class Flows {
 public:
  Flows() = default;
  Flows(const Flows&) = delete;
  Flows& operator=(const Flows&) = delete;
  // Every flow must have finished or been abandoned.
  ~Flows();

  // Keeps the task until it finishes. One that has finished already is freed here.
  void keep(Task<void> task);

  // How many have not finished.
  std::size_t size() const { return size_; }

  // The power is gone: destroys every flow where it is suspended, in the order in which they were
  // kept. No flow runs on, but the destructors of their locals run (see abandon.h). Not to be
  // called from inside one of the flows.
  void abandon();

 private:
  // The coroutine that waits for one task and frees itself.
  struct Keeper {
    struct promise_type : FramePromise, ListHook {
      promise_type(Flows& flows, Task<void>&) : flows_(flows) {
        flows.keepers_.push_back(*this);
        ++flows.size_;
      }
      promise_type(const promise_type&) = delete;
      promise_type& operator=(const promise_type&) = delete;
      ~promise_type() { --flows_.size_; }

      Keeper get_return_object() noexcept { return {}; }
      std::suspend_never final_suspend() noexcept { return {}; }
      void return_void() noexcept {}

     private:
      Flows& flows_;
    };
  };
  static Keeper wait_for(Flows& flows, Task<void> task);

  IntrusiveList<Keeper::promise_type> keepers_;
  std::size_t size_ = 0;
};

}  // namespace remora
