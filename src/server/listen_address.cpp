#include "server/listen_address.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>

#include <charconv>
#include <cstring>
#include <string>

namespace remora::server {

Result<ListenAddress> parse_listen_address(std::string_view text) {
  const Status wrong(Code::invalid_argument,
                     fmt::format("'{}' is no place to listen; write an address and a port, such as "
                                 "127.0.0.1:9464 or [::1]:9464",
                                 text));
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) {
    return wrong;
  }
  std::string host(text.substr(0, colon));
  const std::string_view port_text = text.substr(colon + 1);
  std::uint16_t port = 0;
  const auto [stopped, error] =
      std::from_chars(port_text.data(), port_text.data() + port_text.size(), port);
  if (error != std::errc() || stopped != port_text.data() + port_text.size()) {
    return wrong;
  }
  ListenAddress address;
  if (host.starts_with('[') && host.ends_with(']')) {
    sockaddr_in6 six = {};
    six.sin6_family = AF_INET6;
    six.sin6_port = htons(port);
    if (inet_pton(AF_INET6, host.substr(1, host.size() - 2).c_str(), &six.sin6_addr) != 1) {
      return wrong;
    }
    std::memcpy(&address.storage, &six, sizeof six);
    address.size_bytes = sizeof six;
    return address;
  }
  sockaddr_in four = {};
  four.sin_family = AF_INET;
  four.sin_port = htons(port);
  if (inet_pton(AF_INET, host.c_str(), &four.sin_addr) != 1) {
    return wrong;
  }
  std::memcpy(&address.storage, &four, sizeof four);
  address.size_bytes = sizeof four;
  return address;
}

}  // namespace remora::server
