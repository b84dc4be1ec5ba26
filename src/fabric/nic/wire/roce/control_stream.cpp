#include "fabric/nic/wire/roce/control_stream.h"

#include <fcntl.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

#include "fabric/nic/wire/roce/net_message.h"

namespace remora::fabric::nic::roce {
namespace {

constexpr std::size_t unread_bytes_max =
    16 * (net_format::head_bytes + net_format::message_bytes_max);
constexpr int connect_patience_s = 5;

template <typename Ask>
IpEndpoint ask_endpoint(int socket, Ask ask) {
  sockaddr_storage storage{};
  socklen_t size = sizeof storage;
  return ask(socket, reinterpret_cast<sockaddr*>(&storage), &size) == 0 ? endpoint_of(storage)
                                                                        : IpEndpoint{};
}

}  // namespace

ControlStream::ControlStream(Descriptor socket)
    : socket_(std::move(socket)), in_(net_format::head_bytes + net_format::message_bytes_max) {
  out_.reserve(unread_bytes_max);
  const int on = 1;
  setsockopt(socket_.number(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

Status ControlStream::have(Result<std::unique_ptr<TlsStream>> tls) {
  REMORA_TRY(tls.status());
  tls_ = std::move(tls).value();
  in_.resize(in_.size() + TlsStream::record_bytes);
  return {};
}

Status ControlStream::accept_tls(const TlsContext& context) {
  return have(TlsStream::accept(context, socket_.number()));
}

Status ControlStream::connect_tls(const TlsContext& context, const std::string& host) {
  REMORA_TRY(have(TlsStream::connect(context, socket_.number(), host)));
  (void)tls_->handshake();  // the first word is this side's
  return {};
}

bool ControlStream::is_next_of_handshake() const {
  char first = 0;
  return tls_ && !tls_->is_up() && recv(socket_.number(), &first, 1, MSG_PEEK | MSG_DONTWAIT) == 1;
}

Status ControlStream::why_closed() const {
  if (!tls_ && !has_heard_) {
    return Status(Code::closed,
                  "the peer closed the connection without a word; a server with TLS needs --tls-ca "
                  "at the client");
  }
  if (!tls_ || tls_->is_up()) {
    return Status(Code::closed, "the peer closed the connection");
  }
  return Status(Code::permission_denied,
                tls_->why().empty()
                    ? "the peer closed the connection in the TLS handshake"
                    : "TLS with the peer failed: " + tls_->why() +
                          "; name the certificate that vouches for the server with --tls-ca, or "
                          "leave --tls-ca out if the server has no TLS");
}

IpEndpoint ControlStream::local() const {
  return ask_endpoint(socket_.number(), getsockname);
}

IpEndpoint ControlStream::peer() const {
  return ask_endpoint(socket_.number(), getpeername);
}

Status ControlStream::send(ConstBytes message) {
  if (gone_) {
    return Status(Code::closed, "the peer is gone");
  }
  if (message.empty() || message.size() > net_format::message_bytes_max) {
    return Status(Code::invalid_argument,
                  "a message has 1 to " + std::to_string(net_format::message_bytes_max) + " bytes");
  }
  if (out_.size() + net_format::head_bytes + message.size() > unread_bytes_max) {
    return Status(Code::no_space, "the peer leaves its messages unread");
  }
  std::byte head[net_format::head_bytes];
  store(head, static_cast<std::uint32_t>(message.size()));
  out_.insert(out_.end(), head, head + net_format::head_bytes);
  out_.insert(out_.end(), message.begin(), message.end());
  push();
  return gone_ ? Status(Code::closed, "the peer is gone") : Status();
}

void ControlStream::push() {
  while (!out_.empty() && !gone_ && (!tls_ || tls_->is_up())) {
    const ssize_t sent = tls_
                             ? tls_->send({reinterpret_cast<const char*>(out_.data()), out_.size()})
                             : ::send(socket_.number(), out_.data(), out_.size(), MSG_NOSIGNAL);
    if (sent < 0) {
      gone_ = errno != EAGAIN && errno != EINTR;
      return;
    }
    out_.erase(out_.begin(), out_.begin() + sent);
  }
}

ssize_t ControlStream::take(std::size_t room_bytes) {
  std::byte* const to = in_.data() + in_bytes_;
  if (!tls_) {
    return recv(socket_.number(), to, room_bytes, MSG_DONTWAIT);
  }
  const bool was_up = tls_->is_up();
  const ssize_t got = tls_->receive({reinterpret_cast<char*>(to), room_bytes});
  const int error = errno;
  if (!was_up) {
    push();
  }
  errno = error;
  return got;
}

ControlStream::Got ControlStream::receive(ConstBytes& message) {
  if (taken_ != 0) {
    std::copy(in_.begin() + static_cast<std::ptrdiff_t>(taken_),
              in_.begin() + static_cast<std::ptrdiff_t>(in_bytes_), in_.begin());
    in_bytes_ -= taken_;
    taken_ = 0;
  }
  for (;;) {
    if (in_bytes_ >= net_format::head_bytes) {
      const std::size_t size = load<std::uint32_t>(in_.data());
      if (size == 0 || size > net_format::message_bytes_max) {
        return Got::closed;  // it does not speak this language
      }
      if (in_bytes_ >= net_format::head_bytes + size) {
        message = ConstBytes(in_).subspan(net_format::head_bytes, size);
        taken_ = net_format::head_bytes + size;
        has_heard_ = true;
        return Got::message;
      }
    }
    const ssize_t got = take(in_.size() - in_bytes_);
    if (got < 0 && errno == EAGAIN) {
      return gone_ ? Got::closed : Got::nothing;
    }
    if (got <= 0) {
      return Got::closed;
    }
    in_bytes_ += static_cast<std::size_t>(got);
  }
}

Result<ControlStream> connect_stream(const IpEndpoint& to) {
  Descriptor socket(::socket(to.is_v4() ? AF_INET : AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const timeval span{.tv_sec = connect_patience_s, .tv_usec = 0};
  const SocketAddress address = socket_address(to);
  if (!socket.open()) {
    return os_failure("cannot make a TCP socket", errno);
  }
  setsockopt(socket.number(), SOL_SOCKET, SO_SNDTIMEO, &span, sizeof span);
  if (connect(socket.number(), address.plain(), address.size_bytes) != 0) {
    const int error = errno;
    if (error == ECONNREFUSED) {
      return Status(Code::not_found, "nobody listens at " + to_string(to));
    }
    if (error == EINPROGRESS || error == ETIMEDOUT) {
      return Status(Code::timed_out, to_string(to) + " does not answer");
    }
    return os_failure("cannot connect to " + to_string(to), error);
  }
  fcntl(socket.number(), F_SETFL, fcntl(socket.number(), F_GETFL) | O_NONBLOCK);
  return ControlStream(std::move(socket));
}

}  // namespace remora::fabric::nic::roce
