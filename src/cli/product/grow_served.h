// remora pool grow, of a pool that somebody serves: its server makes it larger, and goes on.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace remora::cli {

struct GrowServedArguments {
  std::string path;
  std::string socket;  // empty: next to the pool
  std::string token;
  std::uint64_t size_bytes = 0;
  bool json = false;
};

// `in_use` says who has the pool, for where no server of it can be found.
int grow_served(const GrowServedArguments& arguments, const Status& in_use);

}  // namespace remora::cli
