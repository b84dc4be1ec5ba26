// What durable call designs say of themselves, for all that lists systems.
#pragma once

#include "base/descriptor.h"

namespace remora::rpc::calls {

extern const Descriptor wflush_rpc;
extern const Descriptor w_rflush_rpc;

}  // namespace remora::rpc::calls
