#include "server/local_peer.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "base/socket_address.h"

namespace remora::server {
namespace {

using fabric::nic::Descriptor;

class LocalPeerTest : public testing::TestWithParam<std::string> {
 protected:
  LocalPeerTest() {
    const SocketAddress any = *SocketAddress::of(GetParam(), 0);
    listener_ = Descriptor(::socket(any.family(), SOCK_STREAM | SOCK_CLOEXEC, 0));
    has_family_ = ::bind(listener_.number(), any.plain(), any.size_bytes) == 0 &&
                  ::listen(listener_.number(), 4) == 0 &&
                  ::getsockname(listener_.number(), address_.plain(), &address_.size_bytes) == 0;
  }
  Descriptor connected() const {
    Descriptor client(::socket(address_.family(), SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_EQ(::connect(client.number(), address_.plain(), address_.size_bytes), 0);
    return client;
  }
  Descriptor accepted() const {
    return Descriptor(::accept4(listener_.number(), nullptr, nullptr, SOCK_CLOEXEC));
  }

  bool has_family_ = false;
  Descriptor listener_;
  SocketAddress address_;
  LocalPeer peer_;
};

INSTANTIATE_TEST_SUITE_P(Families, LocalPeerTest, testing::Values("127.0.0.1", "::1"),
                         [](const auto& family) { return family.param == "::1" ? "six" : "four"; });

TEST_P(LocalPeerTest, is_known_by_its_user) {
  if (!has_family_) {
    GTEST_SKIP() << "this machine has no " << GetParam();
  }
  const Descriptor client = connected();
  EXPECT_EQ(peer_.user_of(accepted().number()), ::getuid());
}

TEST_P(LocalPeerTest, of_another_user_is_known_by_that) {
  constexpr uid_t other = 65534;
  if (!has_family_ || ::getuid() != 0) {
    GTEST_SKIP() << "only root can be another user, and the address must be there";
  }
  const pid_t child = ::fork();
  if (child == 0) {
    if (::setresuid(other, other, other) != 0) {
      ::_exit(1);
    }
    const Descriptor client(::socket(address_.family(), SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (::connect(client.number(), address_.plain(), address_.size_bytes) == 0) {
      ::pause();
    }
    ::_exit(1);
  }
  EXPECT_EQ(peer_.user_of(accepted().number()), other);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
}

// As `printf ... | nc -N` does, often before it is accepted.
TEST_P(LocalPeerTest, that_sends_no_more_is_known_while_it_is_there) {
  if (!has_family_) {
    GTEST_SKIP() << "this machine has no " << GetParam();
  }
  Descriptor client = connected();
  ASSERT_EQ(::shutdown(client.number(), SHUT_WR), 0);
  const Descriptor server = accepted();
  EXPECT_EQ(peer_.user_of(server.number()), ::getuid());
  client = Descriptor();
  EXPECT_EQ(peer_.user_of(server.number()), std::nullopt);
}

// The kernel says user 0 of a socket that nobody has any more.
TEST_P(LocalPeerTest, that_is_gone_is_nobody) {
  if (!has_family_) {
    GTEST_SKIP() << "this machine has no " << GetParam();
  }
  (void)connected();
  EXPECT_EQ(peer_.user_of(accepted().number()), std::nullopt);
}

TEST_P(LocalPeerTest, is_nobody_where_there_is_no_connection) {
  EXPECT_EQ(peer_.user_of(listener_.number()), std::nullopt);
  EXPECT_EQ(peer_.user_of(-1), std::nullopt);
}

}  // namespace
}  // namespace remora::server
