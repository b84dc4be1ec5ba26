#include "base/check.h"

#include <cstdio>
#include <cstdlib>

#include "base/lost_memory.h"

namespace remora {
namespace {

// That of the command for a machine or a file that cannot serve.
constexpr int status_of_lost_memory = 3;

}  // namespace

void check_failed(const char* file, int line, const char* condition, const char* why) {
  // An invariant of what the pool held says nothing of zeros that stand for what is gone.
  if (any_memory_lost()) {
    std::fprintf(stderr, "remora: %.*s\n", static_cast<int>(lost_memory_failure().message().size()),
                 lost_memory_failure().message().data());
    std::_Exit(status_of_lost_memory);
  }
  std::fprintf(stderr, "remora: internal error at %s:%d: %s (%s)\n", file, line, why, condition);
  std::abort();
}

}  // namespace remora
