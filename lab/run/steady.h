// Steady: when a run has come to stand still. Its operations are looked at in windows of so many.
// It is steady when in several windows, one after the other, neither the rate differed from that of
// the window before by more than one part in twenty, nor did what waits to be made persistent grow
// or shrink by more than one for twenty operations. A burst, which only piles up work, never is.
#pragma once

#include <cstdint>

namespace remora::store_bench {

struct SteadyRule {
  std::uint64_t window = 0;  // operations; 0: by the number of those in flight
  // After so many operations the run is measured as it is, and called a burst.
  std::uint64_t limit = 30'000;
};

// The window that a rule has for so many operations in flight and so many to be measured.
std::uint64_t window_of(const SteadyRule& rule, std::uint64_t in_flight);

class Steady {
 public:
  // A window of `operations` has ended. Returns whether the run is steady now.
  bool ended(std::uint64_t operations, std::uint64_t span_ns, std::uint64_t backlog);

 private:
  double rate_ = 0;  // of the window before
  std::uint64_t backlog_ = 0;
  int alike_ = 0;
};

// A closed loop, in the time that it was measured.
struct ClosedLoop {
  std::uint64_t in_flight = 0;
  std::uint64_t span_ns = 0;
  double ended_ns = 0;          // the latencies of those that ended then, all together
  std::uint64_t before_ns = 0;  // what they had taken before it began
  std::uint64_t after_ns = 0;   // what those have taken that were under way when it ended
};

// Clients that each wait for their operation: they are as many as rate times latency gives
// (Little's law), within two parts in a hundred. Else somebody idled, or was counted twice.
bool keeps_littles_law(const ClosedLoop& loop);

}  // namespace remora::store_bench
