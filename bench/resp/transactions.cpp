#include "bench/resp/transactions.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace remora::bench {
namespace {

constexpr int sets = 8;

std::string bulk(const std::string& text) {
  return "$" + std::to_string(text.size()) + "\r\n" + text + "\r\n";
}

std::string transaction() {
  std::string text = "*1\r\n" + bulk("MULTI");
  for (int i = 0; i < sets; ++i) {
    text +=
        "*3\r\n" + bulk("SET") + bulk("key:" + std::to_string(100'000'000'000 + i)) + bulk("VXK");
  }
  return text + "*1\r\n" + bulk("EXEC");
}

std::string reply() {
  std::string text = "+OK\r\n";
  for (int i = 0; i < sets; ++i) {
    text += "+QUEUED\r\n";
  }
  text += "*" + std::to_string(sets) + "\r\n";
  for (int i = 0; i < sets; ++i) {
    text += "+OK\r\n";
  }
  return text;
}

std::string times(const std::string& text, std::uint32_t count) {
  std::string all;
  for (std::uint32_t i = 0; i < count; ++i) {
    all += text;
  }
  return all;
}

struct Caller {
  int descriptor = -1;
  std::size_t came = 0;  // of the replies to what it sent last

  Caller() = default;
  Caller(Caller&& other) noexcept : descriptor(std::exchange(other.descriptor, -1)) {}
  Caller(const Caller&) = delete;
  ~Caller() {
    if (descriptor >= 0) {
      ::close(descriptor);
    }
  }
};

Status failure(const char* what) {
  return os_failure(std::string("the load of transactions: ") + what, errno);
}

// Requests are small, and the socket has taken all of the last ones: it takes these.
bool send_all(int descriptor, const std::string& text) {
  return ::send(descriptor, text.data(), text.size(), MSG_NOSIGNAL) ==
         static_cast<ssize_t>(text.size());
}

}  // namespace

Result<double> transactions_per_second(std::uint16_t port, std::uint64_t transactions,
                                       std::uint32_t clients, std::uint32_t pipeline) {
  const std::string request = times(transaction(), pipeline);
  const std::string expected = times(reply(), pipeline);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  Caller poll;
  poll.descriptor = ::epoll_create1(EPOLL_CLOEXEC);
  std::vector<Caller> callers(clients);
  for (std::size_t i = 0; i < callers.size(); ++i) {
    const int yes = 1;
    epoll_event event = {.events = EPOLLIN, .data = {.u64 = i}};
    Caller& caller = callers[i];
    caller.descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (::connect(caller.descriptor, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
        ::setsockopt(caller.descriptor, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes) != 0 ||
        ::epoll_ctl(poll.descriptor, EPOLL_CTL_ADD, caller.descriptor, &event) != 0) {
      return failure("connecting");
    }
  }
  const auto begun = std::chrono::steady_clock::now();
  std::uint64_t sent = 0;
  std::uint64_t answered = 0;
  for (const Caller& caller : callers) {
    sent += pipeline;
    if (!send_all(caller.descriptor, request)) {
      return failure("sending");
    }
  }
  std::array<epoll_event, 64> events;
  std::vector<char> bytes(expected.size());
  while (answered < sent) {
    const int ready = ::epoll_wait(poll.descriptor, events.data(), events.size(), -1);
    for (int i = 0; i < ready; ++i) {
      Caller& caller = callers[events[static_cast<std::size_t>(i)].data.u64];
      const ssize_t got =
          ::recv(caller.descriptor, bytes.data(), expected.size() - caller.came, MSG_DONTWAIT);
      if (got <= 0 || expected.compare(caller.came, static_cast<std::size_t>(got), bytes.data(),
                                       static_cast<std::size_t>(got)) != 0) {
        return got < 0
                   ? failure("receiving")
                   : Status(Code::io_error, "a transaction had another reply than +OK eight times");
      }
      caller.came += static_cast<std::size_t>(got);
      if (caller.came < expected.size()) {
        continue;
      }
      caller.came = 0;
      answered += pipeline;
      if (sent < transactions) {
        sent += pipeline;
        if (!send_all(caller.descriptor, request)) {
          return failure("sending");
        }
      }
    }
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
  return static_cast<double>(answered) / took.count();
}

}  // namespace remora::bench
