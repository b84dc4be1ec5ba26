#include "tests/resp/client.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

namespace remora::resp {

Client::Client(std::uint16_t port) : descriptor_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(descriptor_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    std::abort();
  }
}

Client::~Client() {
  ::close(descriptor_);
}

bool Client::send(const std::string& bytes) const {
  std::size_t sent = 0;
  while (sent < bytes.size()) {
    const ssize_t count =
        ::send(descriptor_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (count <= 0) {
      return false;  // the next read tells
    }
    sent += static_cast<std::size_t>(count);
  }
  return true;
}

bool Client::fill() {
  std::array<char, 65536> bytes;
  const ssize_t count = ::recv(descriptor_, bytes.data(), bytes.size(), 0);
  if (count <= 0) {
    return false;
  }
  buffer_.append(bytes.data(), static_cast<std::size_t>(count));
  return true;
}

bool Client::is_readable(int timeout_ms) const {
  pollfd wanted = {.fd = descriptor_, .events = POLLIN, .revents = 0};
  return !buffer_.empty() || ::poll(&wanted, 1, timeout_ms) > 0;
}

bool Client::is_closed() {
  while (fill()) {
    buffer_.clear();
  }
  return true;
}

std::string Client::line() {
  for (;;) {
    const std::size_t end = buffer_.find("\r\n");
    if (end != std::string::npos) {
      const std::string text = buffer_.substr(0, end + 2);
      buffer_.erase(0, end + 2);
      return text;
    }
    if (!fill()) {
      return "closed";
    }
  }
}

std::string Client::read() {
  std::string reply = line();
  if (reply == "closed") {
    return reply;
  }
  const long long count = std::atoll(reply.c_str() + 1);
  switch (reply[0]) {
    case '$':
    case '=':
      if (count >= 0) {
        const auto size = static_cast<std::size_t>(count) + 2;
        while (buffer_.size() < size) {
          if (!fill()) {
            return "closed";
          }
        }
        reply += buffer_.substr(0, size);
        buffer_.erase(0, size);
      }
      break;
    case '*':
    case '~':
    case '%':
      for (long long left = reply[0] == '%' ? 2 * count : count; left > 0; --left) {
        reply += read();
      }
      break;
    default:
      break;
  }
  return reply;
}

std::string Client::encode(const std::vector<std::string>& args) {
  std::string bytes = "*" + std::to_string(args.size()) + "\r\n";
  for (const std::string& arg : args) {
    bytes += "$" + std::to_string(arg.size()) + "\r\n" + arg + "\r\n";
  }
  return bytes;
}

std::vector<std::string> bulks_of(const std::string& reply) {
  std::vector<std::string> list;
  std::size_t at = 0;
  while (at < reply.size()) {
    const std::size_t end = reply.find("\r\n", at);
    if (end == std::string::npos) {
      break;
    }
    if (reply[at] == '$') {
      const long long size = std::atoll(reply.c_str() + at + 1);
      if (size >= 0) {
        list.push_back(reply.substr(end + 2, static_cast<std::size_t>(size)));
        at = end + 2 + static_cast<std::size_t>(size) + 2;
        continue;
      }
    }
    at = end + 2;
  }
  return list;
}

}  // namespace remora::resp
