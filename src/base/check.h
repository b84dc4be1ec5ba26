// REMORA_CHECK: an invariant that must hold, in every build. A broken one is a bug in Remora, never
// a reaction to input: it prints where and what, and aborts. Expected failures are a Status.
// Where memory was lost that the program reads (lost_memory.h), that is the reason: it says so, and
// ends with status 3.
#pragma once

namespace remora {

// Prints the message to standard error and aborts.
[[noreturn]] void check_failed(const char* file, int line, const char* condition, const char* why);

}  // namespace remora

#define REMORA_CHECK(condition, why)                               \
  do {                                                             \
    if (!(condition)) [[unlikely]] {                               \
      ::remora::check_failed(__FILE__, __LINE__, #condition, why); \
    }                                                              \
  } while (false)
