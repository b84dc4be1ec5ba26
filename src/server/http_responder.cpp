#include "server/http_responder.h"

#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "base/socket_address.h"

namespace remora::server {
namespace {

constexpr std::size_t most_connections = 16;
constexpr std::size_t most_request_bytes = 8192;
constexpr int http_backlog = 16;

std::string response(std::string_view status, std::string_view type, std::string_view body,
                     bool with_body) {
  return fmt::format(
      "HTTP/1.1 {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{}",
      status, type, body.size(), with_body ? body : "");
}

}  // namespace

HttpResponder::HttpResponder(Runtime& runtime, HttpResponderOptions options, Body body)
    : runtime_(runtime),
      options_(std::move(options)),
      body_(std::move(body)),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)) {}

Result<std::unique_ptr<HttpResponder>> HttpResponder::open(Runtime& runtime,
                                                           const HttpResponderOptions& options,
                                                           Body body) {
  std::unique_ptr<HttpResponder> responder(new HttpResponder(runtime, options, std::move(body)));
  REMORA_TRY(responder->listen());
  runtime.add_poller(*responder);
  return responder;
}

Status HttpResponder::listen() {
  const Result<SocketAddress> address = SocketAddress::parse(options_.address);
  if (!address.ok()) {
    return address.status();
  }
  listener_ =
      Descriptor(::socket(address->family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  SocketAddress bound;
  const int yes = 1;
  if (!epoll_.open() || !listener_.open() ||
      ::setsockopt(listener_.number(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) != 0 ||
      ::bind(listener_.number(), address->plain(), address->size_bytes) != 0 ||
      ::listen(listener_.number(), http_backlog) != 0 ||
      ::getsockname(listener_.number(), bound.plain(), &bound.size_bytes) != 0) {
    return errno == EADDRINUSE
               ? Status(Code::in_use, fmt::format("somebody listens at {} already; choose another "
                                                  "port for metrics",
                                                  options_.address))
               : os_failure("cannot listen at " + options_.address, errno);
  }
  port_ = bound.port();
  return door_.open(epoll_.number(), listener_.number(), 0);
}

void HttpResponder::watch(int descriptor, std::uint32_t events, bool first) {
  epoll_event event = {};
  event.events = events;
  event.data.fd = descriptor;
  // A connection that cannot be watched is ended by the sweeper.
  (void)::epoll_ctl(epoll_.number(), first ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, descriptor, &event);
}

bool HttpResponder::serve() {
  bool some = accept_some();
  for (std::size_t i = 0; i < connections_.size();) {
    if (step(*connections_[i])) {
      ++i;
    } else {
      connections_.erase(connections_.begin() + static_cast<std::ptrdiff_t>(i));
      some = true;
    }
  }
  return some;
}

bool HttpResponder::accept_some() {
  bool some = false;
  for (;;) {
    Descriptor socket(
        ::accept4(listener_.number(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!socket.open()) {
      if (Door::is_want(errno)) {
        door_.rest();
      }
      return some;
    }
    some = true;
    if (connections_.size() == most_connections && !drop_slowest()) {
      continue;  // it finds itself closed
    }
    auto connection = std::make_unique<Connection>();
    connection->give_up_ns = runtime_.after(options_.patience_ns);
    watch(socket.number(), EPOLLIN, true);
    connection->socket = std::move(socket);
    connections_.push_back(std::move(connection));
    if (!sweeper_.armed()) {
      runtime_.arm(sweeper_, runtime_.after(options_.patience_ns));
    }
  }
}

// Whoever has asked half of something for the longest time makes way.
bool HttpResponder::drop_slowest() {
  const auto slowest = std::ranges::find(connections_, false, &Connection::answered);
  if (slowest == connections_.end()) {
    return false;
  }
  connections_.erase(slowest);
  return true;
}

bool HttpResponder::step(Connection& connection) {
  const int socket = connection.socket.number();
  std::array<char, 2048> buffer;
  while (!connection.answered) {
    const ssize_t got = ::recv(socket, buffer.data(), buffer.size(), 0);
    if (got < 0) {
      return errno == EAGAIN || errno == EINTR;
    }
    if (got == 0) {
      return false;
    }
    connection.request.append(buffer.data(), static_cast<std::size_t>(got));
    if (connection.request.find("\r\n\r\n") != std::string::npos ||
        connection.request.size() > most_request_bytes) {
      answer(connection);
    }
  }
  while (!connection.answer.empty()) {
    const ssize_t sent =
        ::send(socket, connection.answer.data(), connection.answer.size(), MSG_NOSIGNAL);
    if (sent < 0) {
      watch(socket, EPOLLOUT, false);
      return errno == EAGAIN || errno == EINTR;
    }
    connection.answer.erase(0, static_cast<std::size_t>(sent));
  }
  ::shutdown(socket, SHUT_WR);
  return false;
}

void HttpResponder::answer(Connection& connection) {
  connection.answered = true;
  const std::string_view request = connection.request;
  const std::string_view line = request.substr(0, request.find("\r\n"));
  const std::size_t first = line.find(' ');
  const std::size_t second = line.find(' ', first == line.npos ? first : first + 1);
  if (request.size() > most_request_bytes || second == line.npos ||
      !line.substr(second + 1).starts_with("HTTP/1.")) {
    connection.answer = response("400 Bad Request", "text/plain", "not understood\n", true);
    return;
  }
  const std::string_view method = line.substr(0, first);
  const std::string_view target = line.substr(first + 1, second - first - 1);
  if (method != "GET" && method != "HEAD") {
    connection.answer = response("405 Method Not Allowed", "text/plain", "GET alone\n", true);
  } else if (options_.health && target.substr(0, target.find('?')) == options_.health_path) {
    const Status health = options_.health();
    connection.answer =
        response(health.ok() ? "200 OK" : "503 Service Unavailable", "text/plain",
                 health.ok() ? "ok\n" : std::string(health.message()) + "\n", method == "GET");
  } else if (target.substr(0, target.find('?')) != options_.path) {
    connection.answer =
        response("404 Not Found", "text/plain", "there is only " + options_.path + "\n", true);
  } else {
    connection.answer = response("200 OK", options_.content_type, body_(), method == "GET");
  }
}

void HttpResponder::sweep() {
  const std::uint64_t now_ns = runtime_.now_ns();
  std::erase_if(connections_, [&](const std::unique_ptr<Connection>& connection) {
    return connection->give_up_ns <= now_ns;
  });
  if (!connections_.empty()) {
    runtime_.arm(sweeper_, runtime_.after(options_.patience_ns));
  }
}

}  // namespace remora::server
