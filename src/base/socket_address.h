// SocketAddress: where a socket is, IPv4 or IPv6. Any thread; a plain value.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace remora {

struct SocketAddress {
  sockaddr_storage storage = {};
  socklen_t size_bytes = sizeof storage;  // until something is there: room

  // "127.0.0.1", "::1"; nothing when it is no address.
  static std::optional<SocketAddress> of(const std::string& host, std::uint16_t port);
  // "127.0.0.1:9464", "[::1]:9464"; the port may be 0 for any. Names are not looked up. Fails with
  // invalid_argument.
  static Result<SocketAddress> parse(std::string_view text);
  // The same, and "localhost:9464": a name is looked up, which may block, and the first of its
  // addresses taken. Fails with invalid_argument when it has none, and as look_up_failure says.
  static Result<SocketAddress> look_up(std::string_view text);
  // Whether the text has the form that look_up takes. Nothing is looked up.
  static Status check_form(std::string_view text);

  sockaddr* plain() { return reinterpret_cast<sockaddr*>(&storage); }
  const sockaddr* plain() const { return reinterpret_cast<const sockaddr*>(&storage); }
  int family() const { return storage.ss_family; }
  std::uint16_t port() const;
  // Whether it is of this machine alone.
  bool is_loopback() const;
  // As `of` takes it.
  std::string host() const;
  // As `parse` takes it.
  std::string text() const;
};

// The failure of a look-up, from what getaddrinfo said: invalid_argument when no host has that
// name, unsupported when nobody could tell, such as while no name server answers.
Status look_up_failure(std::string_view host, int error);

}  // namespace remora
