// Stage: two cores, of which this process has the near one and the contenders' targets share the
// far one. Only the target whose turn it is runs there; all others are held, since two that poll
// would halve each other's speed. Measuring takes turns as in measure.h, by a clock that stands
// still while the far core changes hands.
//
// One thread. A failure of a contender ends its measurement with that failure.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "bench/claim.h"
#include "bench/measure.h"
#include "bench/nic/contender.h"
#include "bench/nic/ping_pong.h"

namespace remora::bench {

class Stage {
 public:
  // Fails where there are not two cores to run on. Pins this process to the first.
  static Result<std::unique_ptr<Stage>> create();

  int near_core() const { return near_core_; }
  int far_core() const { return far_core_; }

  // Holds whoever has the far core, so that another target can be started there.
  void clear() { give_far_core_to(0); }
  // The target of this contender has just been started: from now on it is held when it is not its
  // turn, also if this fails. The contender is destroyed after the last measurement, or before any.
  // Its bytes are checked to arrive.
  Status admit(Contender& contender);

  // A side of a measurement: a contender, or something that needs the near core alone.
  Side side(Contender& contender, const Shape& shape);
  Side alone(Side bare);

  struct Series {
    std::vector<std::vector<double>> each_ns;  // for each side, one operation in each round
    Spread round_trip_before_ns;               // of a cache line between the two cores
    Spread round_trip_after_ns;
  };
  // Interleaves the sides.
  Result<Series> measure(const std::vector<Side>& sides, const Plan& plan);

  // A cache line between the cores and back.
  Result<Spread> round_trip_ns();

 private:
  Stage(int near_core, int far_core) : near_core_(near_core), far_core_(far_core) {}
  void give_far_core_to(pid_t process);
  std::uint64_t clock_ns() const { return now_ns() - excluded_ns_; }

  const int near_core_;
  const int far_core_;
  std::unique_ptr<PingPong> ping_pong_;
  pid_t running_ = 0;  // who has the far core; 0: nobody
  std::uint64_t excluded_ns_ = 0;
  Status failure_;
};

// Compares two sides of a measurement, and tells the state of the cores beside it.
Claim compare(Wording wording, const Stage::Series& series, std::size_t obtained,
              std::size_t limit);

}  // namespace remora::bench
