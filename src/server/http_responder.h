// HttpResponder: answers GET of one path over HTTP/1.1, for programs that collect metrics, and of a
// second one that says whether all is well. Small on
// purpose: no keep-alive, no bodies, no TLS; put it on a loopback address or behind something.
//
// Bounded: a handful of connections, a few KB of request, a few seconds for each; half requests
// make way for one that comes. One that asks too slowly, or nonsense, is answered so and closed. A
// poller of the loop; nothing blocks.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "fabric/nic/wire/ring/descriptor.h"
#include "runtime/door.h"
#include "runtime/runtime.h"
#include "server/occasional_poller.h"

namespace remora::server {

struct HttpResponderOptions {
  std::string address = {};  // as SocketAddress::parse takes it
  std::string path = "/metrics";
  std::string content_type = "text/plain";
  std::string health_path = "/health";        // 200, or 503 and what is wrong
  std::function<Status()> health = {};        // none: there is no such path
  std::uint64_t patience_ns = 5'000'000'000;  // for one connection
};

class HttpResponder final : public OccasionalPoller {
 public:
  using Body = std::function<std::string()>;

  // Fails with in_use when somebody has the port. The loop outlives it.
  static Result<std::unique_ptr<HttpResponder>> open(Runtime& runtime,
                                                     const HttpResponderOptions& options,
                                                     Body body);

  // Where it listens: the port that was chosen, where the options said 0.
  std::uint16_t port() const { return port_; }
  std::size_t connections() const { return connections_.size(); }
  int wake_fd() const override { return epoll_.number(); }

 private:
  using Descriptor = fabric::nic::Descriptor;
  struct Connection {
    Descriptor socket;
    std::uint64_t give_up_ns = 0;
    std::string request = {};
    std::string answer = {};  // what is still to be sent
    bool answered = false;
  };
  // Looks for connections that take too long.
  class Sweeper final : public Timer {
   public:
    explicit Sweeper(HttpResponder& owner) : owner_(owner) {}
    void expire() override { owner_.sweep(); }

   private:
    HttpResponder& owner_;
  };

  HttpResponder(Runtime& runtime, HttpResponderOptions options, Body body);
  Status listen();
  bool serve() override;
  bool accept_some();
  bool drop_slowest();
  // Whether the connection goes on.
  bool step(Connection& connection);
  void answer(Connection& connection);
  void watch(int descriptor, std::uint32_t events, bool first);
  void sweep();

  Runtime& runtime_;
  const HttpResponderOptions options_;
  const Body body_;
  Descriptor epoll_;
  Descriptor listener_;
  Door door_{runtime_};
  std::uint16_t port_ = 0;
  std::vector<std::unique_ptr<Connection>> connections_;
  Sweeper sweeper_{*this};
};

}  // namespace remora::server
