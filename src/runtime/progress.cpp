#include "runtime/progress.h"

#include <fmt/core.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

namespace remora {
namespace {

constexpr std::chrono::milliseconds terminal_pause(100);
constexpr std::chrono::seconds log_pause(10);

}  // namespace

Progress::Progress(std::string what, std::string unit, std::uint64_t total)
    : what_(std::move(what)),
      unit_(std::move(unit)),
      total_(total),
      terminal_(isatty(STDERR_FILENO) != 0),
      last_(Clock::now()) {}

Progress::~Progress() {
  if (shown_ && terminal_) {
    fmt::print(stderr, "\r\033[K");
  }
}

void Progress::show(std::uint64_t reached) {
  const Clock::time_point now = Clock::now();
  if (now - last_ < (terminal_ ? Clock::duration(terminal_pause) : Clock::duration(log_pause))) {
    return;
  }
  last_ = now;
  shown_ = true;
  fmt::print(stderr, "{}{}: {} of {} {}{}", terminal_ ? "\r\033[K" : "", what_, reached, total_,
             unit_, terminal_ ? "" : "\n");
  std::fflush(stderr);
}

}  // namespace remora
