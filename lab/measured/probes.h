// What a calibration measures: verbs between two processes, and what one processor does by itself.
// Times are in ns, and of verbs the medians.
#pragma once

#include <cstdint>

#include "lab/measured/calibrate.h"

namespace remora::lab {

inline constexpr std::uint64_t small_bytes = 64;
inline constexpr std::uint64_t large_bytes = 4096;
inline constexpr std::uint64_t deep = 16;  // operations in flight, where there are several

struct Verbs {
  double write_small_ns = 0;  // from the post to the poll that finds it completed
  double write_large_ns = 0;
  double read_small_ns = 0;
  double read_large_ns = 0;
  double write_each_ns = 0;  // small ones, several in flight
  double post_ns = 0;        // of that, what the call to post takes
  double poll_ns = 0;        // and the poll that finds it
  double flow_ns = 0;        // a WRITE of 64 B that a flow waits for
  double echo_ns = 0;        // a call to a service that does nothing
  bool by_initiator = false;
};

Result<Verbs> measure_verbs(const CalibrationOptions& options);

struct Handling {
  double crc_kb_ns = 0;
  double copy_kb_ns = 0;
  double line_ns = 0;  // dirty
  double clean_line_ns = 0;
  double fence_ns = 0;
  double index_ns = 0;  // a load of some place in an index
  double store_ns = 0;  // of a line that comes next
  double write_bytes_per_s = 0;
  double read_bytes_per_s = 0;
  double syscall_ns = 0;
};

// On the processor where a server is.
Result<Handling> measure_handling();

}  // namespace remora::lab
