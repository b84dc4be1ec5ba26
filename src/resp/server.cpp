#include "resp/server.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

namespace remora::resp {
namespace {

constexpr int backlog = 511;

Settings settings_of(const RespOptions& options) {
  Settings settings;
  settings.persistent = options.durability == Durability::persistent;
  settings.most_clients = options.most_clients;
  settings.needs_password = options.authenticator || !options.password.empty();
  settings.authenticate = options.authenticator;
  if (!settings.authenticate) {
    settings.authenticate = [expected = options.password](std::string_view user,
                                                          std::string_view password) {
      // The same time for every password of a length.
      unsigned difference = password.size() == expected.size() ? 0 : 1;
      for (std::size_t i = 0; i < std::min(password.size(), expected.size()); ++i) {
        difference |= static_cast<unsigned char>(password[i] ^ expected[i]);
      }
      return user == "default" && difference == 0;
    };
  }
  return settings;
}

}  // namespace

Server::Server(Runtime& runtime, kv::LocalStore& store, const RespOptions& options)
    : runtime_(runtime),
      store_(store),
      settings_(settings_of(options)),
      executor_(runtime, store, settings_, counters_),
      input_(std::make_unique_for_overwrite<char[]>(limits::read_bytes)) {
  executor_.each_session = [this](const std::function<void(const Session&)>& visit) {
    for (const std::unique_ptr<Connection>& connection : connections_) {
      visit(connection->session);
    }
  };
}

Result<std::unique_ptr<Server>> Server::open(Runtime& runtime, kv::LocalStore& store,
                                             const RespOptions& options) {
  std::unique_ptr<Server> server(new Server(runtime, store, options));
  REMORA_TRY(server->listen(options));
  runtime.add_poller(*server);
  return server;
}

Server::~Server() {
  flows_.abandon();
  while (!connections_.empty()) {
    close(*connections_.back());
  }
  bury();
  for (const int descriptor : {listener_, epoll_}) {
    if (descriptor >= 0) {
      ::close(descriptor);
    }
  }
}

Status Server::listen(const RespOptions& options) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(options.port);
  if (::inet_pton(AF_INET, options.host.c_str(), &address.sin_addr) != 1) {
    return Status(Code::invalid_argument,
                  fmt::format("\"{}\" is no address; use one like 127.0.0.1", options.host));
  }
  const std::string where = fmt::format("{}:{}", options.host, options.port);
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  const int yes = 1;
  socklen_t size = sizeof address;
  if (listener_ < 0 || ::setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) != 0 ||
      ::bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(listener_, backlog) != 0 ||
      ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    return os_failure("cannot listen for Redis clients at " + where, errno);
  }
  settings_.port = ntohs(address.sin_port);
  epoll_ = ::epoll_create1(EPOLL_CLOEXEC);
  epoll_event event = {};
  event.events = EPOLLIN;
  if (epoll_ < 0 || ::epoll_ctl(epoll_, EPOLL_CTL_ADD, listener_, &event) != 0) {
    return os_failure("cannot watch the socket for Redis clients", errno);
  }
  return {};
}

// --- Turns ---

bool Server::arm_wake() {
  look_ = true;
  return true;
}

// After a look that found all there was, the next comes when the loop has slept at the descriptor;
// or after some turns, in a loop that does not sleep.
bool Server::poll() {
  if (!look_ && ++turns_ < limits::turns_per_look) {
    return false;
  }
  turns_ = 0;
  std::array<epoll_event, limits::events_per_turn> events;
  const int count = ::epoll_wait(epoll_, events.data(), limits::events_per_turn, 0);
  look_ = count == limits::events_per_turn;
  if (count <= 0) {
    return false;
  }
  for (const epoll_event& event : std::span(events).first(static_cast<std::size_t>(count))) {
    if (event.data.ptr == nullptr) {
      accept_some();
    } else if (auto& connection = *static_cast<Connection*>(event.data.ptr); !connection.dead) {
      serve(connection, event.events);
    }
  }
  if (!holding_.empty()) {
    release_held();
  }
  if (!graves_.empty()) {
    bury();
  }
  return true;
}

// --- Clients come and go ---

void Server::accept_some() {
  for (std::size_t i = 0; i < limits::accepts_per_turn; ++i) {
    sockaddr_in peer = {};
    socklen_t size = sizeof peer;
    const int descriptor = ::accept4(listener_, reinterpret_cast<sockaddr*>(&peer), &size,
                                     SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (descriptor < 0) {
      return;
    }
    if (counters_.clients >= settings_.most_clients) {
      reject(descriptor);
      continue;
    }
    std::array<char, INET_ADDRSTRLEN> text = {};
    ::inet_ntop(AF_INET, &peer.sin_addr, text.data(), text.size());
    add(descriptor, fmt::format("{}:{}", text.data(), ntohs(peer.sin_port)));
  }
}

void Server::add(int descriptor, std::string peer) {
  const int yes = 1;
  (void)::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  auto connection = std::make_unique<Connection>();
  connection->descriptor = descriptor;
  connection->session.id = ++last_id_;
  connection->session.authenticated = !settings_.needs_password;
  connection->session.peer = std::move(peer);
  connection->session.came_ms = runtime_.wall_ms();
  connection->session.mark = store_.persistent_now();
  epoll_event event = {};
  event.events = EPOLLIN;
  event.data.ptr = connection.get();
  if (::epoll_ctl(epoll_, EPOLL_CTL_ADD, descriptor, &event) != 0) {
    reject(descriptor);
    return;
  }
  connection->watched = EPOLLIN;
  connection->place = connections_.size();
  connections_.push_back(std::move(connection));
  ++counters_.connections;
  ++counters_.clients;
}

void Server::reject(int descriptor) {
  constexpr std::string_view text = "-ERR max number of clients reached\r\n";
  (void)::send(descriptor, text.data(), text.size(), MSG_NOSIGNAL);
  ::close(descriptor);
  ++counters_.rejected;
}

// Its memory goes at the end of the turn: the events of the turn may still name it.
void Server::close(Connection& connection) {
  if (connection.dead) {
    return;
  }
  connection.dead = true;
  ::close(connection.descriptor);
  --counters_.clients;
  for (std::vector<Connection*>* list : {&holding_, &roomless_, &waiting_}) {
    std::erase(*list, &connection);
  }
  std::swap(connections_[connection.place], connections_.back());
  connections_[connection.place]->place = connection.place;
  graves_.push_back(std::move(connections_.back()));
  connections_.pop_back();
  look_ = true;
}

void Server::bury() {
  graves_.clear();
}

}  // namespace remora::resp
