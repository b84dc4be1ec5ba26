// IpEndpoint: an IP address and a UDP or TCP port. The address has the form of a gid: IPv4 is
// mapped into IPv6 (::ffff:a.b.c.d), as RoCE has it.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/socket_address.h"
#include "fabric/types.h"

namespace remora::fabric::nic::roce {

struct IpEndpoint {
  Gid address{};
  std::uint16_t port = 0;

  bool is_v4() const;
  bool is_any() const;  // 0.0.0.0 or ::
  friend bool operator==(const IpEndpoint&, const IpEndpoint&) = default;
};

// The address of a number such as 127.0.0.1, ::1 or ::ffff:127.0.0.1. Names are not looked up.
Result<Gid> parse_address(std::string_view text);
// The endpoint of HOST, HOST:PORT or [HOST]:PORT; a name is looked up, which may block. Port 4791
// unless it is given.
Result<IpEndpoint> look_up(std::string_view text);
// "10.0.0.1", "fe80::1"
std::string address_text(const Gid& address);
// "10.0.0.1:4791", "[fe80::1]:4791"
std::string to_string(const IpEndpoint& endpoint);

// As the system has it.
SocketAddress socket_address(const IpEndpoint& endpoint);
// Any other family gives an empty one.
IpEndpoint endpoint_of(const sockaddr_storage& storage);

}  // namespace remora::fabric::nic::roce
