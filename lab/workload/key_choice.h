// KeyChoice: which key the next operation of a client touches. It never names a key that is neither
// loaded nor acknowledged as inserted; whether it was deleted since, it does not know.
//
// With one client, or clients that insert at the same pace, the distribution is exactly what is
// asked for. Where a client lags, keys that it would have are replaced by loaded ones.
//
// Threads: one at a time, and others may insert meanwhile. Nothing allocates or blocks.
#pragma once

#include <cstdint>

#include "base/random.h"
#include "lab/workload/inserts.h"
#include "lab/workload/scatter.h"
#include "lab/workload/workload.h"
#include "lab/workload/zipfian.h"

namespace remora::workload {

class KeyChoice {
 public:
  // The Inserts must outlive it.
  KeyChoice(const Distribution& distribution, const Inserts& inserts);

  std::uint64_t draw(Random& random);

 private:
  std::uint64_t by_age(std::uint64_t rank, std::uint64_t inserted) const;

  const Inserts* inserts_;
  Choice choice_;
  Zipfian zipfian_;
  Scatter scatter_;
};

}  // namespace remora::workload
