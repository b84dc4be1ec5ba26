// The MTU of RoCE: the payload bytes of one packet, 256, 512, 1024, 2048 or 4096, all but the last
// of a message having exactly so many. Both sides of a link need the same, and the largest packets
// must pass the way between them, in either direction, since fragments are forbidden.
//
// Any thread; no state.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "fabric/types.h"

namespace remora::fabric::nic::roce {

bool is_roce_mtu(std::uint32_t bytes);
// The largest that IP packets of this size can carry; 0 when it is too small for any.
std::uint32_t roce_mtu(std::uint32_t ip_mtu_bytes);

// By the interface that has this address: not_found when none has it.
Result<std::uint32_t> interface_mtu_of(const Gid& address);
// By what the system knows at this moment of the way that a connected socket takes to its peer: its
// interface, its route, and what routers have said. The largest when it tells nothing.
Result<std::uint32_t> path_mtu_of(int socket);

// What both sides can carry: this one so much, the peer what it says. invalid_argument when that is
// no MTU of RoCE.
Result<std::uint32_t> agreed_mtu(std::uint32_t own_bytes, std::uint32_t said_bytes);

}  // namespace remora::fabric::nic::roce
