// remora top: what a running store does, again and again: rates, how far it is from being full, and
// what went wrong.
#pragma once

#include <cstdint>
#include <string>

#include "cli/product/connection.h"

namespace remora::cli {

struct TopArguments {
  std::uint64_t interval_ms = 1000;
  std::uint64_t times = 0;  // 0: until it is interrupted
  std::string color = "auto";
};

int top_command(const ConnectArguments& where, const TopArguments& arguments);

}  // namespace remora::cli
