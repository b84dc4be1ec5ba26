#include "fabric/nic/wire/roce/ip_endpoint.h"

#include <arpa/inet.h>
#include <fmt/core.h>
#include <netdb.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#include "fabric/nic/wire/roce/roce_limits.h"

namespace remora::fabric::nic::roce {
namespace {

constexpr std::size_t v4_at = 12;
constexpr std::array<std::uint8_t, v4_at> v4_prefix = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

bool is_mapped_v4(const Gid& address) {
  return std::equal(v4_prefix.begin(), v4_prefix.end(), address.begin());
}

Gid mapped_v4(const in_addr& from) {
  Gid gid{};
  std::copy(v4_prefix.begin(), v4_prefix.end(), gid.begin());
  std::memcpy(gid.data() + v4_at, &from, sizeof from);
  return gid;
}

}  // namespace

bool IpEndpoint::is_v4() const {
  return is_mapped_v4(address);
}

bool IpEndpoint::is_any() const {
  const auto begin = address.begin() + (is_v4() ? v4_at : 0);
  return std::all_of(begin, address.end(), [](std::uint8_t byte) { return byte == 0; });
}

Result<Gid> parse_address(std::string_view text) {
  const std::string copy(text);
  in_addr v4{};
  if (inet_pton(AF_INET, copy.c_str(), &v4) == 1) {
    return mapped_v4(v4);
  }
  Gid gid{};
  if (inet_pton(AF_INET6, copy.c_str(), gid.data()) == 1) {
    return gid;
  }
  return Status(
      Code::invalid_argument,
      fmt::format("'{}' is not an IP address; give one such as 192.0.2.7 or fd00::7", text));
}

Result<IpEndpoint> look_up(std::string_view text) {
  std::string host(text);
  std::uint16_t port = limits::udp_port;
  const std::size_t colon = text.rfind(':');
  const bool bracketed = text.starts_with('[');
  const bool has_port = bracketed ? text.find("]:") != text.npos : text.find(':') == colon;
  if (colon != text.npos && has_port) {
    const std::string_view digits = text.substr(colon + 1);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
    if (error != std::errc() || end != digits.data() + digits.size() || port == 0) {
      return Status(Code::invalid_argument, fmt::format("'{}' has no port from 1 to 65535", text));
    }
    host = text.substr(0, colon);
  }
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
  }
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  const int error = host.empty() ? EAI_NONAME : getaddrinfo(host.c_str(), nullptr, &hints, &list);
  if (error != 0) {
    return look_up_failure(host, error);
  }
  sockaddr_storage storage{};
  std::memcpy(&storage, list->ai_addr, list->ai_addrlen);
  freeaddrinfo(list);
  return IpEndpoint{endpoint_of(storage).address, port};
}

std::string address_text(const Gid& address) {
  char text[INET6_ADDRSTRLEN] = {};
  const bool v4 = is_mapped_v4(address);
  inet_ntop(v4 ? AF_INET : AF_INET6, address.data() + (v4 ? v4_at : 0), text, sizeof text);
  return text;
}

std::string to_string(const IpEndpoint& endpoint) {
  const std::string address = address_text(endpoint.address);
  return endpoint.is_v4() ? fmt::format("{}:{}", address, endpoint.port)
                          : fmt::format("[{}]:{}", address, endpoint.port);
}

SocketAddress socket_address(const IpEndpoint& endpoint) {
  SocketAddress out{};
  if (endpoint.is_v4()) {
    sockaddr_in v4{};
    v4.sin_family = AF_INET;
    v4.sin_port = htons(endpoint.port);
    std::memcpy(&v4.sin_addr, endpoint.address.data() + v4_at, sizeof v4.sin_addr);
    std::memcpy(&out.storage, &v4, sizeof v4);
    out.size_bytes = sizeof v4;
  } else {
    sockaddr_in6 v6{};
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(endpoint.port);
    std::memcpy(&v6.sin6_addr, endpoint.address.data(), sizeof v6.sin6_addr);
    std::memcpy(&out.storage, &v6, sizeof v6);
    out.size_bytes = sizeof v6;
  }
  return out;
}

IpEndpoint endpoint_of(const sockaddr_storage& storage) {
  IpEndpoint endpoint;
  if (storage.ss_family == AF_INET) {
    sockaddr_in v4{};
    std::memcpy(&v4, &storage, sizeof v4);
    endpoint.address = mapped_v4(v4.sin_addr);
    endpoint.port = ntohs(v4.sin_port);
  } else if (storage.ss_family == AF_INET6) {
    sockaddr_in6 v6{};
    std::memcpy(&v6, &storage, sizeof v6);
    std::memcpy(endpoint.address.data(), &v6.sin6_addr, sizeof v6.sin6_addr);
    endpoint.port = ntohs(v6.sin6_port);
  }
  return endpoint;
}

}  // namespace remora::fabric::nic::roce
