// Server: the end of a connection whose client may still be sending.
#include <sys/epoll.h>
#include <sys/socket.h>

#include <cerrno>
#include <string>

#include "front/resp/server.h"

namespace remora::resp {

// There is no sense in what it sends, nor in what follows.
void Server::refuse(Connection& connection, const std::string& why) {
  ++counters_.errors;
  out_.error("ERR " + why);
  connection.session.closing = true;
  connection.was_refused = true;
}

// Nothing more is sent, and nothing is kept of what came.
void Server::say_farewell(Connection& connection) {
  if (connection.tls) {
    connection.tls->say_goodbye();
  }
  (void)::shutdown(connection.descriptor, SHUT_WR);
  connection.in.release();
  connection.parser.reset();
  connection.session.transaction.reset();
  executor_.set_monitor(connection.session, false);
  // It waits for nothing any more, neither to run a request nor to send a reply.
  pauses_.forget(connection);
  connection.pause = Connection::Pause::none;
  held_.forget(connection);
  connection.holds.clear();
  connection.held = 0;
  farewells_.begin(connection);
  connection.watched = read_events;
  (void)tell_again(connection);
}

// In clear or not, nobody looks at it.
void Server::discard(Connection& connection) {
  const ssize_t got = ::recv(connection.descriptor, input_.get(), limits::read_bytes, 0);
  if (got <= 0) {
    if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
      close(connection);
    } else if (errno == EINTR) {
      (void)tell_again(connection);
    }
    return;
  }
  const auto count = static_cast<std::size_t>(got);
  counters_.bytes_in += count;
  if (!Farewells::discard(connection, count)) {
    close(connection);
  } else {
    (void)tell_again(connection);  // there may be more
  }
}

}  // namespace remora::resp
