// HttpResponder: answers GET of a few paths over HTTP/1.1, for programs that collect metrics and
// for the live page, and tells events to those who listen for them. Small on purpose: no
// keep-alive, no bodies, no TLS; put it on a loopback address or behind something.
//
// Bounded: a handful of connections, a few KB of request, a few seconds for each; half requests
// make way for one that comes. One that asks too slowly, or nonsense, is answered so and closed. So
// are listeners: few, and one that does not read what it is told is closed. A poller of the loop;
// nothing blocks.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "fabric/nic/wire/descriptor.h"
#include "runtime/door.h"
#include "runtime/runtime.h"
#include "server/occasional_poller.h"

namespace remora::server {

struct HttpAnswer {
  std::string body;
  bool well = true;  // else 503, which says to a program what the body says to people
};

struct HttpPage {
  std::string path;  // "/metrics"
  std::string content_type;
  std::function<HttpAnswer()> answer;
};

// 200 and "ok", or 503 and what is wrong.
HttpPage health_page(std::function<Status()> health);

struct HttpResponderOptions {
  std::string address = {};  // as SocketAddress::parse takes it
  // Answers only those who ask for an address or for localhost: a page of another site, in a
  // browser on this machine, gets nothing by a name that it has made lead here.
  bool own_names_only = false;
  std::string purpose = {};  // for messages: "metrics"
  std::vector<HttpPage> pages = {};
  std::string events_path = {};               // where listeners come; empty: there are none
  std::uint64_t patience_ns = 5'000'000'000;  // for one connection
};

class HttpResponder final : public OccasionalPoller {
 public:
  // Fails with in_use when somebody has the port. The loop outlives it.
  static Result<std::unique_ptr<HttpResponder>> open(Runtime& runtime,
                                                     HttpResponderOptions options);

  // Where it listens: the port that was chosen, where the options said 0.
  std::uint16_t port() const { return port_; }
  std::size_t connections() const { return connections_.size(); }
  int wake_fd() const override { return epoll_.number(); }

  // Those who listen for events. Telling them something without a line feed, in one event each.
  std::size_t listeners() const;
  void tell(std::string_view event);

  static constexpr std::size_t most_listeners = 8;
  static constexpr std::size_t most_untold_bytes = 1 << 20;  // to one listener

 private:
  using Descriptor = fabric::nic::Descriptor;
  enum class State : std::uint8_t { asks, is_answered, listens };
  struct Connection {
    Descriptor socket;
    std::uint64_t give_up_ns = 0;
    std::string request = {};
    std::string answer = {};  // what is still to be sent
    State state = State::asks;
  };
  // Looks for connections that take too long.
  class Sweeper final : public Timer {
   public:
    explicit Sweeper(HttpResponder& owner) : owner_(owner) {}
    void expire() override { owner_.sweep(); }

   private:
    HttpResponder& owner_;
  };

  HttpResponder(Runtime& runtime, HttpResponderOptions options);
  Status listen();
  bool serve() override;
  bool accept_some();
  bool drop_slowest();
  // Whether the connection goes on.
  bool step(Connection& connection);
  bool hear(Connection& connection);
  bool send_some(Connection& connection);
  void answer(Connection& connection);
  void answer_get(Connection& connection, std::string_view path, bool with_body);
  bool is_named(std::string_view request) const;
  void watch(int descriptor, std::uint32_t events, bool first);
  void sweep();

  Runtime& runtime_;
  const HttpResponderOptions options_;
  Descriptor epoll_;
  Descriptor listener_;
  Door door_{runtime_};
  std::uint16_t port_ = 0;
  std::vector<std::unique_ptr<Connection>> connections_;
  Sweeper sweeper_{*this};
};

}  // namespace remora::server
