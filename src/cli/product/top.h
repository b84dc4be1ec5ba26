// remora top: the counters of a running store, again and again, with what changed per second.
#pragma once

#include <cstdint>

#include "cli/product/connection.h"

namespace remora::cli {

struct TopArguments {
  std::uint64_t interval_ms = 1000;
  std::uint64_t times = 0;  // 0: until it is interrupted
};

int top_command(const ConnectArguments& where, const TopArguments& arguments);

}  // namespace remora::cli
