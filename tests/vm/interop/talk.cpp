#include "tests/vm/interop/talk.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>

namespace remora::fabric::interop {

using nic::Descriptor;

namespace {

constexpr int call_patience_ms = 120'000;
constexpr int call_again_ms = 100;
constexpr std::size_t numbers_bytes = sizeof(Message::numbers);
constexpr std::size_t head_bytes = numbers_bytes + word_bytes;
constexpr std::size_t most_bytes = 16 << 20;

sockaddr_in at_port(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  return address;
}

}  // namespace

Result<Talk> Talk::call(const std::string& address, std::uint16_t port) {
  sockaddr_in to = at_port(port);
  if (inet_pton(AF_INET, address.c_str(), &to.sin_addr) != 1) {
    return Status(Code::invalid_argument, "'" + address + "' is no IPv4 address");
  }
  for (int waited_ms = 0;; waited_ms += call_again_ms) {
    Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (connect(socket.number(), reinterpret_cast<sockaddr*>(&to), sizeof to) == 0) {
      const int on = 1;
      setsockopt(socket.number(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
      return Talk(std::move(socket));
    }
    if (waited_ms >= call_patience_ms) {
      return os_failure("nobody answers at " + address, errno);
    }
    (void)poll(nullptr, 0, call_again_ms);
  }
}

Result<Talk> Talk::await_call(std::uint16_t port) {
  const Descriptor listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int on = 1;
  sockaddr_in at = at_port(port);
  setsockopt(listener.number(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (!listener.open() ||
      bind(listener.number(), reinterpret_cast<sockaddr*>(&at), sizeof at) != 0 ||
      listen(listener.number(), 1) != 0) {
    return os_failure("cannot listen at TCP port " + std::to_string(port), errno);
  }
  pollfd waiting{.fd = listener.number(), .events = POLLIN, .revents = 0};
  if (poll(&waiting, 1, call_patience_ms) <= 0) {
    return Status(Code::timed_out, "nobody called");
  }
  Descriptor socket(accept4(listener.number(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!socket.open()) {
    return os_failure("cannot accept the caller", errno);
  }
  setsockopt(socket.number(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return Talk(std::move(socket));
}

Status Talk::say(const Message& message) {
  std::vector<std::byte> all(head_bytes);
  std::memcpy(all.data(), message.numbers.data(), numbers_bytes);
  store(all.data() + numbers_bytes, std::uint64_t{message.bytes.size()});
  all.insert(all.end(), message.bytes.begin(), message.bytes.end());
  for (std::size_t said = 0; said < all.size();) {
    const ssize_t sent = send(socket_.number(), all.data() + said, all.size() - said, MSG_NOSIGNAL);
    if (sent < 0) {
      return os_failure("cannot talk to the peer", errno);
    }
    said += static_cast<std::size_t>(sent);
  }
  return Status();
}

bool Talk::wait(int most_ms) {
  pollfd waiting{.fd = socket_.number(), .events = POLLIN, .revents = 0};
  return poll(&waiting, 1, most_ms) > 0;
}

Result<std::optional<Message>> Talk::hear() {
  std::array<std::byte, 65'536> some;
  const ssize_t got = recv(socket_.number(), some.data(), some.size(), MSG_DONTWAIT);
  if (got == 0) {
    return Status(Code::closed, "the peer hung up");
  }
  if (got < 0 && errno != EAGAIN && errno != EWOULDBLOCK) {
    return os_failure("cannot hear the peer", errno);
  }
  if (got > 0) {
    heard_.insert(heard_.end(), some.begin(), some.begin() + got);
  }
  if (heard_.size() < head_bytes) {
    return std::optional<Message>();
  }
  const auto size = load<std::uint64_t>(heard_.data() + numbers_bytes);
  if (size > most_bytes) {
    return Status(Code::damaged, "the peer says what no message is");
  }
  if (heard_.size() < head_bytes + size) {
    return std::optional<Message>();
  }
  Message message;
  std::memcpy(message.numbers.data(), heard_.data(), numbers_bytes);
  const auto begin = heard_.begin() + static_cast<std::ptrdiff_t>(head_bytes);
  const auto end = begin + static_cast<std::ptrdiff_t>(size);
  message.bytes.assign(begin, end);
  heard_.erase(heard_.begin(), end);
  return std::optional(std::move(message));
}

}  // namespace remora::fabric::interop
