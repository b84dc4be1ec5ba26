#include "base/socket_address.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <system_error>

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

Status no_place(std::string_view text) {
  return Status(Code::invalid_argument,
                fmt::format("'{}' is not an address to listen at; write an address or a name, and "
                            "a port, such as 127.0.0.1:9464, [::1]:9464 or localhost:9464",
                            text));
}

struct HostAndPort {
  std::string host;
  std::uint16_t port = 0;
  bool bracketed = false;  // as IPv6 is, which has colons itself
};

std::optional<HostAndPort> split(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) {
    return std::nullopt;
  }
  HostAndPort parts;
  std::string_view host = text.substr(0, colon);
  const std::string_view port = text.substr(colon + 1);
  const auto [stopped, error] = std::from_chars(port.data(), port.data() + port.size(), parts.port);
  if (error != std::errc() || stopped != port.data() + port.size()) {
    return std::nullopt;
  }
  parts.bracketed = host.starts_with('[') && host.ends_with(']');
  if (parts.bracketed) {
    host = host.substr(1, host.size() - 2);
  }
  parts.host = host;
  return parts;
}

std::optional<SocketAddress> numbers_of(const HostAndPort& parts) {
  const std::optional<SocketAddress> address = SocketAddress::of(parts.host, parts.port);
  return address && parts.bracketed == (address->family() == AF_INET6) ? address : std::nullopt;
}

// What is no number and could be a name: letters, digits, dots, hyphens, and not digits and dots
// alone, which is an address with a mistake in it.
bool could_be_name(const HostAndPort& parts) {
  constexpr std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
  return !parts.bracketed && parts.host.find_first_not_of(plain) == std::string::npos &&
         parts.host.find_first_not_of("0123456789.") != std::string::npos;
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
  const std::optional<HostAndPort> parts = split(text);
  const std::optional<SocketAddress> address = parts ? numbers_of(*parts) : std::nullopt;
  return address ? Result<SocketAddress>(*address) : no_place(text);
}

Status SocketAddress::check_form(std::string_view text) {
  const std::optional<HostAndPort> parts = split(text);
  return parts && (numbers_of(*parts) || could_be_name(*parts)) ? Status() : no_place(text);
}

Result<SocketAddress> SocketAddress::look_up(std::string_view text) {
  const std::optional<HostAndPort> parts = split(text);
  if (!parts || !could_be_name(*parts)) {
    return parse(text);
  }
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_ADDRCONFIG;  // no IPv6 where the machine has none
  addrinfo* list = nullptr;
  if (const int error = ::getaddrinfo(parts->host.c_str(), nullptr, &hints, &list); error != 0) {
    return look_up_failure(parts->host, error);
  }
  SocketAddress address;
  std::memcpy(&address.storage, list->ai_addr, list->ai_addrlen);
  ::freeaddrinfo(list);
  return *of(address.host(), parts->port);
}

std::uint16_t SocketAddress::port() const {
  return ntohs(family() == AF_INET6 ? as<sockaddr_in6>(*this).sin6_port
                                    : as<sockaddr_in>(*this).sin_port);
}

bool SocketAddress::is_loopback() const {
  constexpr std::uint32_t loopback_net = 127;
  if (family() == AF_INET) {
    return ntohl(as<sockaddr_in>(*this).sin_addr.s_addr) >> 24 == loopback_net;
  }
  const in6_addr six = as<sockaddr_in6>(*this).sin6_addr;
  return IN6_IS_ADDR_LOOPBACK(&six) ||
         (IN6_IS_ADDR_V4MAPPED(&six) && six.s6_addr[12] == loopback_net);
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

Status look_up_failure(std::string_view host, int error) {
  const int cause = errno;  // of EAI_SYSTEM
  switch (error) {
    case EAI_NONAME:
    case EAI_NODATA:
    case EAI_ADDRFAMILY:
      return Status(Code::invalid_argument,
                    fmt::format("there is no host '{}': {}", host, ::gai_strerror(error)));
    default:
      return Status(Code::unsupported,
                    fmt::format("cannot look up '{}' now: {}", host,
                                error == EAI_SYSTEM ? std::generic_category().message(cause)
                                                    : ::gai_strerror(error)));
  }
}

}  // namespace remora
