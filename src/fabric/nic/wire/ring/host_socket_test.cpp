#include "fabric/nic/wire/ring/host_socket.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <fstream>

#include "base/hash.h"
#include "fabric/nic/wire/ring/ring_testing.h"

namespace remora::fabric::nic::ring {
namespace {

// What a process leaves that dies without cleaning up.
void leave_stale_socket(const std::string& path) {
  const Descriptor socket(::socket(AF_UNIX, SOCK_SEQPACKET, 0));
  sockaddr_un name = {};
  name.sun_family = AF_UNIX;
  std::memcpy(name.sun_path, path.data(), path.size());
  ASSERT_EQ(::bind(socket.number(), reinterpret_cast<sockaddr*>(&name), sizeof name), 0);
}

TEST(HostListener, makes_a_socket_for_its_own_user_and_removes_it) {
  const TestFolder folder;
  const std::string path = folder.file("s");
  {
    const Result<HostListener> listener = HostListener::open(path);
    ASSERT_TRUE(listener.ok()) << listener.status().message();
    struct stat facts = {};
    ASSERT_EQ(::stat(path.c_str(), &facts), 0);
    EXPECT_EQ(facts.st_mode & 07777, 0600u);
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(HostListener, opens_to_others_when_asked) {
  const TestFolder folder;
  const Result<HostListener> listener = HostListener::open(folder.file("s"), 0666);
  ASSERT_TRUE(listener.ok());
  struct stat facts = {};
  ASSERT_EQ(::stat(folder.file("s").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 07777, 0666u);
}

TEST(HostListener, replaces_what_a_dead_one_left) {
  const TestFolder folder;
  leave_stale_socket(folder.file("s"));
  EXPECT_TRUE(HostListener::open(folder.file("s")).ok());
}

TEST(HostListener, does_not_steal_from_a_live_one) {
  const TestFolder folder;
  const Result<HostListener> first = HostListener::open(folder.file("s"));
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(HostListener::open(folder.file("s")).code(), Code::in_use);
  EXPECT_TRUE(HostSocket::connect(folder.file("s")).ok());
}

// Any process of any user may take a name in the abstract namespace.
TEST(HostListener, is_kept_from_nothing_by_a_name_without_a_file) {
  const TestFolder folder;
  const std::string path = folder.file("s");
  const std::string name = "remora-listen-" + std::to_string(hash64(as_bytes(path)));
  const Descriptor squatter(::socket(AF_UNIX, SOCK_SEQPACKET, 0));
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  ASSERT_EQ(::bind(squatter.number(), reinterpret_cast<sockaddr*>(&address), size), 0);
  const Result<HostListener> listener = HostListener::open(path);
  EXPECT_TRUE(listener.ok()) << listener.status().message();
}

TEST(HostListener, waits_for_nobody_who_begins_to_listen_there) {
  const TestFolder folder;
  {
    const Descriptor first(::open(folder.file("s.lock").c_str(), O_RDWR | O_CREAT, 0600));
    ASSERT_EQ(::flock(first.number(), LOCK_EX), 0);
    EXPECT_EQ(HostListener::open(folder.file("s")).code(), Code::in_use);
  }
  EXPECT_TRUE(HostListener::open(folder.file("s")).ok()) << "it has ended";
  EXPECT_FALSE(std::filesystem::exists(folder.file("s.lock")));
}

TEST(HostListener, touches_no_file_that_is_not_a_socket) {
  const TestFolder folder;
  std::ofstream(folder.file("precious")) << "bytes";
  EXPECT_EQ(HostListener::open(folder.file("precious")).code(), Code::already_exists);
  EXPECT_EQ(std::filesystem::file_size(folder.file("precious")), 5u);
}

TEST(HostListener, removes_no_socket_of_another) {
  const TestFolder folder;
  {
    const Result<HostListener> listener = HostListener::open(folder.file("s"));
    ASSERT_TRUE(listener.ok());
    std::filesystem::rename(folder.file("s"), folder.file("moved"));
    leave_stale_socket(folder.file("s"));
  }
  EXPECT_TRUE(std::filesystem::exists(folder.file("s")));
}

TEST(HostListener, refuses_a_path_that_no_socket_can_have) {
  EXPECT_EQ(HostListener::open(std::string(108, 'x')).code(), Code::invalid_argument);
  EXPECT_EQ(HostListener::open("").code(), Code::invalid_argument);
  EXPECT_EQ(HostSocket::connect(std::string(108, 'x')).code(), Code::invalid_argument);
}

TEST(HostSocket, says_when_nobody_listens) {
  const TestFolder folder;
  EXPECT_EQ(HostSocket::connect(folder.file("none")).code(), Code::not_found);
  leave_stale_socket(folder.file("stale"));
  EXPECT_EQ(HostSocket::connect(folder.file("stale")).code(), Code::not_found);
}

TEST(HostSocket, learns_who_the_peer_is) {
  const TestFolder folder;
  Result<HostListener> listener = HostListener::open(folder.file("s"));
  ASSERT_TRUE(listener.ok());
  const Result<HostSocket> near = HostSocket::connect(folder.file("s"));
  ASSERT_TRUE(near.ok());
  Result<std::optional<HostSocket>> far = listener->accept();
  ASSERT_TRUE(far.ok() && far->has_value());
  const Result<HostIdentity> identity = (*far)->identity();
  ASSERT_TRUE(identity.ok());
  EXPECT_EQ(identity->pid, ::getpid());
  EXPECT_EQ(identity->uid, ::getuid());
}

// Root alone can become somebody else; others see that the mode keeps strangers out elsewhere.
TEST(HostSocket, tells_a_process_of_another_user_apart) {
  if (::getuid() != 0) {
    GTEST_SKIP() << "needs the right to change its user";
  }
  const TestFolder folder;
  ASSERT_EQ(::chmod(std::filesystem::path(folder.file("s")).parent_path().c_str(), 0755), 0);
  Result<HostListener> listener = HostListener::open(folder.file("private"));
  Result<HostListener> open_to_all = HostListener::open(folder.file("public"), 0666);
  ASSERT_TRUE(listener.ok() && open_to_all.ok());
  Child stranger([&] {
    const bool changed = ::setgid(65534) == 0 && ::setuid(65534) == 0;
    const bool kept_out =
        HostSocket::connect(folder.file("private")).code() == Code::permission_denied;
    const bool let_in = HostSocket::connect(folder.file("public")).ok();
    ::_exit(changed && kept_out && let_in ? 0 : 1);
  });
  EXPECT_EQ(stranger.wait(), 0);
  Result<std::optional<HostSocket>> far = open_to_all->accept();
  ASSERT_TRUE(far.ok() && far->has_value());
  const Result<HostIdentity> identity = (*far)->identity();
  ASSERT_TRUE(identity.ok());
  EXPECT_EQ(identity->uid, 65534u);
}

}  // namespace
}  // namespace remora::fabric::nic::ring
