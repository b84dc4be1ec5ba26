// The worlds of libibverbs devices. In one, near and far open the same device, and what they send
// each other passes through it; in the other, far is the device of another machine.
#pragma once

#include <memory>
#include <string>

#include "fabric/verbs/verbs_device.h"
#include "tests/fabric/far_machine.h"
#include "tests/fabric/world.h"

namespace remora::fabric::contract {

// Far's memory is the device DAX at this path, or memory of the process when there is none.
std::unique_ptr<World> make_verbs_world(const verbs::VerbsOptions& options,
                                        const std::string& dax_path);

// Far is what the agent has that is talked to. Options are near's; of them, how to flush is far's
// too.
std::unique_ptr<World> make_two_machines_world(const verbs::VerbsOptions& options, FarTalk& talk);

}  // namespace remora::fabric::contract
