// FLUSH on Linux's rxe where libibverbs has no call for it (before 45). The send queue of an rxe
// queue pair is memory that the process shares with the kernel, and the layout of its entries is
// the kernel's own interface (rdma/rdma_user_rxe.h): an ATOMIC WRITE that libibverbs has put there,
// and not yet handed over, is turned into a FLUSH.
//
// Taken only where native FLUSH is asked for, since Linux 6.12's rxe does not repeat a FLUSH as it
// was: one that gets lost breaks the queue pair.
//
// For queue pairs that were made with ATOMIC WRITE, of the device that is_rxe tells, and no other:
// what a device of hardware maps must not even be read.
#pragma once

#include <infiniband/verbs.h>

#include <cstddef>
#include <optional>

#include "fabric/work.h"

namespace remora::fabric::verbs {

// Whether this is the kernel's rxe.
bool is_rxe(const ibv_device_attr& attributes);

class RxeRing {
 public:
  // The send queue of this queue pair. Nothing when it does not look as expected, which a kernel of
  // another age may bring about; then there is no FLUSH by this way.
  static std::optional<RxeRing> find(ibv_qp_ex* pair);

  // Between ibv_wr_atomic_write and ibv_wr_complete: the request is a FLUSH now.
  void turn_into_flush(const SendWork& work) const;

 private:
  explicit RxeRing(std::byte* queue) : queue_(queue) {}

  std::byte* queue_;
};

}  // namespace remora::fabric::verbs
