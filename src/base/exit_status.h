// What the exit status of Remora's programs means. Scripts rely on it.
#pragma once

#include "base/result.h"

namespace remora {

inline constexpr int exit_kept = 0;         // every promise that was checked was kept
inline constexpr int exit_broken = 1;       // one was broken
inline constexpr int exit_usage = 2;        // the program was not used as it can be
inline constexpr int exit_environment = 3;  // this machine or this file cannot serve

// The status for a failure: the user's choice was wrong, or the environment cannot serve it.
constexpr int exit_for(Code code) {
  switch (code) {
    case Code::ok:
      return exit_kept;
    case Code::invalid_argument:
    case Code::not_found:
    case Code::already_exists:
      return exit_usage;
    default:
      return exit_environment;
  }
}

}  // namespace remora
