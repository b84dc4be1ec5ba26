// Server: connections that are encrypted. Their bytes come and go in the same places as those of
// others; what differs is how a connection begins and ends.
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "resp/server.h"

namespace remora::resp {

// Who keeps others waiting makes way: the one of the same guest that began first, or the first of
// all.
bool Server::begin_handshake(Connection& connection) {
  Result<std::unique_ptr<TlsStream>> stream = TlsStream::accept(*tls_, connection.descriptor);
  if (!stream.ok()) {
    return false;
  }
  const auto is_neighbour = [&](const Connection* one) { return one->guest == connection.guest; };
  if (!connection.guest.empty() && static_cast<std::size_t>(std::ranges::count_if(
                                       handshakes_, is_neighbour)) >= limits::handshakes_of_guest) {
    close(**std::ranges::find_if(handshakes_, is_neighbour));
  } else if (handshakes_.size() >= limits::handshakes) {
    close(*handshakes_.front());
  }
  connection.tls = std::move(stream).value();
  connection.is_shaking = true;
  connection.shake_end_ns = runtime_.after(handshake_ns_);
  handshakes_.push_back(&connection);
  if (!handshake_clock_.armed()) {
    runtime_.arm(handshake_clock_, connection.shake_end_ns);
  }
  return true;
}

void Server::end_handshake(Connection& connection) {
  if (std::exchange(connection.is_shaking, false)) {
    std::erase(handshakes_, &connection);
  }
}

void Server::end_late_handshakes() {
  const std::uint64_t now_ns = runtime_.now_ns();
  while (!handshakes_.empty() && handshakes_.front()->shake_end_ns <= now_ns) {
    close(*handshakes_.front());
  }
  if (!handshakes_.empty()) {
    runtime_.arm(handshake_clock_, handshakes_.front()->shake_end_ns);
  }
}

// Who speaks in clear is told so, in clear.
bool Server::begins_tls(Connection& connection) {
  char first = 0;
  const ssize_t got = ::recv(connection.descriptor, &first, 1, MSG_PEEK);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
    return false;
  }
  connection.has_begun = true;
  if (got == 1 && TlsStream::is_tls(first)) {
    return true;
  }
  constexpr std::string_view reply = "-ERR this port speaks TLS alone, as redis-cli --tls does\r\n";
  if (got == 1) {
    (void)::send(connection.descriptor, reply.data(), reply.size(), MSG_NOSIGNAL);
    char rest[1024];  // what is left unread would let the system drop the reply
    (void)::recv(connection.descriptor, rest, sizeof rest, 0);
  }
  close(connection);
  return false;
}

// True when it has ended well: requests may be there already. Others of the turn wait for the next.
bool Server::shake(Connection& connection) {
  if (++shaken_ > limits::handshakes_per_turn) {
    look_ = true;
    (void)tell_again(connection);
    return false;
  }
  if (!connection.has_begun && !begins_tls(connection)) {
    return false;
  }
  switch (connection.tls->handshake()) {
    case TlsStream::Step::done:
      end_handshake(connection);
      if (std::exchange(connection.watched, read_events) != read_events) {
        return tell_again(connection);
      }
      return true;
    case TlsStream::Step::wants_input:
      break;
    case TlsStream::Step::wants_room:
      connection.watched = read_events | EPOLLOUT;
      (void)tell_again(connection);
      break;
    case TlsStream::Step::failed:
      close(connection);
      break;
  }
  return false;
}

ssize_t Server::receive(Connection& connection, std::span<char> room) {
  const ssize_t got = connection.tls->receive(room);
  const int error = errno;
  if (got > 0 && connection.tls->ended()) {
    ended_.push_back(&connection);  // nothing will tell of it again
  }
  errno = error;
  return got;
}

// Who still waits for replies is closed when the connection itself has ended.
void Server::close_ended() {
  for (Connection* connection : std::exchange(ended_, {})) {
    if (connection->in.empty() && connection->out.empty() && connection->holds.empty() &&
        connection->pause == Connection::Pause::none) {
      close(*connection);
    }
  }
}

}  // namespace remora::resp
