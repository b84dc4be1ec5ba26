#include "runtime/runtime.h"

#include <fmt/format.h>

#include "base/check.h"

namespace remora {

std::string_view to_string(RunState state) {
  switch (state) {
    case RunState::running:
      return "running";
    case RunState::finished:
      return "finished";
    case RunState::stalled:
      return "stalled";
    case RunState::exhausted:
      return "exhausted";
  }
  return "unknown";
}

Runtime::~Runtime() = default;

Runtime::Running::Running(Runtime& runtime) : running_(runtime.running_) {
  REMORA_CHECK(!running_, "the loop was run from inside one of its flows or pollers");
  running_ = true;
}

void Runtime::require_finished(RunState state) const {
  if (state == RunState::finished) {
    return;
  }
  const std::string why = fmt::format(
      "{} ({})",
      state == RunState::stalled ? "deadlock: a flow waits and nothing is scheduled that could help"
                                 : "runaway: the event budget is spent and the flow goes on",
      describe());
  check_failed(__FILE__, __LINE__, "block_on", why.c_str());
}

}  // namespace remora
