// The groups of claims that `micro` measures. Each function measures one group, blocks until all
// its rounds are over, and fails only when the machine or the path cannot serve it.
#pragma once

#include <string>

#include "base/result.h"
#include "bench/claim.h"
#include "bench/program.h"

namespace remora::bench {

struct MicroOptions : RunOptions {
  std::string path = ".";  // a folder on the disk that commits are measured on
};

// The rounds and the slice of a group whose operations never sleep.
Plan memory_plan(const MicroOptions& options);
// The same for a group that waits for a disk, each side with its own cost.
Plan disk_plan(const MicroOptions& options);

// Region::persist after a memcpy, and Region::copy, on plain memory.
Result<Claims> measure_persist(const MicroOptions& options);
Result<Claims> measure_copy(const MicroOptions& options);

// crc32c on bytes in the cache.
Result<Claims> measure_crc(const MicroOptions& options);

// Threads that wait for group commits of a file on options.path.
Result<Claims> measure_commit(const MicroOptions& options);
// Whether that path is a folder on a disk in which files can be made.
Status check_commit(const MicroOptions& options);

// Opening pools of different sizes and fillings, in memory.
Result<Claims> measure_recovery(const MicroOptions& options);

}  // namespace remora::bench
