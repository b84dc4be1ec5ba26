#include "server/http_responder.h"

#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <iterator>
#include <utility>

#include "base/socket_address.h"

namespace remora::server {
namespace {

constexpr std::size_t most_connections = 16;
constexpr std::size_t most_request_bytes = 8192;
constexpr int http_backlog = 16;

// What the pages of this server may do in a browser: load nothing from elsewhere, be in no frame.
constexpr std::string_view for_browsers =
    "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n"
    "Content-Security-Policy: default-src 'none'; style-src 'unsafe-inline'; script-src "
    "'unsafe-inline'; connect-src 'self'; img-src data:; frame-ancestors 'none'; base-uri 'none'; "
    "form-action 'none'\r\n";

std::string response(std::string_view status, std::string_view type, std::string_view body,
                     bool with_body = true) {
  return fmt::format(
      "HTTP/1.1 {}\r\nContent-Type: {}\r\nContent-Length: {}\r\n{}Connection: close\r\n\r\n{}",
      status, type, body.size(), for_browsers, with_body ? body : "");
}

std::string refusal(std::string_view status, std::string_view why) {
  return response(status, "text/plain", why);
}

// What a field of a request says; empty where it has none. The name is in lower case.
std::string_view field_of(std::string_view request, std::string_view name) {
  const std::string field = fmt::format("\r\n{}:", name);
  const auto same = [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a + 32 : a) == b; };
  const auto found = std::search(request.begin(), request.end(), field.begin(), field.end(), same);
  if (found == request.end()) {
    return {};
  }
  const auto at = static_cast<std::size_t>(found - request.begin()) + field.size();
  std::string_view value = request.substr(at, request.find("\r\n", at) - at);
  value.remove_prefix(std::min(value.find_first_not_of(' '), value.size()));
  return value;
}

// Browsers say so of requests that pages make.
bool is_from_another_site(std::string_view request) {
  return field_of(request, "sec-fetch-site") == "cross-site";
}

// The host that a request names, without its port; empty where it names none.
std::string_view host_of(std::string_view request) {
  const std::string_view host = field_of(request, "host");
  if (host.starts_with('[')) {
    return host.substr(0, host.find(']') + 1);
  }
  return host.substr(0, host.find(':'));
}

// "127.0.0.1" or "[::1]": nobody's name.
bool is_address(std::string_view host) {
  return host.starts_with('[') || host.find_first_not_of("0123456789.") == host.npos;
}

}  // namespace

HttpPage health_page(std::function<Status()> health) {
  return {.path = "/health",
          .content_type = "text/plain",
          .answer = [health = std::move(health)]() -> HttpAnswer {
            const Status now = health();
            return {.body = now.ok() ? "ok\n" : std::string(now.message()) + "\n",
                    .well = now.ok()};
          }};
}

HttpResponder::HttpResponder(Runtime& runtime, HttpResponderOptions options)
    : runtime_(runtime), options_(std::move(options)), epoll_(::epoll_create1(EPOLL_CLOEXEC)) {}

Result<std::unique_ptr<HttpResponder>> HttpResponder::open(Runtime& runtime,
                                                           HttpResponderOptions options) {
  std::unique_ptr<HttpResponder> responder(new HttpResponder(runtime, std::move(options)));
  REMORA_TRY(responder->listen());
  runtime.add_poller(*responder);
  return responder;
}

Status HttpResponder::listen() {
  REMORA_TRY_RESULT(address, SocketAddress::parse(options_.address));
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
               ? Status(Code::in_use,
                        fmt::format(
                            "another process listens at {} already; choose another port for {}",
                            options_.address, options_.purpose))
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
  const auto slowest = std::ranges::find(connections_, State::asks, &Connection::state);
  if (slowest == connections_.end()) {
    return false;
  }
  connections_.erase(slowest);
  return true;
}

bool HttpResponder::step(Connection& connection) {
  if (!hear(connection) || !send_some(connection)) {
    return false;
  }
  if (connection.state != State::is_answered || !connection.answer.empty()) {
    return true;
  }
  ::shutdown(connection.socket.number(), SHUT_WR);
  return false;
}

// Takes what it says; whether it is still there.
bool HttpResponder::hear(Connection& connection) {
  std::array<char, 2048> buffer;
  while (connection.state != State::is_answered) {
    const ssize_t got = ::recv(connection.socket.number(), buffer.data(), buffer.size(), 0);
    if (got < 0) {
      return errno == EAGAIN || errno == EINTR;
    }
    if (got == 0) {
      return false;
    }
    if (connection.state == State::listens) {
      return false;  // one that has something to say is no listener
    }
    connection.request.append(buffer.data(), static_cast<std::size_t>(got));
    if (connection.request.find("\r\n\r\n") != std::string::npos ||
        connection.request.size() > most_request_bytes) {
      answer(connection);
      connection.request = {};
    }
  }
  return true;
}

bool HttpResponder::send_some(Connection& connection) {
  const int socket = connection.socket.number();
  while (!connection.answer.empty()) {
    const ssize_t sent =
        ::send(socket, connection.answer.data(), connection.answer.size(), MSG_NOSIGNAL);
    if (sent < 0) {
      watch(socket, connection.state == State::listens ? EPOLLIN | EPOLLOUT : EPOLLOUT, false);
      return errno == EAGAIN || errno == EINTR;
    }
    connection.answer.erase(0, static_cast<std::size_t>(sent));
    if (connection.answer.empty() && connection.state == State::listens) {
      watch(socket, EPOLLIN, false);
    }
  }
  return true;
}

bool HttpResponder::is_named(std::string_view request) const {
  const std::string_view host = host_of(request);
  return !options_.own_names_only || host.empty() || is_address(host) || host == "localhost";
}

void HttpResponder::answer(Connection& connection) {
  connection.state = State::is_answered;
  const std::string_view request = connection.request;
  const std::string_view line = request.substr(0, request.find("\r\n"));
  const std::size_t first = line.find(' ');
  const std::size_t second = line.find(' ', first == line.npos ? first : first + 1);
  if (request.size() > most_request_bytes || second == line.npos ||
      !line.substr(second + 1).starts_with("HTTP/1.")) {
    connection.answer = refusal("400 Bad Request", "not understood\n");
    return;
  }
  const std::string_view method = line.substr(0, first);
  const std::string_view target = line.substr(first + 1, second - first - 1);
  if (method != "GET" && method != "HEAD") {
    connection.answer = refusal("405 Method Not Allowed", "only GET is supported\n");
  } else if (options_.own_names_only && is_from_another_site(request)) {
    connection.answer = refusal("403 Forbidden", "a page of another site gets nothing here\n");
  } else if (!is_named(request)) {
    connection.answer =
        refusal("421 Misdirected Request", "ask for an address, or for localhost\n");
  } else {
    answer_get(connection, target.substr(0, target.find('?')), method == "GET");
  }
}

void HttpResponder::answer_get(Connection& connection, std::string_view path, bool with_body) {
  if (!options_.events_path.empty() && path == options_.events_path) {
    if (!with_body) {
      connection.answer = response("200 OK", "text/event-stream", "");
      return;
    }
    if (listeners() == most_listeners) {
      connection.answer = refusal("503 Service Unavailable", "too many listen already\n");
      return;
    }
    connection.answer =
        fmt::format("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n{}\r\n", for_browsers);
    connection.state = State::listens;
    return;
  }
  const auto page = std::ranges::find(options_.pages, path, &HttpPage::path);
  if (page == options_.pages.end()) {
    std::string there;
    for (const HttpPage& one : options_.pages) {
      there += (there.empty() ? "" : ", ") + one.path;
    }
    connection.answer = refusal("404 Not Found", "there is only " + there + "\n");
    return;
  }
  const HttpAnswer answer = page->answer();
  connection.answer = response(answer.well ? "200 OK" : "503 Service Unavailable",
                               page->content_type, answer.body, with_body);
}

std::size_t HttpResponder::listeners() const {
  return static_cast<std::size_t>(
      std::ranges::count(connections_, State::listens, &Connection::state));
}

void HttpResponder::tell(std::string_view event) {
  std::erase_if(connections_, [&](const std::unique_ptr<Connection>& connection) {
    if (connection->state != State::listens) {
      return false;
    }
    fmt::format_to(std::back_inserter(connection->answer), "data: {}\n\n", event);
    return connection->answer.size() > most_untold_bytes || !send_some(*connection);
  });
}

void HttpResponder::sweep() {
  const std::uint64_t now_ns = runtime_.now_ns();
  std::erase_if(connections_, [&](const std::unique_ptr<Connection>& connection) {
    return connection->state != State::listens && connection->give_up_ns <= now_ns;
  });
  if (connections_.size() > listeners()) {
    runtime_.arm(sweeper_, runtime_.after(options_.patience_ns));
  }
}

}  // namespace remora::server
