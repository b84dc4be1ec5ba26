// For the tests of this layer: the server on a store whose persistence the test decides, with
// clients on the same loop.
#pragma once

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <string>

#include "base/socket_address.h"
#include "front/resp/memory_store.h"
#include "front/resp/server.h"
#include "runtime/poll_loop.h"

namespace remora::resp {

inline constexpr std::uint64_t moment_ns = 20'000'000;

// A client that never blocks; its server's loop runs while it waits.
class Guest {
 public:
  Guest(PollLoop& loop, std::uint16_t port)
      : loop_(loop), descriptor_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const SocketAddress address = *SocketAddress::of("127.0.0.1", port);
    EXPECT_EQ(::connect(descriptor_, address.plain(), address.size_bytes), 0);
  }
  Guest(const Guest&) = delete;
  Guest& operator=(const Guest&) = delete;
  ~Guest() { leave(); }

  void leave() {
    if (descriptor_ >= 0) {
      ::close(descriptor_);
    }
    descriptor_ = -1;
  }
  // In a way that the server hears of at once, though it does not read.
  void break_off() {
    const linger none = {.l_onoff = 1, .l_linger = 0};
    EXPECT_EQ(::setsockopt(descriptor_, SOL_SOCKET, SO_LINGER, &none, sizeof none), 0);
    leave();
  }
  // Whether all of it could be sent.
  bool send(const std::string& bytes) {
    std::size_t sent = 0;
    while (sent < bytes.size()) {
      const ssize_t count = ::send(descriptor_, bytes.data() + sent, bytes.size() - sent,
                                   MSG_NOSIGNAL | MSG_DONTWAIT);
      if (count < 0 && errno != EAGAIN) {
        return false;
      }
      sent += static_cast<std::size_t>(std::max<ssize_t>(count, 0));
      (void)loop_.run_for(100'000);
    }
    return true;
  }
  // All that has come after a moment.
  std::string came(std::uint64_t span_ns = moment_ns) {
    (void)loop_.run_for(span_ns);
    std::string all;
    std::array<char, 4096> bytes;
    ssize_t count = 0;
    while ((count = ::recv(descriptor_, bytes.data(), bytes.size(), MSG_DONTWAIT)) > 0) {
      all.append(bytes.data(), static_cast<std::size_t>(count));
    }
    return count == 0 ? all + "closed" : all;
  }
  // What comes first.
  std::string reply() {
    std::string all;
    for (int looks = 0; all.empty() && looks < 100'000; ++looks) {
      all = came(100'000);
    }
    return all;
  }
  // What comes, up to so many bytes: all of what is expected, however long that takes.
  std::string reply_of(std::size_t size_bytes) {
    std::string all;
    for (int looks = 0; all.size() < size_bytes && looks < 100'000; ++looks) {
      all += came(100'000);
    }
    return all;
  }
  std::string ask(const std::string& line) {
    send(line + "\r\n");
    return reply();
  }

 private:
  PollLoop& loop_;
  int descriptor_;
};

class RespServerTest : public testing::Test {
 protected:
  void serve(RespOptions options = {}) {
    options.port = 0;
    server_ = Server::open(loop_, store_, options).value();
    (void)loop_.run_for(1'000'000);
  }
  std::unique_ptr<Guest> guest() { return std::make_unique<Guest>(loop_, server_->port()); }
  static std::string bulk(const std::string& text) {
    return "$" + std::to_string(text.size()) + "\r\n" + text + "\r\n";
  }
  static std::string set(const std::string& key, const std::string& value) {
    return "*3\r\n" + bulk("SET") + bulk(key) + bulk(value);
  }

  PollLoop loop_;
  MemoryStore store_{loop_};
  std::unique_ptr<Server> server_;
};

}  // namespace remora::resp
