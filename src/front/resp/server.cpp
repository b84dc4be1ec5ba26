#include "front/resp/server.h"

#include <fmt/format.h>
#include <malloc.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>

namespace remora::resp {
namespace {

constexpr int backlog = 511;

Settings settings_of(const RespOptions& options) {
  Settings settings;
  settings.persistent = options.durability == Durability::persistent;
  settings.outlives_process = options.outlives_process;
  settings.most_clients = options.most_clients;
  settings.pool_bytes = options.pool_bytes;
  settings.most_queued_bytes = std::min<std::uint64_t>(options.client_bytes, limits::output_bytes);
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
      return user == "default" && difference == 0 ? Access::admin : Access::none;
    };
  }
  return settings;
}

// Within a machine there is no road to be shared: the plainest way to avoid congestion costs every
// reply least. Its connections inherit it. Where that is refused, the system's own stays.
void choose_plain_congestion(int listener) {
  constexpr std::string_view plainest = "reno";
  (void)::setsockopt(listener, IPPROTO_TCP, TCP_CONGESTION, plainest.data(), plainest.size());
}

}  // namespace

Server::Server(Runtime& runtime, kv::LocalStore& store, const RespOptions& options)
    : runtime_(runtime),
      store_(store),
      settings_(settings_of(options)),
      doorkeeper_(options.doorkeeper),
      client_operations_(options.client_operations),
      client_bytes_(std::min<std::uint64_t>(options.client_bytes, limits::output_bytes)),
      most_kept_(options.kept_bytes),
      tls_(options.tls),
      executor_(runtime, store, settings_, counters_),
      guests_(options.most_guests, options.most_of_guest),
      handshakes_(runtime, options.handshake_ns,
                  [this](Connection& connection) { close(connection); }),
      farewells_(runtime, options.farewell_ns, options.most_farewells,
                 [this](Connection& connection) { close(connection); }),
      input_(std::make_unique_for_overwrite<char[]>(limits::read_bytes)),
      held_(runtime, store, *this, out_, counters_, executor_.latencies()),
      pauses_(runtime, store, settings_, *this, held_, out_, executor_.latencies()),
      monitors_(runtime, executor_.monitor_feed(), *this) {
  executor_.each_session = [this](const Executor::Visitor& visit) {
    for (const std::unique_ptr<Connection>& connection : connections_) {
      visit(connection->session, connection->kept());
    }
  };
  executor_.end_session = [this](std::uint64_t id) {
    if (Connection* const connection = find(id)) {
      close(*connection);
    }
  };
  executor_.monitor_changed = [this](const Session& session) {
    if (Connection* const connection = find(session.id)) {
      session.is_monitor ? monitors_.add(*connection) : monitors_.forget(*connection);
    }
  };
  executor_.kept_bytes = [this] { return kept_; };
  executor_.kept_of = [this](const Session& session) {
    const Connection* const connection = find(session.id);
    return connection == nullptr ? Executor::Kept() : connection->kept();
  };
}

Connection* Server::find(std::uint64_t id) {
  const auto at =
      std::ranges::find(connections_, id, [](const auto& one) { return one->session.id; });
  return at == connections_.end() ? nullptr : at->get();
}

Result<std::unique_ptr<Server>> Server::open(Runtime& runtime, kv::LocalStore& store,
                                             const RespOptions& options) {
  std::unique_ptr<Server> server(new Server(runtime, store, options));
  REMORA_TRY(server->listen(options));
  runtime.add_poller(*server);
  return server;
}

Server::~Server() {
  pauses_.abandon();
  held_.abandon();
  while (!connections_.empty()) {
    close(*connections_.back());
  }
  bury();
  if (listener_ >= 0) {
    ::close(listener_);
  }
}

Status Server::listen(const RespOptions& options) {
  const std::optional<SocketAddress> address = SocketAddress::of(options.host, options.port);
  if (!address) {
    return Status(
        Code::invalid_argument,
        fmt::format("\"{}\" is not an address; use one like 127.0.0.1 or ::1", options.host));
  }
  listener_ = ::socket(address->family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  const int yes = 1;
  SocketAddress bound;
  if (listener_ >= 0 && address->is_loopback()) {
    choose_plain_congestion(listener_);
  }
  if (listener_ < 0 || ::setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) != 0 ||
      ::bind(listener_, address->plain(), address->size_bytes) != 0 ||
      ::listen(listener_, backlog) != 0 ||
      ::getsockname(listener_, bound.plain(), &bound.size_bytes) != 0) {
    return os_failure("cannot listen for Redis clients at " + address->text(), errno);
  }
  settings_.port = bound.port();
  REMORA_TRY(events_.open());
  return door_.open(events_.descriptor(), listener_, 0);
}

// --- Clients come and go ---

void Server::accept_some() {
  for (std::size_t i = 0; i < limits::accepts_per_turn; ++i) {
    SocketAddress peer;
    const int descriptor =
        ::accept4(listener_, peer.plain(), &peer.size_bytes, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (descriptor < 0) {
      if (Door::is_want(errno)) {
        door_.rest();
      }
      return;
    }
    if (counters_.clients >= settings_.most_clients) {
      reject(descriptor, "-ERR max number of clients reached\r\n");
    } else {
      add(descriptor, peer);
    }
  }
}

void Server::add(int descriptor, const SocketAddress& peer) {
  Visitor visitor;
  visitor.access = settings_.needs_password ? Access::none : Access::admin;
  if (doorkeeper_) {
    visitor = doorkeeper_(descriptor, peer.host());
  }
  if (visitor.access == Access::none && !settings_.needs_password) {
    reject(descriptor, "-DENIED your user has no role at this store; ask for a token\r\n");
    return;
  }
  if (!guests_.has_place_for(visitor.guest)) {
    reject(descriptor, fmt::format("-ERR max number of clients reached for {}\r\n", visitor.guest));
    return;
  }
  const int yes = 1;
  (void)::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  auto connection = std::make_unique<Connection>(spares_);
  connection->descriptor = descriptor;
  connection->session.id = ++last_id_;
  connection->session.access = visitor.access;
  connection->session.first_access = visitor.access;
  connection->session.descriptor = descriptor;
  SocketAddress own_end;
  if (::getsockname(descriptor, own_end.plain(), &own_end.size_bytes) == 0) {
    connection->session.own_end = own_end.text();
  }
  connection->session.peer = peer.text();
  connection->session.came_ms = runtime_.wall_ms();
  connection->session.mark = store_.persistent_now();
  if (!events_.add(descriptor, read_events, connection.get())) {
    reject(descriptor, "-ERR the store cannot watch one more client\r\n");
    return;
  }
  connection->watched = read_events;
  Connection& come = *connection;
  guests_.came(visitor.guest);
  connection->guest = std::move(visitor.guest);
  connection->place = connections_.size();
  connections_.push_back(std::move(connection));
  ++counters_.connections;
  ++counters_.clients;
  if (tls_ && !begin_handshake(come)) {
    close(come);
  }
}

// Before a handshake nothing can be told to who waits for one.
void Server::reject(int descriptor, std::string_view reply) {
  if (!tls_) {
    (void)::send(descriptor, reply.data(), reply.size(), MSG_NOSIGNAL);
  }
  ::close(descriptor);
  ++counters_.rejected;
}

void Server::close_doors() {
  if (listener_ >= 0) {
    door_.forget();
    ::close(listener_);  // which takes it out of the epoll set
    listener_ = -1;
  }
  while (!connections_.empty()) {
    close(*connections_.back());
  }
  bury();
}

// It goes itself at the end of the turn: the events of the turn may still name it.
void Server::close(Connection& connection) {
  if (connection.dead) {
    return;
  }
  connection.dead = true;
  if (connection.tls) {
    handshakes_.end(connection);
    connection.tls->say_goodbye();
  }
  ::close(connection.descriptor);
  --counters_.clients;
  guests_.note_left(connection.guest);
  left_behind_ += connection.counted;
  if (left_behind_ >= limits::trim_bytes && !trimmer_.armed()) {
    runtime_.arm(trimmer_, runtime_.after(limits::trim_wait_ns));
  }
  kept_ -= std::exchange(connection.counted, 0);
  connection.in.release();
  connection.out.release();
  door_.open_again();  // with the descriptor of this one
  held_.forget(connection);
  pauses_.forget(connection);
  farewells_.end(connection);
  executor_.set_monitor(connection.session, false);
  std::erase(ended_, &connection);
  std::swap(connections_[connection.place], connections_.back());
  connections_[connection.place]->place = connection.place;
  graves_.push_back(std::move(connections_.back()));
  connections_.pop_back();
  events_.look_again();
}

void Server::bury() {
  for (const std::unique_ptr<Connection>& grave : graves_) {
    events_.forget(grave.get());
  }
  graves_.clear();
}

// Freed blocks lie between those of others, and the allocator keeps their pages.
void Server::trim() {
  left_behind_ = 0;
  ++trims_;
  spares_.clear();
  (void)::malloc_trim(0);
}

}  // namespace remora::resp
