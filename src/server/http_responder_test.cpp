#include "server/http_responder.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

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
    options.health = [this] { return health_; };
    responder_ =
        HttpResponder::open(loop_, options, [] { return std::string(100'000, 'x'); }).value();
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

  Status health_;
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
  EXPECT_EQ(HttpResponder::open(loop_, options, {}).code(), Code::in_use);
  options.address = "here";
  EXPECT_EQ(HttpResponder::open(loop_, options, {}).code(), Code::invalid_argument);
}

}  // namespace
}  // namespace remora::server
