#include "resp/server.h"

#include <fmt/format.h>
#include <malloc.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>
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
      return user == "default" && difference == 0 ? Access::write : Access::none;
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

std::timespec time_span(std::uint64_t span_ns) {
  constexpr std::uint64_t second_ns = 1'000'000'000;
  return {.tv_sec = static_cast<std::time_t>(span_ns / second_ns),
          .tv_nsec = static_cast<long>(span_ns % second_ns)};
}

}  // namespace

Server::Server(Runtime& runtime, kv::LocalStore& store, const RespOptions& options)
    : runtime_(runtime),
      store_(store),
      settings_(settings_of(options)),
      doorkeeper_(options.doorkeeper),
      most_guests_(options.most_guests),
      most_of_guest_(options.most_of_guest),
      client_operations_(options.client_operations),
      client_bytes_(std::min<std::uint64_t>(options.client_bytes, limits::output_bytes)),
      most_kept_(options.kept_bytes),
      tls_(options.tls),
      handshake_ns_(options.handshake_ns),
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
  settling_ = true;  // nothing begins any more
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
  const std::optional<SocketAddress> address = SocketAddress::of(options.host, options.port);
  if (!address) {
    return Status(Code::invalid_argument,
                  fmt::format("\"{}\" is no address; use one like 127.0.0.1 or ::1", options.host));
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
  epoll_ = ::epoll_create1(EPOLL_CLOEXEC);
  if (epoll_ < 0) {
    return os_failure("cannot watch the socket for Redis clients", errno);
  }
  return door_.open(epoll_, listener_, 0);
}

// --- Turns ---

bool Server::arm_wake() {
  look_ = true;
  return true;
}

// After a look that found all there was, the next comes when the loop has slept at the descriptor;
// or after some turns, in a loop that does not sleep.
bool Server::poll() {
  if (!slept_ && !look_ && ++turns_ < limits::turns_per_look) {
    return false;
  }
  turns_ = 0;
  const int count =
      slept_ ? *slept_ : ::epoll_wait(epoll_, events_.data(), limits::events_per_turn, 0);
  slept_.reset();
  look_ = count == limits::events_per_turn;
  if (count <= 0) {
    return false;
  }
  const std::uint64_t begun_ns = runtime_.now_ns();
  const std::uint64_t commands = counters_.all_commands();
  shaken_ = 0;
  for (const epoll_event& event : std::span(events_).first(static_cast<std::size_t>(count))) {
    if (event.data.ptr == this) {
      // For the loop's other pollers.
    } else if (event.data.ptr == nullptr) {
      accept_some();
    } else if (auto& connection = *static_cast<Connection*>(event.data.ptr); !connection.dead) {
      gathering_.serve(connection.seen, connections_.size());
      serve(connection, event.events);
      count_kept(connection);
    }
  }
  send_postponed();
  if (!ended_.empty()) [[unlikely]] {
    close_ended();
  }
  latency_.record(runtime_.now_ns() - begun_ns, counters_.all_commands() - commands);
  see_to_held();
  if (!graves_.empty()) {
    bury();
  }
  return true;
}

// --- Sleep ---

bool Server::also(int others) {
  epoll_event event = {};
  event.events = EPOLLIN;
  event.data.ptr = this;
  others_ = others;
  return ::epoll_ctl(epoll_, EPOLL_CTL_ADD, others, &event) == 0;
}

bool Server::sleep(std::uint64_t span_ns) {
  const std::uint64_t begun_ns = runtime_.now_ns();
  int count = 0;
  if (!holding_.empty()) {
    count = sleep_for(span_ns);  // what comes now has its reply after the next commit, at best
  } else if (short_waits_.expected() && gathering_.span_ns() != 0) {
    count = gather(span_ns);
    const std::uint64_t napped_ns = runtime_.now_ns() - begun_ns;
    if (count <= 0 && napped_ns < span_ns) {
      count = sleep_for(span_ns == never_ns ? never_ns : span_ns - napped_ns);
    }
  } else if (short_waits_.expected()) {
    const std::uint64_t end_ns = begun_ns + std::min(span_ns, limits::look_before_sleep_ns);
    do {
      count = ::epoll_wait(epoll_, events_.data(), limits::events_per_turn, 0);
    } while (count == 0 && runtime_.now_ns() < end_ns);
    count > 0 ? short_waits_.came() : short_waits_.looked_in_vain();
    if (count <= 0) {
      count = sleep_for(span_ns);
    } else {
      gathering_.found(static_cast<std::size_t>(count));
    }
  } else {
    count = sleep_for(span_ns);
    runtime_.now_ns() - begun_ns < limits::short_sleep_ns ? short_waits_.came()
                                                          : short_waits_.slept_long();
  }
  slept_ = std::max(count, 0);
  return std::exchange(others_came_, false) ||
         std::ranges::any_of(std::span(events_).first(static_cast<std::size_t>(*slept_)),
                             [this](const epoll_event& event) { return event.data.ptr == this; });
}

// Deaf to clients, not to the others of the loop. The kernel would add its usual slack, as long as
// the nap, to it.
int Server::gather(std::uint64_t span_ns) {
  const bool is_whole = span_ns >= gathering_.span_ns();
  const std::timespec span = time_span(std::min(span_ns, gathering_.span_ns()));
  pollfd others = {.fd = others_, .events = POLLIN, .revents = 0};
  const int slack_ns = ::prctl(PR_GET_TIMERSLACK);
  (void)::prctl(PR_SET_TIMERSLACK, 1'000);
  const int cut_short = ::ppoll(&others, 1, &span, nullptr);
  others_came_ = cut_short > 0;  // their event need not be among those that are asked for
  if (slack_ns > 0) {
    (void)::prctl(PR_SET_TIMERSLACK, slack_ns);
  }
  const int count = ::epoll_wait(epoll_, events_.data(), limits::events_per_turn, 0);
  if (is_whole && cut_short == 0) {
    gathering_.gathered(static_cast<std::size_t>(std::max(count, 0)))
        ? short_waits_.came()
        : short_waits_.looked_in_vain();
  }
  return count;
}

int Server::sleep_for(std::uint64_t span_ns) {
  const std::timespec span = time_span(span_ns);
  const int count = ::epoll_pwait2(epoll_, events_.data(), limits::events_per_turn,
                                   span_ns == never_ns ? nullptr : &span, nullptr);
  if (count >= 0 || errno == EINTR) {
    return count;
  }
  // The kernel is older than this call, or somebody forbids it.
  const std::uint64_t span_ms = std::min<std::uint64_t>(span_ns / 1'000'000 + 1, 1'000);
  return ::epoll_wait(epoll_, events_.data(), limits::events_per_turn, static_cast<int>(span_ms));
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

bool Server::has_place_for(const std::string& guest) const {
  const auto same = guests_.find(guest);
  return guest.empty() || (guest_connections_ < most_guests_ &&
                           (same == guests_.end() ? 0 : same->second) < most_of_guest_);
}

void Server::add(int descriptor, const SocketAddress& peer) {
  Visitor visitor;
  visitor.access = settings_.needs_password ? Access::none : Access::write;
  if (doorkeeper_) {
    visitor = doorkeeper_(descriptor, peer.host());
  }
  if (visitor.access == Access::none && !settings_.needs_password) {
    reject(descriptor, "-DENIED your user has no role at this store; ask for a token\r\n");
    return;
  }
  if (!has_place_for(visitor.guest)) {
    reject(descriptor, fmt::format("-ERR max number of clients reached for {}\r\n", visitor.guest));
    return;
  }
  const int yes = 1;
  (void)::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  auto connection = std::make_unique<Connection>(spares_);
  connection->descriptor = descriptor;
  connection->session.id = ++last_id_;
  connection->session.access = visitor.access;
  connection->session.peer = peer.text();
  connection->session.came_ms = runtime_.wall_ms();
  connection->session.mark = store_.persistent_now();
  epoll_event event = {};
  event.events = read_events | EPOLLET;
  event.data.ptr = connection.get();
  if (::epoll_ctl(epoll_, EPOLL_CTL_ADD, descriptor, &event) != 0) {
    reject(descriptor, "-ERR the store cannot watch one more client\r\n");
    return;
  }
  connection->watched = read_events;
  Connection& come = *connection;
  if (!visitor.guest.empty()) {
    ++guests_[visitor.guest];
    ++guest_connections_;
    connection->guest = std::move(visitor.guest);
  }
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
    end_handshake(connection);
    connection.tls->say_goodbye();
  }
  ::close(connection.descriptor);
  --counters_.clients;
  if (const auto guest = guests_.find(connection.guest); guest != guests_.end()) {
    --guest_connections_;
    if (--guest->second == 0) {
      guests_.erase(guest);
    }
  }
  left_behind_ += connection.counted;
  if (left_behind_ >= limits::trim_bytes && !trimmer_.armed()) {
    runtime_.arm(trimmer_, runtime_.after(limits::trim_wait_ns));
  }
  kept_ -= std::exchange(connection.counted, 0);
  connection.in.release();
  connection.out.release();
  if (connection.session.move.version != 0) {
    left_moves_.push_back({std::move(connection.session.moved), connection.session.move});
    begin_to_settle();
  }
  door_.open_again();  // with the descriptor of this one
  for (std::vector<Connection*>* list :
       {&holding_, &roomless_, &uncommitted_, &waiting_, &ended_}) {
    std::erase(*list, &connection);
  }
  std::swap(connections_[connection.place], connections_.back());
  connections_[connection.place]->place = connection.place;
  graves_.push_back(std::move(connections_.back()));
  connections_.pop_back();
  look_ = true;
}

void Server::bury() {
  if (slept_) {
    // What a sleep found may name one of them; the rest of it will not be told again.
    for (epoll_event& event : std::span(events_).first(static_cast<std::size_t>(*slept_))) {
      if (std::ranges::find(graves_, event.data.ptr, &std::unique_ptr<Connection>::get) !=
          graves_.end()) {
        event.data.ptr = this;
      }
    }
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

// What it keeps is counted. Above what all may, those go that keep most: never in the middle of a
// request of theirs.
void Server::count_kept(Connection& connection) {
  const std::size_t bytes = connection.dead ? 0 : connection.kept_bytes();
  if (bytes == connection.counted) [[likely]] {
    return;
  }
  kept_ += bytes - connection.counted;
  connection.counted = bytes;
  while (kept_ > most_kept_) {
    close(
        **std::ranges::max_element(connections_, {}, [](const auto& one) { return one->counted; }));
  }
}

}  // namespace remora::resp
