// For the tests of this layer: the shortest flows of each kind.
#pragma once

#include <cstdint>

#include "runtime/event.h"
#include "runtime/runtime.h"
#include "runtime/task.h"

namespace remora {

inline Task<int> immediate(int value) {
  co_return value;
}
inline Task<void> wait_for(Event& event) {
  co_await event;
}
inline Task<void> nap(Runtime& runtime, std::uint64_t span_ns) {
  co_await runtime.sleep_for(span_ns);
}

}  // namespace remora
