// A full fence between processes that costs one side nothing. Who passes often keeps only the
// compiler from reordering (light_fence). Who passes seldom makes the system run a full fence in
// every process that takes part, wherever it is at that moment (heavy_fence): so of the two, one
// store by each and then a load of what the other stored, at least one sees the other's.
//
// A full fence of the processor's own would wait until all stores before it have left, and those of
// an earlier request to cold memory take a hundred nanoseconds and more.
#pragma once

#include <atomic>

namespace remora::fabric::nic::mapped {

// Takes part from here on; false when the system cannot do this, or does not let this process. The
// first call tells the system, later ones are quick.
bool takes_part_in_fences();

inline void light_fence() {
  std::atomic_signal_fence(std::memory_order_seq_cst);
}

// Requires that takes_part_in_fences() said true.
void heavy_fence();

}  // namespace remora::fabric::nic::mapped
