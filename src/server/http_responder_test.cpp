#include "server/http_responder.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/poll_loop.h"

namespace remora::server {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class HttpResponderTest : public testing::Test {
 protected:
  HttpResponderTest() { open(60'000'000'000); }

  void open(std::uint64_t patience_ns) {
    responder_.reset();
    HttpResponderOptions options;
    options.address = "127.0.0.1:0";
    options.patience_ns = patience_ns;
    options.own_names_only = own_names_only_;
    options.purpose = "tests";
    options.events_path = "/events";
    options.pages = {
        {"/metrics", "text/plain", [] { return HttpAnswer{std::string(100'000, 'x')}; }},
        health_page([this] { return health_; })};
    responder_ = HttpResponder::open(loop_, options).value();
  }

  int connect() {
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(responder_->port());
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    (void)::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address);
    (void)loop_.run_for(1'000'000);
    return socket;
  }
  // All that is answered until the other side closes.
  std::string ask(std::string_view request) {
    const int socket = connect();
    EXPECT_EQ(::send(socket, request.data(), request.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(request.size()));
    std::string answer;
    char buffer[4096];
    for (int i = 0; i < 5000; ++i) {
      const ssize_t got = ::recv(socket, buffer, sizeof buffer, 0);
      if (got == 0) {
        break;
      }
      if (got > 0) {
        answer.append(buffer, static_cast<std::size_t>(got));
      } else {
        (void)loop_.run_for(1'000'000);
      }
    }
    ::close(socket);
    return answer;
  }

  // Somebody who listens for events, and what it has heard.
  int listen() {
    const int socket = connect();
    constexpr std::string_view request = "GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n";
    EXPECT_EQ(::send(socket, request.data(), request.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(request.size()));
    return socket;
  }
  std::string heard(int socket) {
    std::string text;
    std::array<char, 4096> buffer;
    for (ssize_t got = 1; got > 0;) {
      got = ::recv(socket, buffer.data(), buffer.size(), 0);
      text.append(buffer.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    }
    return text;
  }
  bool eventually(const std::function<bool()>& is_so) {
    for (int i = 0; i < 60'000 && !is_so(); ++i) {
      (void)loop_.run_for(1'000'000);
    }
    return is_so();
  }

  Status health_;
  bool own_names_only_ = false;
  PollLoop loop_;
  std::unique_ptr<HttpResponder> responder_;
};

TEST_F(HttpResponderTest, says_whether_all_is_well) {
  EXPECT_THAT(ask("GET /health HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 200 OK"));
  health_ = Status(Code::io_error, "the disk is gone");
  const std::string answer = ask("GET /health HTTP/1.1\r\n\r\n");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 503 Service Unavailable"));
  EXPECT_TRUE(answer.ends_with("\r\n\r\nthe disk is gone\n"));
}

TEST_F(HttpResponderTest, answers_a_get_in_full) {
  const std::string answer = ask("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(answer, HasSubstr("Content-Length: 100000\r\n"));
  EXPECT_TRUE(answer.ends_with("\r\n\r\n" + std::string(100'000, 'x')));
}

TEST_F(HttpResponderTest, answers_a_head_without_the_body) {
  const std::string answer = ask("HEAD /metrics HTTP/1.1\r\n\r\n");
  EXPECT_THAT(answer, HasSubstr("Content-Length: 100000\r\n"));
  EXPECT_TRUE(answer.ends_with("\r\n\r\n"));
}

TEST_F(HttpResponderTest, refuses_the_rest) {
  EXPECT_THAT(ask("GET / HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 404"));
  EXPECT_THAT(ask("POST /metrics HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 405"));
  EXPECT_THAT(ask("nonsense\r\n\r\n"), StartsWith("HTTP/1.1 400"));
  EXPECT_THAT(ask("GET /metrics SPDY\r\n\r\n"), StartsWith("HTTP/1.1 400"));
  EXPECT_THAT(ask("GET /" + std::string(9000, 'a')), StartsWith("HTTP/1.1 400"));
}

TEST_F(HttpResponderTest, closes_who_says_nothing_and_stays_bounded) {
  open(50'000'000);
  std::vector<int> silent;
  for (int i = 0; i < 40; ++i) {
    silent.push_back(connect());
  }
  EXPECT_LE(responder_->connections(), 16u);
  for (int i = 0; i < 60'000 && responder_->connections() != 0; ++i) {
    (void)loop_.run_for(1'000'000);
  }
  EXPECT_EQ(responder_->connections(), 0u);
  std::string answer;
  for (int attempts = 0; attempts < 20 && answer.empty(); ++attempts) {
    answer = ask("GET /metrics HTTP/1.1\r\n\r\n");  // nothing, if this test stood still meanwhile
  }
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200"));
  for (const int socket : silent) {
    ::close(socket);
  }
}

TEST_F(HttpResponderTest, half_requests_keep_nobody_from_asking) {
  std::vector<int> half;
  for (int i = 0; i < 40; ++i) {
    half.push_back(connect());
    EXPECT_EQ(::send(half.back(), "GET /", 5, MSG_NOSIGNAL), 5);
  }
  (void)loop_.run_for(1'000'000);
  EXPECT_LE(responder_->connections(), 16u);
  EXPECT_THAT(ask("GET /metrics HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 200"));
  for (const int socket : half) {
    ::close(socket);
  }
}

TEST_F(HttpResponderTest, refuses_a_port_that_is_taken) {
  HttpResponderOptions options;
  options.address = "127.0.0.1:" + std::to_string(responder_->port());
  EXPECT_EQ(HttpResponder::open(loop_, options).code(), Code::in_use);
  options.address = "here";
  EXPECT_EQ(HttpResponder::open(loop_, options).code(), Code::invalid_argument);
}

TEST_F(HttpResponderTest, tells_events_to_all_who_listen) {
  const int one = listen();
  const int other = listen();
  ASSERT_TRUE(eventually([&] { return responder_->listeners() == 2; }));
  responder_->tell("first");
  responder_->tell("second");
  std::string told;
  EXPECT_TRUE(eventually([&] {
    told += heard(one);
    return told.ends_with("\r\n\r\ndata: first\n\ndata: second\n\n");
  })) << told;
  EXPECT_THAT(told, HasSubstr("Content-Type: text/event-stream\r\n"));
  ::close(one);
  EXPECT_TRUE(eventually([&] { return responder_->listeners() == 1; }));
  responder_->tell("third");
  told.clear();
  EXPECT_TRUE(eventually([&] {
    told += heard(other);
    return told.ends_with("data: third\n\n");
  }));
  ::close(other);
  EXPECT_TRUE(eventually([&] { return responder_->connections() == 0; }));
}

TEST_F(HttpResponderTest, closes_listeners_that_speak) {
  const int socket = listen();
  ASSERT_TRUE(eventually([&] { return responder_->listeners() == 1; }));
  EXPECT_EQ(::send(socket, "more", 4, MSG_NOSIGNAL), 4);
  EXPECT_TRUE(eventually([&] { return responder_->listeners() == 0; }));
  ::close(socket);
  EXPECT_THAT(ask("HEAD /events HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 200"));
  EXPECT_EQ(responder_->listeners(), 0u);
}

TEST_F(HttpResponderTest, closes_listeners_that_do_not_read_and_takes_few) {
  std::vector<int> sockets;
  for (std::size_t i = 0; i < HttpResponder::most_listeners; ++i) {
    sockets.push_back(listen());
  }
  ASSERT_TRUE(eventually([&] { return responder_->listeners() == sockets.size(); }));
  EXPECT_THAT(ask("GET /events HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 503"));
  EXPECT_THAT(ask("GET /metrics HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 200"));
  const std::string event(100'000, 'e');
  for (int i = 0; i < 1000 && responder_->listeners() != 0; ++i) {
    responder_->tell(event);
  }
  EXPECT_EQ(responder_->listeners(), 0u);
  for (const int socket : sockets) {
    ::close(socket);
  }
}

TEST_F(HttpResponderTest, a_listener_is_not_ended_for_its_patience) {
  open(50'000'000);
  const int socket = listen();
  ASSERT_TRUE(eventually([&] { return responder_->listeners() == 1; }));
  (void)loop_.run_for(300'000'000);
  EXPECT_EQ(responder_->listeners(), 1u);
  ::close(socket);
}

TEST_F(HttpResponderTest, other_sites_get_nothing_by_names_of_theirs) {
  own_names_only_ = true;
  open(60'000'000'000);
  for (const std::string host : {"localhost:80", "127.0.0.1", "[::1]:9", "localhost"}) {
    EXPECT_THAT(ask("GET /health HTTP/1.1\r\nHost: " + host + "\r\n\r\n"),
                StartsWith("HTTP/1.1 200"))
        << host;
  }
  for (const std::string host :
       {"evil.example", "localhost.evil.example", "127.0.0.1.evil.example"}) {
    EXPECT_THAT(ask("GET /health HTTP/1.1\r\nX: y\r\nHOST: " + host + "\r\n\r\n"),
                StartsWith("HTTP/1.1 421"))
        << host;
  }
  EXPECT_THAT(ask("GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nSec-Fetch-Site: cross-site\r\n\r\n"),
              StartsWith("HTTP/1.1 403"));
  EXPECT_THAT(ask("GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nSec-Fetch-Site: same-origin\r\n\r\n"),
              StartsWith("HTTP/1.1 200"));
}

}  // namespace
}  // namespace remora::server
