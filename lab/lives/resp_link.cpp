#include "lab/lives/resp_link.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

namespace remora::lab {
namespace {

constexpr std::uint64_t look_resp_ns = 20'000;

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

Status gone() {
  return Status(Code::closed, "the server has closed the connection");
}

}  // namespace

std::uint16_t RespLink::free_port() {
  const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = loopback(0);
  socklen_t size = sizeof address;
  (void)::bind(descriptor, reinterpret_cast<sockaddr*>(&address), sizeof address);
  (void)::getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &size);
  ::close(descriptor);
  return ntohs(address.sin_port);
}

Result<std::unique_ptr<RespLink>> RespLink::connect(Runtime& runtime, std::uint16_t port) {
  const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) {
    return os_failure("cannot make a socket", errno);
  }
  const sockaddr_in address = loopback(port);
  if (::connect(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    const int error = errno;
    ::close(descriptor);
    return os_failure("cannot reach the Redis port", error);
  }
  return std::unique_ptr<RespLink>(new RespLink(runtime, descriptor));
}

RespLink::~RespLink() {
  ::close(descriptor_);
}

Task<Status> RespLink::write(std::string text) {
  std::size_t sent = 0;
  while (sent < text.size()) {
    const ssize_t count =
        ::send(descriptor_, text.data() + sent, text.size() - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count > 0) {
      sent += static_cast<std::size_t>(count);
    } else if (errno == EAGAIN || errno == EINTR) {
      co_await runtime_.sleep_for(look_resp_ns);
    } else {
      co_return gone();
    }
  }
  co_return Status();
}

Task<Status> RespLink::read_more() {
  char buffer[4096];
  for (;;) {
    const ssize_t count = ::recv(descriptor_, buffer, sizeof buffer, MSG_DONTWAIT);
    if (count > 0) {
      in_.append(buffer, static_cast<std::size_t>(count));
      co_return Status();
    }
    if (count == 0 || (errno != EAGAIN && errno != EINTR)) {
      co_return gone();
    }
    co_await runtime_.sleep_for(look_resp_ns);
  }
}

std::string RespLink::encode(std::initializer_list<std::string_view> words) {
  std::string request = fmt::format("*{}\r\n", words.size());
  for (const std::string_view word : words) {
    request += fmt::format("${}\r\n{}\r\n", word.size(), word);
  }
  return request;
}

Task<Result<std::optional<std::string>>> RespLink::ask(std::string request) {
  REMORA_CO_TRY(co_await write(std::move(request)));
  std::size_t line = in_.find("\r\n");
  while (line == std::string::npos) {
    REMORA_CO_TRY(co_await read_more());
    line = in_.find("\r\n");
  }
  const char kind = in_.front();
  std::string text = in_.substr(1, line - 1);
  in_.erase(0, line + 2);
  if (kind == '-') {
    co_return Status(Code::invalid_argument, text);
  }
  if (kind != '$') {
    co_return std::optional<std::string>(std::move(text));
  }
  const long size = std::atol(text.c_str());
  if (size < 0) {
    co_return std::optional<std::string>();
  }
  while (in_.size() < static_cast<std::size_t>(size) + 2) {
    REMORA_CO_TRY(co_await read_more());
  }
  text = in_.substr(0, static_cast<std::size_t>(size));
  in_.erase(0, static_cast<std::size_t>(size) + 2);
  co_return std::optional<std::string>(std::move(text));
}

}  // namespace remora::lab
