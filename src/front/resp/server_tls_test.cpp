#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/folder_testing.h"
#include "front/resp/server_testing.h"
#include "tls/tls_stream.h"
#include "tls/tls_testing.h"

namespace remora::resp {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

// A client with TLS that never blocks; its server's loop runs while it waits.
class TlsGuest {
 public:
  TlsGuest(PollLoop& loop, std::uint16_t port, const TlsContext& trust)
      : loop_(loop), descriptor_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const SocketAddress address = *SocketAddress::of("127.0.0.1", port);
    EXPECT_EQ(::connect(descriptor_, address.plain(), address.size_bytes), 0);
    EXPECT_EQ(::fcntl(descriptor_, F_SETFL, O_NONBLOCK), 0);
    stream_ = TlsStream::connect(trust, descriptor_, "127.0.0.1").value();
  }
  ~TlsGuest() { ::close(descriptor_); }

  void send(const std::string& bytes) {
    std::size_t sent = 0;
    for (int looks = 0; looks < 100'000 && sent < bytes.size() && !stream_->ended(); ++looks) {
      const ssize_t count = stream_->send(std::string_view(bytes).substr(sent));
      sent += count > 0 ? static_cast<std::size_t>(count) : 0;
      (void)loop_.run_for(100'000);
      if (!stream_->is_up()) {
        (void)stream_->handshake();
      }
    }
    EXPECT_EQ(sent, bytes.size()) << stream_->why();
  }
  std::string reply_of(std::size_t size_bytes) {
    std::string all;
    for (int looks = 0; all.size() < size_bytes && looks < 100'000 && !stream_->ended(); ++looks) {
      (void)loop_.run_for(100'000);
      const ssize_t count = stream_->receive(room_);
      all.append(room_.data(), count > 0 ? static_cast<std::size_t>(count) : 0);
    }
    return all;
  }
  TlsStream& stream() { return *stream_; }
  int descriptor() const { return descriptor_; }

 private:
  PollLoop& loop_;
  const int descriptor_;
  std::unique_ptr<TlsStream> stream_;
  std::vector<char> room_ = std::vector<char>(4 * TlsStream::record_bytes);
};

class RespTlsTest : public RespServerTest {
 protected:
  RespTlsTest() {
    RespOptions options;
    options.tls = identity_;
    serve(options);
  }
  std::unique_ptr<TlsGuest> tls_guest() {
    return std::make_unique<TlsGuest>(loop_, server_->port(), *trust_);
  }

  TestFolder folder_;
  TestCertificates files_ = make_certificates(folder_.file(""));
  const std::shared_ptr<TlsContext> identity_ =
      TlsContext::server(files_.certificate, files_.key).value();
  const std::shared_ptr<TlsContext> trust_ = TlsContext::client(files_.authority).value();
};

TEST_F(RespTlsTest, answers) {
  const auto client = tls_guest();
  client->send("PING\r\n");
  EXPECT_EQ(client->reply_of(7), "+PONG\r\n");
  client->send("SET key value\r\nGET key\r\n");
  EXPECT_EQ(client->reply_of(16), "+OK\r\n$5\r\nvalue\r\n");
  EXPECT_EQ(server_->handshakes(), 0u);
}

// Records have 16 KB at most, and the server is told once of what comes.
TEST_F(RespTlsTest, carries_values_of_every_size) {
  const auto client = tls_guest();
  for (const std::size_t size : std::vector<std::size_t>{1'000, 16'383, 16'384, 16'385, 47'000,
                                                         65'536, 100'000, 3'000'000}) {
    const std::string value(size, "abcdefghijklmnopqrstuvwxyz"[size % 26]);
    client->send(set("key", value) + "*2\r\n" + bulk("GET") + bulk("key"));
    const std::string expected = "+OK\r\n" + bulk(value);
    EXPECT_EQ(client->reply_of(expected.size()), expected) << size;
  }
}

TEST_F(RespTlsTest, answers_many_requests_that_come_at_once) {
  const auto client = tls_guest();
  std::string requests;
  std::string expected;
  for (int i = 0; i < 20'000; ++i) {
    requests += "ECHO " + std::to_string(i) + "\r\n";
    expected += bulk(std::to_string(i));
  }
  client->send(requests);
  EXPECT_EQ(client->reply_of(expected.size()), expected);
}

TEST_F(RespTlsTest, tells_why_it_refuses_a_request_that_is_still_being_sent) {
  const auto client = tls_guest();
  client->send("*1\r\n$16777217\r\n" + std::string(12'000'000, 'v'));
  const std::string error =
      "-ERR Protocol error: invalid bulk length: a value has at most 16777216 bytes\r\n";
  EXPECT_EQ(client->reply_of(error.size() + 1), error);
  EXPECT_TRUE(client->stream().ended());
}

TEST_F(RespTlsTest, answers_who_says_goodbye_behind_its_request) {
  const auto client = tls_guest();
  client->send("PING\r\n");
  EXPECT_EQ(client->reply_of(7), "+PONG\r\n");
  (void)client->stream().send("ECHO last\r\n");
  client->stream().say_goodbye();
  EXPECT_EQ(client->reply_of(10), "$4\r\nlast\r\n");
  for (int looks = 0; looks < 10'000 && server_->counters().clients != 0; ++looks) {
    (void)loop_.run_for(100'000);
  }
  EXPECT_EQ(server_->counters().clients, 0u);
}

TEST_F(RespTlsTest, tells_who_speaks_in_clear) {
  const auto client = guest();
  client->send("PING\r\n");
  std::string came;
  for (int looks = 0; looks < 10'000 && came.find("closed") == came.npos; ++looks) {
    came += client->came(100'000);
  }
  EXPECT_THAT(came, StartsWith("-ERR this port speaks TLS alone"));
  EXPECT_EQ(server_->handshakes(), 0u);
}

TEST_F(RespTlsTest, serves_others_while_many_never_end_their_handshake) {
  std::vector<std::unique_ptr<Guest>> silent;
  for (std::size_t i = 0; i < limits::handshakes + 50; ++i) {
    silent.push_back(guest());
    if (i % 2 == 0) {
      silent.back()->send("\x16\x03\x01");
    }
  }
  for (int looks = 0; looks < 1'000 && server_->counters().connections < silent.size(); ++looks) {
    (void)loop_.run_for(100'000);
  }
  EXPECT_LE(server_->handshakes(), limits::handshakes);
  const auto client = tls_guest();
  client->send("PING\r\n");
  EXPECT_EQ(client->reply_of(7), "+PONG\r\n");
}

TEST_F(RespTlsTest, ends_handshakes_that_take_too_long) {
  RespOptions options;
  options.tls = identity_;
  options.handshake_ns = 50'000'000;
  serve(options);
  const auto silent = guest();
  const auto half = guest();
  half->send("\x16");
  for (int looks = 0; looks < 10'000 && server_->counters().connections < 2; ++looks) {
    (void)loop_.run_for(100'000);
  }
  for (int looks = 0; looks < 1'000 && server_->counters().clients != 0; ++looks) {
    (void)loop_.run_for(moment_ns);
  }
  EXPECT_EQ(server_->counters().clients, 0u);
  EXPECT_EQ(server_->handshakes(), 0u);
}

TEST_F(RespTlsTest, serves_with_certificates_that_were_read_again_and_goes_on_with_the_old) {
  const auto before = tls_guest();
  before->send("PING\r\n");
  EXPECT_EQ(before->reply_of(7), "+PONG\r\n");
  const TestCertificates others = make_certificates(folder_.file(""));
  ASSERT_TRUE(identity_->reload().ok());
  const auto trust = TlsContext::client(others.authority).value();
  TlsGuest after(loop_, server_->port(), *trust);
  after.send("PING\r\n");
  EXPECT_EQ(after.reply_of(7), "+PONG\r\n");
  before->send("PING\r\n");
  EXPECT_EQ(before->reply_of(7), "+PONG\r\n");
}

}  // namespace
}  // namespace remora::resp
