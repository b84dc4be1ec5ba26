// A turn, and one connection in it: reading, running, writing.
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <span>
#include <utility>

#include "base/lost_memory.h"
#include "front/resp/server.h"

namespace remora::resp {
namespace {

// Whether the reply to this command, which was just run, tells something of the store.
bool rests_on_store(const Session& session, std::string_view name) {
  const Command* const command = find_command(name);
  return command != nullptr && !session.is_queueing() &&
         ((command->flags & (writes | readonly)) != 0 || command->name == "exec");
}

// Whether the reply to the command that was just run is kept from the client (CLIENT REPLY).
bool is_silent(Session& session) {
  using Replies = Session::Replies;
  if (session.replies == Replies::skip_next) {  // that command asked for it
    session.replies = Replies::skip;
  } else if (session.replies == Replies::skip) {
    session.replies = Replies::on;
  }
  return true;
}

// How long the request that has begun is at least.
std::size_t wanted_of(const Connection& connection) {
  return connection.parser ? connection.parser->wanted() : 0;
}

}  // namespace

bool Server::poll() {
  const std::span<const epoll_event> ready = events_.take();
  if (ready.empty()) {
    return false;
  }
  const std::uint64_t begun_ns = runtime_.now_ns();
  const std::uint64_t commands = counters_.all_commands();
  handshakes_.turn_begins();
  for (const epoll_event& event : ready) {
    if (events_.is_for_others(event)) {
      // For the loop's other pollers.
    } else if (event.data.ptr == nullptr) {
      accept_some();
    } else if (auto& connection = *static_cast<Connection*>(event.data.ptr); !connection.dead) {
      events_.serve(connection.seen, connections_.size());
      connection.session.active_ns = begun_ns;
      serve(connection, event.events);
      count_kept(connection);
    }
  }
  send_postponed();
  if (!ended_.empty()) [[unlikely]] {
    close_ended();
  }
  const std::uint64_t now_ns = runtime_.now_ns();
  latency_.record(now_ns - begun_ns, counters_.all_commands() - commands);
  if (executor_.rates().is_due(now_ns)) [[unlikely]] {
    executor_.rates().look(now_ns, executor_.counts());
  }
  held_.see_to();
  if (!graves_.empty()) {
    bury();
  }
  return true;
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

void Server::serve(Connection& connection, std::uint32_t events) {
  constexpr std::uint32_t ends = EPOLLRDHUP | EPOLLHUP | EPOLLERR;
  if ((events & ends) != 0 && !tell_again(connection)) [[unlikely]] {
    return;  // the end of what it sends is told once, and may lie behind bytes
  }
  if (connection.is_shaking && !shake(connection)) [[unlikely]] {
    return;
  }
  if (connection.is_leaving) [[unlikely]] {
    discard(connection);
    return;
  }
  if ((events & EPOLLOUT) != 0) {
    if (!send(connection)) {
      return;
    }
    if (!connection.in.empty() && connection.pause == Connection::Pause::none) {
      if (tell_again(connection)) {
        run_kept(connection);
      }
      return;
    }
  }
  if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0) {
    read(connection);
  } else {
    watch(connection);
  }
}

// What is not whole is kept with the connection. A little of it is put in front of what all read
// to; behind more, the rest is received where it belongs.
void Server::read(Connection& connection) {
  Buffer& in = connection.in;
  const std::size_t before = in.size();
  const bool in_place = before > limits::front_bytes;
  std::span<char> room(input_.get() + before, limits::read_bytes - before);
  if (in_place) {
    const std::size_t least = connection.tls ? TlsStream::record_bytes : 1;
    if (in.room().size() < least) {
      in.reserve(std::max(room_for(connection, before), before + least));
      copied_ += before;
    }
    // Not much of the request behind it, which would have to be moved.
    const std::size_t wanted = std::max(wanted_of(connection), before);
    room = in.room();
    room = room.first(std::min(room.size(), std::max(wanted - before, limits::read_bytes)));
  }
  const ssize_t got = connection.tls ? receive(connection, room)
                                     : ::recv(connection.descriptor, room.data(), room.size(), 0);
  if (got <= 0) {
    if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
      close(connection);
    } else if (errno == EINTR) {
      (void)tell_again(connection);
    }
    return;
  }
  const auto count = static_cast<std::size_t>(got);
  const std::size_t most = connection.tls ? room.size() - TlsStream::record_bytes + 1 : room.size();
  if (count >= most && !tell_again(connection)) [[unlikely]] {
    return;  // there may be more
  }
  counters_.bytes_in += count;
  const bool is_paused = connection.pause != Connection::Pause::none;
  if (in_place) {
    in.add(count);
    if (is_paused) {
      watch(connection);
    } else {
      run_kept(connection);
    }
    return;
  }
  if (before != 0) [[unlikely]] {
    std::memcpy(input_.get(), in.bytes().data(), before);
  }
  const std::string_view bytes(input_.get(), before + count);
  if (is_paused) {
    // It hung up, or sends while it waits; what it sends is for later.
    keep_rest(connection, bytes);
    watch(connection);
    return;
  }
  const std::size_t done = run(connection, bytes);
  if (connection.dead) {
    return;
  }
  keep_rest(connection, bytes.substr(done));
  const bool is_plain = connection.out.empty() && connection.holds.empty() &&
                        connection.pause == Connection::Pause::none && !connection.session.closing;
  if (is_plain && !again_) {
    postpone(connection);
  } else if (send(connection) && again_) {
    run_kept(connection);
  }
}

// Its replies leave when all that is ready in this turn was read.
void Server::postpone(Connection& connection) {
  if (!out_.empty()) {
    postponed_.push_back({&connection, out_.put_aside()});
    if (out_.bytes_aside() > limits::postponed_bytes) {
      send_postponed();
    }
  }
}

void Server::send_postponed() {
  for (const Postponed& reply : postponed_) {
    Connection& connection = *reply.connection;
    if (connection.dead) {
      continue;
    }
    const std::string_view text = out_.text(reply.text);
    std::size_t sent = 0;
    if (!write_now(connection, text, sent)) {
      close(connection);
    } else if (sent < text.size()) {
      connection.out.append(text.substr(sent));
      watch(connection);
      count_kept(connection);
    }
  }
  postponed_.clear();
  out_.drop_asides();
  out_.shrink();
}

void Server::go_on(Connection& connection) {
  run_kept(connection);
  count_kept(connection);
}

// Requests of bytes that the connection keeps.
void Server::run_kept(Connection& connection) {
  do {
    const std::size_t done = run(connection, connection.in.bytes());
    if (connection.dead) {
      return;
    }
    connection.in.drop(done);
  } while (send(connection) && again_ && !is_choked(connection));
}

void Server::keep_rest(Connection& connection, std::string_view rest) {
  if (rest.empty()) [[likely]] {
    connection.in.drop(connection.in.size());
    return;
  }
  connection.in.assign(rest, room_for(connection, rest.size()));
  copied_ += rest.size();
}

// For a request of which so much came, and all of it, where its size is known and to be believed.
std::size_t Server::room_for(const Connection& connection, std::size_t came) {
  if (came <= limits::front_bytes) {
    return came;
  }
  return std::max(std::min(wanted_of(connection), came * limits::believed_times), 2 * came);
}

std::size_t Server::run(Connection& connection, std::string_view bytes) {
  // A request that is whole at once needs no parser of its own.
  Parser& parser = connection.parser ? *connection.parser : parser_;
  std::size_t done = 0;
  bool is_held = false;
  again_ = false;
  (void)executor_.count_searched_from(0);
  while (done < bytes.size() && !connection.session.closing) {
    if (is_choked(connection) || out_.size() > pause_bytes()) {
      again_ = true;
      break;
    }
    const Parser::Step step =
        parser.next(bytes.substr(done), connection.session.access == Access::none);
    if (step == Parser::Step::more && parser.wanted() <= client_bytes_) {
      break;
    }
    if (step != Parser::Step::request) {
      refuse(connection, step == Parser::Step::error
                             ? parser.error()
                             : "Protocol error: a request of this server has at most " +
                                   std::to_string(client_bytes_) + " bytes");
      done = bytes.size();
      break;
    }
    if (!parser.args().empty()) {
      const std::size_t from = out_.size();
      const kv::LocalStore::Mark before = settings_.persistent ? store_.now() : 0;
      const Done outcome =
          executor_.execute(connection.session, parser.args(), out_, connection.full);
      if (outcome == Done::no_room || outcome == Done::again) {
        parser.reset();
        outcome == Done::no_room ? pauses_.wait_for_room(connection)
                                 : pauses_.wait_for_value(connection);
        break;
      }
      connection.full = false;
      const bool is_muted =
          connection.session.replies != Session::Replies::on && is_silent(connection.session);
      if (is_muted) [[unlikely]] {
        out_.truncate(from);
      }
      if (settings_.persistent && store_.persistent_now() < store_.now() &&
          (store_.now() != before || rests_on_store(connection.session, parser.args()[0])) &&
          (store_.now() != before || store_.failure().ok())) {
        // No commit begins meanwhile, so that one covers all that this call runs.
        held_.hold(connection, from, is_held);
        is_held = true;
      }
      if (!out_.borrowed().empty()) {
        send_borrowed(connection);
        if (any_memory_lost() && store_.lost()) [[unlikely]] {
          close(connection);  // in the middle of a value that is gone
          break;
        }
      }
      if (outcome == Done::waits) {
        done += parser.size();
        PersistenceWait wait = executor_.wait();
        wait.is_muted = is_muted;
        pauses_.wait_for_persistence(connection, wait);
        break;
      }
    }
    done += parser.size();
    if (executor_.searched() >= limits::turn_search_bytes && done < bytes.size() &&
        !connection.session.closing) [[unlikely]] {
      pauses_.wait_for_turn(connection);
      break;
    }
  }
  if (&parser == &parser_) {
    if (parser_.is_inside()) {
      connection.parser = std::make_unique<Parser>(parser_);  // with the bytes that are kept
    }
    parser_.reset();
    parser_.shrink();
  } else if (!parser.is_inside()) {
    connection.parser.reset();
  }
  if (out_.overflown()) {
    out_.forgive();
    out_.clear();
    close(connection);
  }
  return done;
}

// --- Writing ---

bool Server::write_now(Connection& connection, std::string_view text, std::size_t& sent) {
  while (sent < text.size()) {
    const ssize_t count = connection.tls ? connection.tls->send(text.substr(sent))
                                         : ::send(connection.descriptor, text.data() + sent,
                                                  text.size() - sent, MSG_NOSIGNAL);
    if (count < 0) {
      return errno == EAGAIN || errno == EINTR;
    }
    sent += static_cast<std::size_t>(count);
    counters_.bytes_out += static_cast<std::uint64_t>(count);
    if (sent < text.size()) {
      break;  // the socket is full
    }
  }
  return true;
}

// A large value leaves from where it lies. What the socket does not take is copied.
void Server::send_borrowed(Connection& connection) {
  const std::string_view value = out_.borrowed();
  std::size_t sent = 0;
  if (connection.out.empty() && connection.holds.empty() && !connection.tls) {
    std::array<iovec, 3> pieces = {
        iovec{const_cast<char*>(out_.text().data()), out_.size()},
        iovec{const_cast<char*>(value.data()), value.size()},
        iovec{const_cast<char*>("\r\n"), 2},
    };
    msghdr message = {};
    message.msg_iov = pieces.data();
    message.msg_iovlen = pieces.size();
    const ssize_t count = ::sendmsg(connection.descriptor, &message, MSG_NOSIGNAL);
    sent = count < 0 ? 0 : static_cast<std::size_t>(count);
    counters_.bytes_out += sent;
  }
  for (const std::string_view piece : {out_.text(), value, std::string_view("\r\n")}) {
    const std::size_t skipped = std::min(sent, piece.size());
    connection.out.append(piece.substr(skipped));
    sent -= skipped;
  }
  out_.clear();
}

// False when the connection is gone, or nothing more is to be done for it.
bool Server::send(Connection& connection) {
  bool alive = true;
  if (connection.out.empty() && connection.holds.empty()) {
    std::size_t sent = 0;
    alive = write_now(connection, out_.text(), sent);
    if (sent < out_.size()) {
      connection.out.append(out_.text().substr(sent));
    }
  } else {
    connection.out.append(out_.text());
    const std::string_view text = connection.out.bytes().substr(0, connection.sendable());
    alive = write_now(connection, text, connection.sent);
    const std::size_t size = connection.out.size();
    // What stays is moved: not before it is the smaller part.
    if (connection.sent == size ||
        (connection.sent > limits::output_pause_bytes && connection.sent >= size / 2)) {
      connection.gone += connection.sent;
      connection.out.drop(std::exchange(connection.sent, 0));
    }
  }
  out_.clear();
  out_.shrink();
  const bool has_ended = connection.session.closing && connection.out.empty();
  if (alive && has_ended && connection.was_refused) [[unlikely]] {
    say_farewell(connection);
    return false;
  }
  if (!alive || has_ended ||
      connection.out.size() - connection.sent > client_bytes_ + pause_bytes()) {
    close(connection);
    return false;
  }
  watch(connection);
  return true;
}

// Readable while it may be read from, writable while something can be sent.
void Server::watch(Connection& connection) {
  const bool reads = connection.pause == Connection::Pause::none && !is_choked(connection) &&
                     !connection.session.closing;
  const bool writes = connection.sent < connection.sendable();
  const std::uint32_t wanted = (reads ? read_events : 0u) | (writes ? EPOLLOUT : 0u);
  if (wanted != connection.watched) [[unlikely]] {
    connection.watched = wanted;
    (void)tell_again(connection);
  }
}

// An event is told once, when it happens: a set that tells what is still so would ask every socket
// again after its bytes were read. What is so now, of what is watched, is told again after this.
// False when the connection is gone.
bool Server::tell_again(Connection& connection) {
  if (!events_.tell_again(connection.descriptor, connection.watched, &connection)) {
    close(connection);
    return false;
  }
  return true;
}

}  // namespace remora::resp
