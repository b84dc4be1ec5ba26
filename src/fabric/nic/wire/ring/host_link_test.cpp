#include "fabric/nic/wire/ring/host_link.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <vector>

#include "fabric/nic/wire/ring/ring_testing.h"

namespace remora::fabric::nic::ring {
namespace {

constexpr RingShape link_shape = {.ring_bytes = 65536, .mtu_bytes = 4096};
constexpr HandshakeTerms client_terms = {
    .gid = {1}, .shape = link_shape, .ring_bytes_max = 1 << 20};
constexpr HandshakeTerms server_terms = {
    .gid = {2}, .shape = link_shape, .ring_bytes_max = 1 << 20};

Status welcome_all(const HostPeer&) {
  return {};
}

// A listener's handshake with a peer that says whatever the test likes.
class RawPeer : public testing::Test {
 protected:
  RawPeer() {
    int ends[2] = {-1, -1};
    REMORA_CHECK(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, ends) == 0, "no sockets");
    peer_.emplace(Descriptor(ends[0]));
    handshake_.emplace(HostHandshake::accept(HostSocket(Descriptor(ends[1])), server_terms));
    descriptors_ = open_descriptors();
  }

  // The handshake's verdict; whatever it is, nothing may stay open but the two sockets.
  Status verdict() {
    const Result<std::optional<HostLink>> step = handshake_->step(welcome_all);
    if (!step.ok()) {
      EXPECT_EQ(open_descriptors(), descriptors_);
      EXPECT_EQ(link_mappings(), 0u);
    }
    return step.status();
  }

  // What the peer is told.
  Status answer() {
    std::vector<std::byte> buffer(handshake_bytes_max);
    std::size_t size_bytes = 0;
    if (peer_->receive(buffer, size_bytes) != HostSocket::Got::message) {
      return Status(Code::closed, "no answer");
    }
    const Result<HandshakeMessage> message = parse_handshake(Bytes(buffer).first(size_bytes));
    return message.ok() ? judge_answer(*message, client_terms.gid, link_shape) : message.status();
  }

  static EncodedHandshake hello() {
    return encode({.kind = HandshakeKind::hello, .gid = client_terms.gid, .shape = link_shape});
  }

  static Descriptor memory(std::size_t size_bytes, int seals, unsigned flags = 0) {
    Descriptor made(::memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING | flags));
    EXPECT_EQ(::ftruncate(made.number(), static_cast<off_t>(size_bytes)), 0);
    EXPECT_EQ(::fcntl(made.number(), F_ADD_SEALS, seals), 0);
    return made;
  }
  static constexpr int good_seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
  static constexpr std::size_t good_bytes = SharedSegment::size_bytes(link_shape.ring_bytes);

  void say_hello_with(const Descriptor& passed) {
    ASSERT_TRUE(peer_->send(hello().view(), passed.number()).ok());
  }

  void send_descriptors(std::size_t count) {
    const std::vector<int> numbers(count, 0);
    std::vector<char> room(CMSG_SPACE(count * sizeof(int)));
    EncodedHandshake message = hello();
    iovec piece = {message.bytes.data(), message.size_bytes};
    msghdr header = {};
    header.msg_iov = &piece;
    header.msg_iovlen = 1;
    header.msg_control = room.data();
    header.msg_controllen = room.size();
    cmsghdr* item = CMSG_FIRSTHDR(&header);
    item->cmsg_level = SOL_SOCKET;
    item->cmsg_type = SCM_RIGHTS;
    item->cmsg_len = CMSG_LEN(count * sizeof(int));
    std::memcpy(CMSG_DATA(item), numbers.data(), count * sizeof(int));
    ASSERT_GT(::sendmsg(peer_->descriptor(), &header, 0), 0);
  }

  std::optional<HostSocket> peer_;
  std::optional<HostHandshake> handshake_;
  std::size_t descriptors_ = 0;
};

TEST_F(RawPeer, is_welcome_with_a_good_hello) {
  say_hello_with(memory(good_bytes, good_seals));
  EXPECT_TRUE(verdict().ok()) << verdict().message();
  EXPECT_TRUE(answer().ok()) << answer().message();
}

TEST_F(RawPeer, is_waited_for_when_it_says_nothing) {
  const Result<std::optional<HostLink>> step = handshake_->step(welcome_all);
  ASSERT_TRUE(step.ok());
  EXPECT_FALSE(step->has_value());
}

TEST_F(RawPeer, is_refused_when_it_hangs_up) {
  peer_.reset();
  descriptors_ -= 1;
  EXPECT_EQ(verdict().code(), Code::closed);
}

TEST_F(RawPeer, is_refused_for_garbage) {
  ASSERT_TRUE(peer_->send(as_bytes("GET / HTTP/1.1\r\n\r\n")).ok());
  EXPECT_EQ(verdict().code(), Code::damaged);
  EXPECT_EQ(answer().code(), Code::damaged);
}

TEST_F(RawPeer, is_refused_for_too_much) {
  ASSERT_TRUE(peer_->send(std::vector<std::byte>(handshake_bytes_max + 1)).ok());
  EXPECT_EQ(verdict().code(), Code::damaged);
}

TEST_F(RawPeer, is_refused_for_an_empty_message) {
  ASSERT_TRUE(peer_->send({}).ok());
  EXPECT_EQ(verdict().code(), Code::closed);
}

TEST_F(RawPeer, is_refused_without_memory) {
  ASSERT_TRUE(peer_->send(hello().view()).ok());
  EXPECT_EQ(verdict().code(), Code::invalid_argument);
  EXPECT_EQ(answer().code(), Code::invalid_argument);
}

TEST_F(RawPeer, is_refused_with_too_many_descriptors_and_none_leaks) {
  for (const std::size_t count : {2u, 4u, 5u, 200u}) {
    send_descriptors(count);
    EXPECT_EQ(verdict().code(), Code::damaged) << count;
  }
}

TEST_F(RawPeer, is_refused_with_memory_that_it_could_shrink) {
  for (const int seals : {0, F_SEAL_SHRINK, F_SEAL_SHRINK | F_SEAL_GROW, F_SEAL_GROW | F_SEAL_SEAL,
                          F_SEAL_SHRINK | F_SEAL_SEAL}) {
    say_hello_with(memory(good_bytes, seals));
    EXPECT_EQ(verdict().code(), Code::permission_denied) << seals;
    EXPECT_EQ(answer().code(), Code::permission_denied) << seals;
  }
}

TEST_F(RawPeer, is_refused_with_memory_that_is_not_to_be_written) {
  say_hello_with(memory(good_bytes, good_seals | F_SEAL_WRITE));
  EXPECT_EQ(verdict().code(), Code::invalid_argument);
}

TEST_F(RawPeer, is_refused_with_memory_of_another_size) {
  for (const std::size_t size_bytes : {std::size_t{0}, good_bytes - 1, good_bytes + page_bytes}) {
    say_hello_with(memory(size_bytes, good_seals));
    EXPECT_EQ(verdict().code(), Code::invalid_argument) << size_bytes;
  }
}

TEST_F(RawPeer, is_refused_with_something_that_is_not_memory) {
  say_hello_with(Descriptor(::open("/dev/zero", O_RDWR | O_CLOEXEC)));
  EXPECT_EQ(verdict().code(), Code::permission_denied);
}

TEST_F(RawPeer, is_refused_when_the_owner_says_so) {
  say_hello_with(memory(good_bytes, good_seals));
  const auto nobody = [](const HostPeer& peer) {
    EXPECT_EQ(peer.gid, client_terms.gid);
    EXPECT_EQ(peer.identity.pid, ::getpid());
    return Status(Code::permission_denied, "members only");
  };
  EXPECT_EQ(handshake_->step(nobody).code(), Code::permission_denied);
  EXPECT_EQ(answer().message(), "the listener refused the link: members only");
}

// Both ends of a real link.
class HostLinkTest : public testing::Test {
 protected:
  HostLinkTest() {
    Result<HostListener> listener = HostListener::open(folder_.file("s"));
    Result<HostHandshake> connecting = HostHandshake::connect(folder_.file("s"), client_terms);
    REMORA_CHECK(listener.ok() && connecting.ok(), "the test needs a link");
    Result<std::optional<HostSocket>> socket = listener->accept();
    HostHandshake accepting = HostHandshake::accept(std::move(**socket), server_terms);
    server_.emplace(*accepting.step(welcome_all).value());
    client_.emplace(*connecting->step(welcome_all).value());
  }

  TestFolder folder_;
  std::optional<HostLink> server_;
  std::optional<HostLink> client_;
  std::vector<std::byte> buffer_ = std::vector<std::byte>(frame_bytes_max);
};

TEST_F(HostLinkTest, knows_the_other_end) {
  EXPECT_EQ(server_->peer().gid, client_terms.gid);
  EXPECT_EQ(client_->peer().gid, server_terms.gid);
  EXPECT_EQ(client_->peer().identity.pid, ::getpid());
}

TEST_F(HostLinkTest, carries_packets_both_ways) {
  std::memcpy(client_->producer().reserve(4).data(), "ping", 4);
  client_->producer().commit();
  EXPECT_EQ(as_text(server_->consumer().peek()), "ping");
  std::memcpy(server_->producer().reserve(4).data(), "pong", 4);
  server_->producer().commit();
  EXPECT_EQ(as_text(client_->consumer().peek()), "pong");
}

TEST_F(HostLinkTest, carries_control_messages_of_every_size) {
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, control_bytes_max}) {
    ASSERT_TRUE(client_->send_control(as_bytes(std::string(size, 'c'))).ok());
    const HostLink::Control got = server_->poll_control(buffer_);
    ASSERT_EQ(got.got, HostSocket::Got::message);
    EXPECT_EQ(as_text(got.frame.payload), std::string(size, 'c'));
  }
  EXPECT_EQ(server_->poll_control(buffer_).got, HostSocket::Got::nothing);
  EXPECT_EQ(client_->send_control(std::vector<std::byte>(control_bytes_max + 1)).code(),
            Code::invalid_argument);
}

TEST_F(HostLinkTest, says_when_too_many_control_messages_are_unread) {
  Status sent;
  int count = 0;
  for (; sent.ok() && count < 100'000; ++count) {
    sent = client_->send_control(as_bytes("x"));
  }
  EXPECT_EQ(sent.code(), Code::no_space);
  client_->ring_bell();  // does not block
  while (server_->poll_control(buffer_).got == HostSocket::Got::message) {
  }
  EXPECT_TRUE(client_->send_control(as_bytes("x")).ok());
}

TEST_F(HostLinkTest, gives_the_messages_of_a_peer_that_is_gone) {
  ASSERT_TRUE(server_->send_control(as_bytes("unread")).ok());  // makes the kernel say "reset"
  ASSERT_TRUE(client_->send_control(as_bytes("last words")).ok());
  client_.reset();
  EXPECT_EQ(as_text(server_->poll_control(buffer_).frame.payload), "last words");
  EXPECT_EQ(server_->poll_control(buffer_).got, HostSocket::Got::closed);
  EXPECT_EQ(server_->send_control(as_bytes("x")).code(), Code::closed);
}

TEST_F(HostLinkTest, is_revoked_for_the_other_end) {
  EXPECT_FALSE(client_->revoked());
  server_->revoke();
  EXPECT_TRUE(client_->revoked());
  EXPECT_EQ(client_->poll_control(buffer_).got, HostSocket::Got::closed);
}

}  // namespace
}  // namespace remora::fabric::nic::ring
