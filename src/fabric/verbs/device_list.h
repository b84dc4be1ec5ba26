// The RDMA devices of this machine, as libibverbs lists them.
#pragma once

#include <infiniband/verbs.h>

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"

namespace remora::fabric::verbs {

struct CloseContext {
  void operator()(ibv_context* context) const { ibv_close_device(context); }
};
using OpenContext = std::unique_ptr<ibv_context, CloseContext>;

// Their names; none on a machine without.
std::vector<std::string> device_names();

// Opens the one of this name, or the first with an active port (the first of all, if none has one).
// Fails with unsupported on a machine without a device, and says how to make one; with not_found
// when there are devices and none has this name.
Result<OpenContext> open_device(const std::string& name);

// The first of its ports that is active; 0 when none is.
std::uint8_t active_port(ibv_context* context);

// What a machine without a device answers.
Status no_device();

}  // namespace remora::fabric::verbs
