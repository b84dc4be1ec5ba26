// Where a TCP front end listens, as people write it: "127.0.0.1:9464", "[::1]:9464".
#pragma once

#include <sys/socket.h>

#include <string_view>

#include "base/result.h"

namespace remora::server {

struct ListenAddress {
  sockaddr_storage storage = {};
  socklen_t size_bytes = 0;
};

// Numbers alone, no names to be looked up; the port may be 0 for any. Fails with invalid_argument.
Result<ListenAddress> parse_listen_address(std::string_view text);

}  // namespace remora::server
