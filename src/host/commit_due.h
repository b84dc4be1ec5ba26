// CommitDue: when changes are to be committed that nobody waits for yet: at the time that is
// planned for them, or as soon as somebody needs them. Meanwhile others join them.
//
// One thread, the loop's. One flow awaits it; the runtime outlives it.
#pragma once

#include <algorithm>
#include <cstdint>

#include "runtime/runtime.h"
#include "runtime/task.h"

namespace remora {

class CommitDue {
 public:
  explicit CommitDue(Runtime& runtime) : runtime_(runtime) {}

  // Somebody needs what has been changed until now, at that time at the latest; `needed` means that
  // somebody waits. Of several times the earliest counts.
  void needed_by(std::uint64_t at_ns) {
    if (at_ns < at_ns_) {
      at_ns_ = at_ns;
      if (pause_ != nullptr) {
        pause_->cancel();
      }
    }
  }
  void needed() { needed_by(0); }

  // Ends at the planned time, or when somebody needs it before. After that nobody does.
  Task<void> come(std::uint64_t planned_ns) {
    for (;;) {
      const std::uint64_t due_ns = std::min(at_ns_, planned_ns);
      if (due_ns <= runtime_.now_ns()) {
        break;
      }
      Sleep pause = runtime_.sleep_until(due_ns);
      pause_ = &pause;
      co_await pause;
      pause_ = nullptr;
    }
    at_ns_ = never_ns;
  }

 private:
  Runtime& runtime_;
  std::uint64_t at_ns_ = never_ns;
  Sleep* pause_ = nullptr;
};

}  // namespace remora
