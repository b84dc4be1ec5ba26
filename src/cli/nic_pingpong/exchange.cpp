#include "cli/nic_pingpong/exchange.h"

#include <fmt/core.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/socket_address.h"
#include "fabric/nic/wire/descriptor.h"

namespace remora::cli {

using fabric::QueuePairAddress;
using fabric::nic::Descriptor;

namespace {

constexpr int patience_s = 10;
constexpr int client_patience_ms = 600'000;
constexpr std::string_view done("done\0", 5);

void limit_waiting(int socket) {
  const timeval span{.tv_sec = patience_s, .tv_usec = 0};
  setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &span, sizeof span);
  setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &span, sizeof span);
}

bool say(int socket, std::string_view text) {
  return send(socket, text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size());
}

Result<QueuePairAddress> hear(int socket) {
  std::array<char, introduction_bytes> text;
  if (recv(socket, text.data(), text.size(), MSG_WAITALL) != static_cast<ssize_t>(text.size())) {
    return Status(Code::io_error, "the peer hung up before it said its address");
  }
  const std::optional<QueuePairAddress> address =
      parse_introduction(std::string_view(text.data(), strnlen(text.data(), text.size())));
  if (!address) {
    return Status(Code::invalid_argument,
                  "the peer does not speak as ibv_rc_pingpong does; is it one?");
  }
  return *address;
}

Result<Descriptor> listen_at(std::uint16_t port) {
  Descriptor socket(::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int on = 1;
  const int off = 0;
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  address.sin6_port = htons(port);
  setsockopt(socket.number(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  setsockopt(socket.number(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
  if (!socket.open() ||
      bind(socket.number(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
      listen(socket.number(), 1) != 0) {
    return os_failure(fmt::format("cannot listen at TCP port {}", port), errno);
  }
  return socket;
}

Result<Descriptor> reach(const std::string& host, std::uint16_t port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  if (const int error = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &list);
      error != 0) {
    return look_up_failure(host, error);
  }
  int error_number = 0;
  Descriptor reached;
  for (const addrinfo* entry = list; entry != nullptr && !reached.open(); entry = entry->ai_next) {
    Descriptor socket(::socket(entry->ai_family, entry->ai_socktype | SOCK_CLOEXEC, 0));
    if (socket.open() && connect(socket.number(), entry->ai_addr, entry->ai_addrlen) == 0) {
      reached = std::move(socket);
    } else {
      error_number = errno;
    }
  }
  freeaddrinfo(list);
  if (!reached.open()) {
    return os_failure(fmt::format("cannot reach a ping-pong server at {}, TCP port {}", host, port),
                      error_number);
  }
  return reached;
}

}  // namespace

Status serve_introduction(std::uint16_t port, const QueuePairAddress& own, const Connect& connect) {
  REMORA_TRY_RESULT(listener, listen_at(port));
  pollfd waiting{.fd = listener->number(), .events = POLLIN, .revents = 0};
  if (poll(&waiting, 1, client_patience_ms) <= 0) {
    return Status(Code::timed_out, "no client came within ten minutes");
  }
  const Descriptor client(accept4(listener->number(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!client.open()) {
    return os_failure("cannot accept a client", errno);
  }
  limit_waiting(client.number());
  REMORA_TRY_RESULT(peer, hear(client.number()));
  REMORA_TRY(connect(*peer));
  const std::string text = introduction_text(own);
  if (!say(client.number(), std::string_view(text.c_str(), introduction_bytes))) {
    return Status(Code::io_error, "the client hung up");
  }
  // What it says at the end differs between versions; that it speaks is enough.
  std::array<char, introduction_bytes> rest;
  return recv(client.number(), rest.data(), rest.size(), 0) > 0
             ? Status()
             : Status(Code::io_error, "the client hung up before it was done");
}

Result<QueuePairAddress> ask_introduction(const std::string& host, std::uint16_t port,
                                          const QueuePairAddress& own) {
  REMORA_TRY_RESULT(server, reach(host, port));
  limit_waiting(server->number());
  const std::string text = introduction_text(own);
  if (!say(server->number(), std::string_view(text.c_str(), introduction_bytes))) {
    return Status(Code::io_error, "the server hung up");
  }
  Result<QueuePairAddress> peer = hear(server->number());
  if (peer.ok() && !say(server->number(), done)) {
    return Status(Code::io_error, "the server hung up");
  }
  return peer;
}

}  // namespace remora::cli
