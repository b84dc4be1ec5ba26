#include "tls/tls_stream.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <vector>

#include "base/folder_testing.h"
#include "tls/tls_testing.h"

namespace remora {
namespace {

using testing::HasSubstr;

class TlsStreamTest : public testing::Test {
 protected:
  TlsStreamTest() {
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, sockets_), 0);
    store_ = TlsStream::accept(*identity_, sockets_[0]).value();
  }
  ~TlsStreamTest() override {
    ::close(sockets_[0]);
    ::close(sockets_[1]);
  }
  void connect(const std::string& host = "127.0.0.1") {
    client_ = TlsStream::connect(*trust_, sockets_[1], host).value();
  }
  // Both sides, until neither goes on.
  void shake() {
    using Step = TlsStream::Step;
    Step one = Step::wants_input;
    Step other = Step::wants_input;
    for (int i = 0; i < 10 && (one != Step::ready || other != Step::ready); ++i) {
      one = client_->handshake();
      other = store_->handshake();
    }
  }
  static std::string all_of(TlsStream& stream) {
    std::vector<char> room(4 * TlsStream::record_bytes);
    std::string all;
    for (ssize_t got = 0; (got = stream.receive(room)) > 0;) {
      all.append(room.data(), static_cast<std::size_t>(got));
    }
    return all;
  }

  TestFolder folder_;
  const TestCertificates files_ = make_certificates(folder_.file(""));
  const std::shared_ptr<TlsContext> identity_ =
      TlsContext::server(files_.certificate, files_.key).value();
  const std::shared_ptr<TlsContext> trust_ = TlsContext::client(files_.authority).value();
  int sockets_[2] = {-1, -1};
  std::unique_ptr<TlsStream> store_;
  std::unique_ptr<TlsStream> client_;
};

TEST_F(TlsStreamTest, carries_bytes_both_ways) {
  connect();
  shake();
  ASSERT_TRUE(client_->is_up() && store_->is_up());
  EXPECT_EQ(client_->send("question"), 8);
  EXPECT_EQ(all_of(*store_), "question");
  EXPECT_EQ(errno, EAGAIN);
  EXPECT_EQ(store_->send("answer"), 6);
  EXPECT_EQ(all_of(*client_), "answer");
}

TEST_F(TlsStreamTest, does_the_handshake_by_itself) {
  connect("localhost");
  std::string came;
  for (int i = 0; i < 10 && came.empty(); ++i) {
    if (client_->send("x") < 0) {
      EXPECT_EQ(errno, EAGAIN);
    }
    came = all_of(*store_);
  }
  EXPECT_EQ(came.substr(0, 1), "x");
}

// Whatever the room is, a socket that has nothing has nothing for its owner.
TEST_F(TlsStreamTest, keeps_nothing_back_that_came) {
  connect();
  shake();
  const std::string sent(3 * TlsStream::record_bytes + 100, 'v');
  std::string came;
  std::size_t done = 0;
  std::vector<char> room(TlsStream::record_bytes + 100);
  while (came.size() < sent.size()) {
    if (done < sent.size()) {
      const ssize_t count = client_->send(std::string_view(sent).substr(done));
      done += count > 0 ? static_cast<std::size_t>(count) : 0;
    }
    const ssize_t got = store_->receive(room);
    ASSERT_GT(got, 0);
    came.append(room.data(), static_cast<std::size_t>(got));
  }
  char byte = 0;
  EXPECT_EQ(::recv(sockets_[0], &byte, 1, MSG_DONTWAIT), -1);
  EXPECT_EQ(store_->receive(room), -1);
  EXPECT_EQ(came, sent);
}

// What a full socket has not taken comes again later, from elsewhere and with more behind it.
TEST_F(TlsStreamTest, goes_on_with_what_a_full_socket_did_not_take) {
  connect();
  shake();
  std::string sent(1 << 20, 'a');
  std::size_t done = 0;
  ssize_t count = 0;
  while ((count = store_->send(std::string_view(sent).substr(done))) > 0) {
    done += static_cast<std::size_t>(count);
  }
  EXPECT_EQ(errno, EAGAIN);
  ASSERT_LT(done, sent.size());
  sent += "the rest";  // which moves it
  std::string came;
  for (int i = 0; i < 10'000 && came.size() < sent.size(); ++i) {
    came += all_of(*client_);
    count = store_->send(std::string_view(sent).substr(done));
    done += count > 0 ? static_cast<std::size_t>(count) : 0;
  }
  EXPECT_EQ(came, sent);
}

TEST_F(TlsStreamTest, tells_the_end) {
  connect();
  shake();
  EXPECT_EQ(client_->send("last"), 4);
  client_->say_goodbye();
  std::vector<char> room(TlsStream::record_bytes * 2);
  EXPECT_EQ(store_->receive(room), 4);
  EXPECT_TRUE(store_->ended());
  EXPECT_EQ(store_->receive(room), 0);
}

// A cut in the middle is not taken for an end, and a write to nobody ends no process.
TEST_F(TlsStreamTest, tells_a_cut_from_an_end) {
  connect();
  shake();
  ::shutdown(sockets_[1], SHUT_RDWR);
  std::vector<char> room(TlsStream::record_bytes);
  EXPECT_EQ(store_->receive(room), -1);
  EXPECT_EQ(errno, ECONNRESET);
  EXPECT_EQ(store_->send("reply"), -1);
  EXPECT_EQ(errno, EPIPE);
}

TEST_F(TlsStreamTest, believes_no_certificate_of_another_host) {
  connect("192.0.2.1");
  shake();
  EXPECT_FALSE(client_->is_up());
  EXPECT_THAT(client_->why(), HasSubstr("not believed"));
}

TEST_F(TlsStreamTest, believes_no_certificate_of_another_authority) {
  const TestCertificates others = make_certificates(folder_.file("others-"));
  const auto trust = TlsContext::client(others.authority).value();
  client_ = TlsStream::connect(*trust, sockets_[1], "127.0.0.1").value();
  shake();
  EXPECT_FALSE(client_->is_up());
  EXPECT_THAT(client_->why(), HasSubstr("not believed"));
}

TEST_F(TlsStreamTest, refuses_who_speaks_something_else) {
  ASSERT_EQ(::send(sockets_[1], "PING\r\n", 6, MSG_NOSIGNAL), 6);
  EXPECT_EQ(store_->handshake(), TlsStream::Step::failed);
  EXPECT_FALSE(TlsStream::is_tls('P'));
  EXPECT_NE(store_->why(), "");
}

TEST_F(TlsStreamTest, goes_on_while_its_context_is_read_anew_and_gone) {
  connect();
  shake();
  ASSERT_TRUE(store_->is_up());
  (void)make_certificates(folder_.file(""));
  ASSERT_TRUE(identity_->reload().ok());
  EXPECT_EQ(client_->send("still"), 5);
  EXPECT_EQ(all_of(*store_), "still");
}

}  // namespace
}  // namespace remora
