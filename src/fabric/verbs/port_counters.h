// What a port counted, as the kernel shows it below /sys/class/infiniband.
#pragma once

#include <cstdint>
#include <string>

#include "fabric/device.h"

namespace remora::fabric::verbs {

// `port_folder` is /sys/class/infiniband/DEVICE/ports/PORT. Counts that the device does not have
// are 0. They are the port's: all processes and queue pairs together, since the kernel made it.
DeviceCounters read_port_counters(const std::string& port_folder);

}  // namespace remora::fabric::verbs
