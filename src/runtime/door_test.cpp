#include "runtime/door.h"

#include <gtest/gtest.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "runtime/virtual_loop.h"

namespace remora {
namespace {

// A listener with somebody at it, and the set that tells of it.
class DoorTest : public testing::Test {
 protected:
  static constexpr std::uint64_t data = 77;

  DoorTest()
      : set_(::epoll_create1(EPOLL_CLOEXEC)),
        listener_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)),
        guest_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    // Without a name the system gives it one.
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    socklen_t size_bytes = sizeof(sa_family_t);
    auto* const plain = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(::bind(listener_, plain, size_bytes), 0);
    EXPECT_EQ(::listen(listener_, 1), 0);
    size_bytes = sizeof address;
    EXPECT_EQ(::getsockname(listener_, plain, &size_bytes), 0);
    EXPECT_EQ(::connect(guest_, plain, size_bytes), 0);
    EXPECT_TRUE(door_.open(set_, listener_, data).ok());
  }
  ~DoorTest() override {
    for (const int descriptor : {set_, listener_, guest_}) {
      ::close(descriptor);
    }
  }

  bool is_heard() const {
    epoll_event event = {};
    const bool heard = ::epoll_wait(set_, &event, 1, 0) == 1;
    EXPECT_TRUE(!heard || event.data.u64 == data);
    return heard;
  }

  VirtualLoop loop_;
  const int set_;
  const int listener_;
  const int guest_;
  Door door_{loop_};
};

TEST_F(DoorTest, hears_who_comes_again_and_again) {
  EXPECT_TRUE(is_heard());
  EXPECT_TRUE(is_heard());
  door_.open_again();  // it is not shut
  EXPECT_TRUE(is_heard());
}

TEST_F(DoorTest, stays_shut_until_it_is_opened) {
  door_.shut();
  loop_.run_for(10 * Door::rest_ns);
  EXPECT_FALSE(is_heard());
  door_.open_again();
  EXPECT_TRUE(is_heard());
}

TEST_F(DoorTest, opens_by_itself_after_a_rest) {
  door_.rest();
  loop_.run_for(Door::rest_ns - 1);
  EXPECT_FALSE(is_heard());
  loop_.run_for(1);
  EXPECT_TRUE(is_heard());
}

TEST_F(DoorTest, rests_though_it_was_shut_before) {
  door_.shut();
  door_.rest();
  loop_.run_for(Door::rest_ns);
  EXPECT_TRUE(is_heard());
}

TEST_F(DoorTest, is_opened_before_its_rest_is_over) {
  door_.rest();
  door_.open_again();
  EXPECT_TRUE(is_heard());
  door_.shut();
  loop_.run_for(2 * Door::rest_ns);  // the rest has ended with the opening
  EXPECT_FALSE(is_heard());
}

TEST_F(DoorTest, does_nothing_for_a_socket_that_it_has_forgotten) {
  door_.rest();
  door_.forget();
  loop_.run_for(2 * Door::rest_ns);
  door_.shut();
  door_.open_again();
  EXPECT_FALSE(is_heard());
}

TEST(Door, says_why_a_socket_cannot_be_watched) {
  VirtualLoop loop;
  Door door(loop);
  EXPECT_EQ(door.open(-1, -1, 0).code(), os_failure("", EBADF).code());
}

TEST(Door, knows_what_is_a_want) {
  EXPECT_TRUE(Door::is_want(EMFILE) && Door::is_want(ENFILE) && Door::is_want(ENOBUFS) &&
              Door::is_want(ENOMEM));
  EXPECT_FALSE(Door::is_want(EAGAIN) || Door::is_want(ECONNABORTED));
}

}  // namespace
}  // namespace remora
