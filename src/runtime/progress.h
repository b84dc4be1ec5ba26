// A line on standard error that tells how far a long command is. On a terminal it is rewritten in
// place; elsewhere it appears once every few seconds.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace remora {

class Progress {
 public:
  // "crash pool: 1234 of 20000 runs"
  Progress(std::string what, std::string unit, std::uint64_t total);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void show(std::uint64_t reached);

 private:
  using Clock = std::chrono::steady_clock;

  const std::string what_;
  const std::string unit_;
  const std::uint64_t total_;
  const bool terminal_;
  Clock::time_point last_;
  bool shown_ = false;
};

}  // namespace remora
