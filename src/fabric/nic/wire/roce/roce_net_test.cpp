#include "fabric/nic/wire/roce/roce_net.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <functional>
#include <string>

#include "runtime/poll_loop.h"

namespace remora::fabric::nic {
namespace {

struct NetOwner final : LinkOwner {
  Status admit(const HostPeer& peer) override {
    EXPECT_EQ(peer.identity.uid, no_user);
    return verdict;
  }
  void link_up(LinkId link, const HostPeer&) override { up.push_back(link); }
  void link_down(LinkId link) override { down.push_back(link); }
  void control(LinkId, ConstBytes bytes) override { said.emplace_back(as_text(bytes)); }
  void refused(const Status&) override { ++refusals; }

  Status verdict;
  std::vector<LinkId> up;
  std::vector<LinkId> down;
  std::vector<std::string> said;
  int refusals = 0;
};

// In place of a NIC: the wire is polled.
struct NetSink final : PacketSink {
  void receive(LinkId, ConstBytes) override {}
  void link_down(LinkId link) override { down.push_back(link); }
  std::vector<LinkId> down;
};

class RoceNetTest : public testing::Test {
 protected:
  void SetUp() override {
    const IpEndpoint at{parse_address("127.0.0.1").value(), 0};
    auto made = RoceNet::listen(loop, far_owner, at);
    ASSERT_TRUE(made.ok()) << made.status().message();
    far = std::move(made).value();
  }
  Result<std::unique_ptr<RoceNet>> connect() {
    return loop.block_on(RoceNet::connect(loop, near_owner, far->wire().local()));
  }
  bool run_until(const std::function<bool()>& holds) {
    const std::uint64_t end_ns = loop.after(20'000'000'000);
    while (!holds() && loop.now_ns() < end_ns) {
      (void)far->wire().poll(sink, 8);
      loop.turn();
    }
    return holds();
  }

  PollLoop loop;
  NetOwner near_owner;
  NetOwner far_owner;
  NetSink sink;
  std::unique_ptr<RoceNet> far;
};

TEST_F(RoceNetTest, links_come_up_on_both_sides_and_carry_messages) {
  auto near = connect();
  ASSERT_TRUE(near.ok()) << near.status().message();
  ASSERT_EQ(far_owner.up.size(), 1u);
  EXPECT_EQ((*near)->wire().link_to(far->wire().gid()), (*near)->link());
  EXPECT_EQ(far->wire().link_to((*near)->wire().gid()), far_owner.up[0]);
  EXPECT_EQ((*near)->wire().mtu_bytes(), far->wire().mtu_bytes());
  const std::string large(4096, 'x');
  EXPECT_TRUE((*near)->send_control((*near)->link(), as_bytes("hello")).ok());
  EXPECT_TRUE((*near)->send_control((*near)->link(), as_bytes(large)).ok());
  EXPECT_TRUE(far->send_control(far_owner.up[0], as_bytes("welcome")).ok());
  EXPECT_TRUE(run_until([&] { return far_owner.said.size() == 2 && near_owner.said.size() == 1; }));
  EXPECT_EQ(far_owner.said, (std::vector<std::string>{"hello", large}));
  EXPECT_EQ(near_owner.said[0], "welcome");
  EXPECT_EQ((*near)->send_control((*near)->link(), as_bytes(large + "y")).code(),
            Code::invalid_argument);
}

TEST_F(RoceNetTest, a_peer_that_goes_takes_its_link_down) {
  auto near = connect();
  ASSERT_TRUE(near.ok());
  const LinkId link = far_owner.up.at(0);
  near->reset();
  EXPECT_TRUE(run_until([&] { return far_owner.down.size() == 1; }));
  EXPECT_EQ(far_owner.down[0], link);
  EXPECT_EQ(sink.down, std::vector<LinkId>{link}) << "the NIC hears of it first";
  EXPECT_EQ(far->wire().links(), 0u);
  EXPECT_TRUE(connect().ok()) << "another may come";
}

TEST_F(RoceNetTest, cutting_off_is_seen_by_the_peer) {
  auto near = connect();
  ASSERT_TRUE(near.ok());
  far->cut_off(far_owner.up.at(0));
  EXPECT_TRUE(run_until([&] { return near_owner.down.size() == 1; }));
  EXPECT_EQ(far->send_control(far_owner.up[0], as_bytes("x")).code(), Code::closed);
}

TEST_F(RoceNetTest, a_link_that_the_nic_cut_off_ends) {
  auto near = connect();
  ASSERT_TRUE(near.ok());
  far->wire().cut_off(far_owner.up.at(0));
  EXPECT_TRUE(run_until([&] { return near_owner.down.size() == 1 && far_owner.down.size() == 1; }));
}

TEST_F(RoceNetTest, who_is_not_admitted_hears_why) {
  far_owner.verdict = Status(Code::permission_denied, "not today");
  const auto near = connect();
  EXPECT_EQ(near.code(), Code::permission_denied);
  EXPECT_EQ(near.status().message(), "not today");
  EXPECT_EQ(far_owner.refusals, 1);
  EXPECT_TRUE(far_owner.up.empty());
}

TEST_F(RoceNetTest, nonsense_is_hung_up_on) {
  for (const std::string& noise :
       {std::string(4, '\0'), std::string("GET / HTTP/1.0\r\n\r\n"), std::string(300, 'x'),
        std::string("\x04\0\0\0abcd", 8), std::string("\xff\xff\xff\xff", 4)}) {
    auto stream = connect_stream(far->wire().local());
    ASSERT_TRUE(stream.ok());
    ASSERT_EQ(send(stream->descriptor(), noise.data(), noise.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(noise.size()));
    EXPECT_TRUE(run_until([&] {
      ConstBytes message;
      return stream->receive(message) == ControlStream::Got::closed;
    })) << noise;
  }
  EXPECT_TRUE(far_owner.up.empty());
  EXPECT_TRUE(connect().ok());
}

// Something listens there and says nothing.
TEST_F(RoceNetTest, a_silent_peer_is_given_up) {
  const int silent = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const SocketAddress any = socket_address({parse_address("127.0.0.1").value(), 0});
  ASSERT_EQ(bind(silent, any.plain(), any.size_bytes), 0);
  ASSERT_EQ(listen(silent, 4), 0);
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  ASSERT_EQ(getsockname(silent, reinterpret_cast<sockaddr*>(&bound), &size), 0);
  const auto near = loop.block_on(
      RoceNet::connect(loop, near_owner, endpoint_of(bound), {.handshake_ns = 30'000'000}));
  EXPECT_EQ(near.code(), Code::timed_out);
  close(silent);
}

TEST_F(RoceNetTest, nobody_there_is_said_at_once) {
  const IpEndpoint at = far->wire().local();
  far.reset();
  EXPECT_EQ(loop.block_on(RoceNet::connect(loop, near_owner, at)).code(), Code::not_found);
}

TEST_F(RoceNetTest, a_second_listener_is_refused) {
  EXPECT_EQ(RoceNet::listen(loop, near_owner, far->wire().local()).code(), Code::in_use);
}

TEST(NetMessage, survives_being_sent) {
  const NetMessage greeting{
      .kind = NetKind::greeting, .mtu_bytes = 1024, .udp_port = 7, .gid = {1, 2}};
  const Result<NetMessage> heard = decode_net_message(encode(greeting));
  ASSERT_TRUE(heard.ok());
  EXPECT_EQ(heard->gid, greeting.gid);
  EXPECT_EQ(heard->udp_port, 7);
  EXPECT_EQ(heard->mtu_bytes, 1024u);
  const NetMessage refusal{.kind = NetKind::refusal,
                           .reason = Status(Code::no_space, std::string(500, 'r'))};
  const Result<NetMessage> why = decode_net_message(encode(refusal));
  ASSERT_TRUE(why.ok());
  EXPECT_EQ(why->reason.code(), Code::no_space);
  EXPECT_EQ(why->reason.message().size(), net_format::text_bytes);
}

TEST(NetMessage, reasons_cannot_steer_a_terminal) {
  const NetMessage refusal{.kind = NetKind::refusal,
                           .reason = Status(Code::no_space, "\x1b]0;gone\a\r\n\xc2\x9b")};
  const Result<NetMessage> why = decode_net_message(encode(refusal));
  ASSERT_TRUE(why.ok());
  EXPECT_EQ(why->reason.message(), "?]0;gone?????");
}

TEST(NetMessage, every_changed_byte_is_noticed) {
  const std::vector<std::byte> right =
      encode(NetMessage{.kind = NetKind::reply, .mtu_bytes = 4096, .udp_port = 9});
  for (std::size_t i = 0; i < right.size(); ++i) {
    std::vector<std::byte> changed = right;
    changed[i] ^= std::byte{1};
    EXPECT_FALSE(decode_net_message(changed).ok()) << i;
    EXPECT_FALSE(decode_net_message(ConstBytes(right).first(i)).ok()) << i;
  }
}

}  // namespace
}  // namespace remora::fabric::nic
