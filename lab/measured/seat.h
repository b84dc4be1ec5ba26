// Seat: keeps the calling thread on one processor, so that two sides that look for each other's
// words never wait for the same one.
#pragma once

#include <sched.h>

#include <cstddef>
#include <string_view>
#include <vector>

namespace remora::lab {

// Those that the calling thread may use, in their order.
std::vector<std::size_t> usable_processors();

// Where the two sides of a measurement run.
enum class Placement {
  apart,     // each on a processor of its own
  together,  // both on one
};
constexpr std::string_view to_string(Placement placement) {
  return placement == Placement::apart ? "apart" : "together";
}
// The number of the seat that the initiating side takes, where the other has the first one.
constexpr unsigned initiating_seat(Placement placement) {
  return placement == Placement::apart ? 1 : 0;
}

class Seat {
 public:
  // On the processor of that number among the usable ones, counted round. Where there is one, or
  // the system refuses, nothing changes: it is only slower elsewhere.
  explicit Seat(unsigned number);
  Seat(const Seat&) = delete;
  Seat& operator=(const Seat&) = delete;
  // By the thread that took it: it may go where it might before.
  ~Seat();

 private:
  cpu_set_t before_;
  bool taken_ = false;
};

}  // namespace remora::lab
