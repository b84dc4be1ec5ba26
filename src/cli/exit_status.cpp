#include "cli/exit_status.h"

#include <fmt/core.h>

#include <cstdio>

namespace remora::cli {

int fail(const Status& status) {
  fmt::print(stderr, "remora: {}\n", status.message());
  return exit_for(status.code());
}

}  // namespace remora::cli
