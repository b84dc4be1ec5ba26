// The echo of a message: a call of the RPC that stores are made of, to a service that does nothing.
// Measured between two processes on this machine, and modelled.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "fabric/nic/wire/sim/profile.h"
#include "lab/measured/nic/side.h"
#include "runtime/poll_loop.h"

namespace remora::lab {

inline constexpr std::uint32_t echo_bytes = 64;  // of the request; the reply has 16

// The target's part, made in its process: answers the first caller that introduces itself.
std::shared_ptr<void> serve_echo(Runtime& runtime, Side& side);

// The median latency in ns of so many calls to a target that has the part above, one by one; the
// least of several goes'.
Result<double> measure_echo(PollLoop& loop, Side& side, std::uint64_t calls, int goes);

// The same in the model.
Result<double> model_echo(const fabric::nic::sim::Profile& profile, std::uint64_t calls);

}  // namespace remora::lab
