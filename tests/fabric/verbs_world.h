// The world of a libibverbs device that talks to itself: near and far open the same device, and
// what they send each other passes through it.
#pragma once

#include <memory>
#include <string>

#include "fabric/verbs/verbs_device.h"
#include "tests/fabric/world.h"

namespace remora::fabric::contract {

// Far's memory is the device DAX at this path, or memory of the process when there is none.
std::unique_ptr<World> make_verbs_world(const verbs::VerbsOptions& options,
                                        const std::string& dax_path);

}  // namespace remora::fabric::contract
