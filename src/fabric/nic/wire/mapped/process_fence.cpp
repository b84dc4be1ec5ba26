#include "fabric/nic/wire/mapped/process_fence.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/check.h"

namespace remora::fabric::nic::mapped {
namespace {

long membarrier(int command) {
  return ::syscall(SYS_membarrier, command, 0U, 0);
}

}  // namespace

bool takes_part_in_fences() {
  static const bool takes_part = [] {
    const long commands = membarrier(MEMBARRIER_CMD_QUERY);
    constexpr long needed =
        MEMBARRIER_CMD_GLOBAL_EXPEDITED | MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED;
    return commands > 0 && (commands & needed) == needed &&
           membarrier(MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED) == 0;
  }();
  return takes_part;
}

void heavy_fence() {
  REMORA_CHECK(membarrier(MEMBARRIER_CMD_GLOBAL_EXPEDITED) == 0, "a fence that worked fails");
}

}  // namespace remora::fabric::nic::mapped
