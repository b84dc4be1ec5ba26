// How two programs of the ping-pong kind introduce their queue pairs to each other: over TCP, in
// the words of ibv_rc_pingpong (introduction.h), the client first; then the client says "done",
// with its zero, and both hang up.
//
// Blocks, for as long as a person would wait at most.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/result.h"
#include "cli/nic_pingpong/introduction.h"
#include "fabric/queue_pair.h"

namespace remora::cli {

inline constexpr std::uint16_t pingpong_port = 18515;

// Called with the client's address before the server answers: from then on packets may come.
using Connect = std::function<Status(const fabric::QueuePairAddress&)>;

// Waits for one client at this port of all addresses.
Status serve_introduction(std::uint16_t port, const fabric::QueuePairAddress& own,
                          const Connect& connect);
// Asks the server at this host, a name or an address.
Result<fabric::QueuePairAddress> ask_introduction(const std::string& host, std::uint16_t port,
                                                  const fabric::QueuePairAddress& own);

}  // namespace remora::cli
