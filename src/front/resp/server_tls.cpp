// Server: connections that are encrypted. Their bytes come and go in the same places as those of
// others; what differs is how a connection begins and ends.
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "front/resp/server.h"

namespace remora::resp {

bool Server::begin_handshake(Connection& connection) {
  Result<std::unique_ptr<TlsStream>> stream = TlsStream::accept(*tls_, connection.descriptor);
  if (!stream.ok()) {
    return false;
  }
  connection.tls = std::move(stream).value();
  handshakes_.begin(connection);
  return true;
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
  if (!handshakes_.may_go_on()) {
    events_.look_again();
    (void)tell_again(connection);
    return false;
  }
  if (!connection.has_begun && !begins_tls(connection)) {
    return false;
  }
  switch (connection.tls->handshake()) {
    case TlsStream::Step::ready:
      handshakes_.end(connection);
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
