#include "base/socket_address.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>

#include <array>
#include <charconv>
#include <cstring>

namespace remora {
namespace {

// The two kinds are read through copies: nobody knows what the storage was written as.
template <typename T>
T as(const SocketAddress& address) {
  T plain;
  std::memcpy(&plain, &address.storage, sizeof plain);
  return plain;
}

template <typename T>
SocketAddress from(const T& plain) {
  SocketAddress address;
  std::memcpy(&address.storage, &plain, sizeof plain);
  address.size_bytes = sizeof plain;
  return address;
}

}  // namespace

std::optional<SocketAddress> SocketAddress::of(const std::string& host, std::uint16_t port) {
  sockaddr_in four = {};
  four.sin_family = AF_INET;
  four.sin_port = htons(port);
  if (::inet_pton(AF_INET, host.c_str(), &four.sin_addr) == 1) {
    return from(four);
  }
  sockaddr_in6 six = {};
  six.sin6_family = AF_INET6;
  six.sin6_port = htons(port);
  if (::inet_pton(AF_INET6, host.c_str(), &six.sin6_addr) == 1) {
    return from(six);
  }
  return std::nullopt;
}

Result<SocketAddress> SocketAddress::parse(std::string_view text) {
  const Status wrong(Code::invalid_argument,
                     fmt::format("'{}' is no place to listen; write an address and a port, such as "
                                 "127.0.0.1:9464 or [::1]:9464",
                                 text));
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) {
    return wrong;
  }
  std::string_view host = text.substr(0, colon);
  const std::string_view port_text = text.substr(colon + 1);
  std::uint16_t port = 0;
  const auto [stopped, error] =
      std::from_chars(port_text.data(), port_text.data() + port_text.size(), port);
  if (error != std::errc() || stopped != port_text.data() + port_text.size()) {
    return wrong;
  }
  const bool bracketed = host.starts_with('[') && host.ends_with(']');
  if (bracketed) {
    host = host.substr(1, host.size() - 2);
  }
  const std::optional<SocketAddress> address = of(std::string(host), port);
  if (!address || bracketed != (address->family() == AF_INET6)) {
    return wrong;
  }
  return *address;
}

std::uint16_t SocketAddress::port() const {
  return ntohs(family() == AF_INET6 ? as<sockaddr_in6>(*this).sin6_port
                                    : as<sockaddr_in>(*this).sin_port);
}

std::string SocketAddress::host() const {
  std::array<char, INET6_ADDRSTRLEN> text = {};
  if (family() == AF_INET6) {
    const in6_addr six = as<sockaddr_in6>(*this).sin6_addr;
    ::inet_ntop(AF_INET6, &six, text.data(), text.size());
  } else {
    const in_addr four = as<sockaddr_in>(*this).sin_addr;
    ::inet_ntop(AF_INET, &four, text.data(), text.size());
  }
  return text.data();
}

std::string SocketAddress::text() const {
  return family() == AF_INET6 ? fmt::format("[{}]:{}", host(), port())
                              : fmt::format("{}:{}", host(), port());
}

}  // namespace remora
