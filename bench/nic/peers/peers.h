// Other people's one-sided transfers between two processes of one host, through their public
// interfaces, as contenders. A peer that was not there when this was built says which package
// brings it.
#pragma once

#include <memory>

#include "base/result.h"
#include "bench/nic/contender.h"

namespace remora::bench {

// libfabric's shm provider: FI_EP_RDM, fi_write and fi_read, delivery complete.
Result<std::unique_ptr<Contender>> start_libfabric_shm(int far_core);
// The same over TCP on loopback: its provider tcp under rxm.
Result<std::unique_ptr<Contender>> start_libfabric_tcp(int far_core);

// UCX at its lowest layer, UCT, where a put costs least. posix: plain memcpy into mapped memory,
// which checks nothing. cma: process_vm_writev and process_vm_readv.
Result<std::unique_ptr<Contender>> start_ucx_posix(int far_core);
Result<std::unique_ptr<Contender>> start_ucx_cma(int far_core);
// tcp on loopback: its puts alone, since it has no gets.
Result<std::unique_ptr<Contender>> start_ucx_tcp(int far_core);

}  // namespace remora::bench
