#include "fabric/nic/wire/roce/roce_net.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <functional>
#include <optional>
#include <string>

#include "base/folder_testing.h"
#include "runtime/poll_loop.h"
#include "tls/tls_testing.h"

namespace remora::fabric::nic::roce {
namespace {

struct NetOwner final : LinkOwner {
  Status admit(const HostPeer& peer) override {
    EXPECT_EQ(peer.identity.uid, no_user);
    return welcomes_first-- > 0 ? Status() : verdict;
  }
  void link_up(LinkId link, const HostPeer&) override { up.push_back(link); }
  void link_down(LinkId link) override { down.push_back(link); }
  void control(LinkId, ConstBytes bytes) override { said.emplace_back(as_text(bytes)); }
  void refused(const Status& reason) override {
    ++refusals;
    last_reason = std::string(reason.message());
  }

  Status verdict;
  int welcomes_first = 0;  // whatever the verdict
  std::vector<LinkId> up;
  std::vector<LinkId> down;
  std::vector<std::string> said;
  int refusals = 0;
  std::string last_reason;
};

// In place of a NIC: the wire is polled.
struct NetSink final : PacketSink {
  void receive(LinkId, ConstBytes) override {}
  void link_down(LinkId link) override { down.push_back(link); }
  std::vector<LinkId> down;
};

class RoceNetTest : public testing::Test {
 protected:
  void SetUp() override { listen_with({}); }
  void listen_with(const RoceNetOptions& options) {
    const IpEndpoint at{parse_address("127.0.0.1").value(), 0};
    auto made = RoceNet::listen(loop, far_owner, at, options);
    ASSERT_TRUE(made.ok()) << made.status().message();
    far = std::move(made).value();
  }
  // Until both sides know of it.
  Result<std::unique_ptr<RoceNet>> connect(const RoceNetOptions& options = {}) {
    const std::size_t before = far_owner.up.size();
    auto near = loop.block_on(RoceNet::connect(loop, near_owner, far->wire().local(), options));
    EXPECT_TRUE(!near.ok() || run_until([&] { return far_owner.up.size() > before; }));
    return near;
  }
  // The next message to a peer that is played by hand.
  Result<NetMessage> next_of(ControlStream& stream) {
    ConstBytes message;
    ControlStream::Got got = ControlStream::Got::nothing;
    run_until([&] {
      got = got == ControlStream::Got::nothing ? stream.receive(message) : got;
      return got != ControlStream::Got::nothing;
    });
    return got == ControlStream::Got::message ? decode_net_message(message)
                                              : Status(Code::closed, "nothing was said");
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

TEST_F(RoceNetTest, who_is_not_admitted_any_more_when_it_settles_hears_why) {
  far_owner.welcomes_first = 1;
  far_owner.verdict = Status(Code::no_space, "others were faster");
  auto near = loop.block_on(RoceNet::connect(loop, near_owner, far->wire().local()));
  ASSERT_TRUE(near.ok()) << near.status().message();
  ASSERT_TRUE(run_until([&] { return near_owner.down.size() == 1; }));
  EXPECT_EQ(near_owner.last_reason, "others were faster");
  EXPECT_TRUE(near_owner.said.empty()) << "a refusal is no control message";
  EXPECT_EQ(far_owner.refusals, 1);
  EXPECT_TRUE(run_until([&] { return far->wire().links() == 0; }));
  EXPECT_TRUE(far_owner.up.empty() && far_owner.down.empty()) << "it never had a link";
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

TEST_F(RoceNetTest, links_of_one_device_have_the_mtu_that_both_their_sides_can) {
  const auto small = connect({.mtu_bytes = 256});
  const auto large = connect();
  const auto middle = connect({.mtu_bytes = 1024});
  ASSERT_TRUE(small.ok() && large.ok() && middle.ok());
  const RoceNet* nears[] = {small->get(), large->get(), middle->get()};
  constexpr std::uint32_t expected[] = {256, 4096, 1024};
  for (std::size_t i = 0; i < 3; ++i) {
    const LinkTraits far_traits = far->wire().traits(far_owner.up.at(i));
    const LinkTraits near_traits = nears[i]->wire().traits(nears[i]->link());
    EXPECT_EQ(far_traits.mtu_bytes, expected[i]);
    EXPECT_EQ(near_traits.mtu_bytes, expected[i]);
    EXPECT_EQ(far_traits.window_packets, near_traits.window_packets);
    EXPECT_FALSE(far_traits.lossless);
    EXPECT_TRUE(far_traits.gathers && far_traits.streams);
  }
  EXPECT_LT(far->wire().traits(far_owner.up[1]).window_packets,
            far->wire().traits(far_owner.up[0]).window_packets)
      << "a window is of bytes";
}

TEST_F(RoceNetTest, both_sides_agree_on_the_verbs_that_both_offer) {
  const auto all = connect();
  const auto some = connect({.agreed = {.verbs = vendor_verb(DurableVerb::rflush) | 1 << 20,
                                        .flush_worth = FlushWorth::pushed}});
  ASSERT_TRUE(all.ok() && some.ok());
  EXPECT_EQ((*all)->wire().traits((*all)->link()).agreed.verbs, all_vendor_verbs);
  EXPECT_EQ((*some)->wire().traits((*some)->link()).agreed.verbs, vendor_verb(DurableVerb::rflush));
  const Agreed at_far = far->wire().traits(far_owner.up.at(1)).agreed;
  EXPECT_EQ(at_far.verbs, vendor_verb(DurableVerb::rflush));
  EXPECT_EQ(at_far.flush_worth, FlushWorth::pushed);
}

TEST_F(RoceNetTest, a_listener_with_a_small_mtu_has_its_way_too) {
  listen_with({.mtu_bytes = 512});
  for (const std::uint32_t near_bytes : {0u, 512u, 4096u}) {
    const auto near = connect({.mtu_bytes = near_bytes});
    ASSERT_TRUE(near.ok()) << near.status().message();
    EXPECT_EQ((*near)->wire().traits((*near)->link()).mtu_bytes, 512u);
    EXPECT_EQ(far->wire().traits(far_owner.up.back()).mtu_bytes, 512u);
  }
}

TEST_F(RoceNetTest, connectors_with_absurd_mtus_are_refused) {
  struct Lie {
    std::uint32_t replied;
    std::uint32_t settled;  // where the reply is right
  };
  for (const Lie& lie : {Lie{0, 0}, Lie{1000, 0}, Lie{128, 0}, Lie{8192, 0}, Lie{~0u, 0},
                         Lie{1024, 2048}, Lie{1024, 0}, Lie{1024, 600}, Lie{1024, ~0u}}) {
    auto stream = connect_stream(far->wire().local());
    ASSERT_TRUE(stream.ok());
    ASSERT_EQ(next_of(*stream)->kind, NetKind::greeting);
    NetMessage said{
        .kind = NetKind::reply, .mtu_bytes = lie.replied, .udp_port = 9, .gid = {1, 2, 3}};
    ASSERT_TRUE(stream->send(encode(said)).ok());
    Result<NetMessage> answer = next_of(*stream);
    if (lie.replied == 1024) {
      ASSERT_EQ(answer->kind, NetKind::ready);
      EXPECT_EQ(answer->mtu_bytes, 1024u);
      said = {.kind = NetKind::settled, .mtu_bytes = lie.settled};
      ASSERT_TRUE(stream->send(encode(said)).ok());
      answer = next_of(*stream);
    }
    ASSERT_TRUE(answer.ok()) << lie.replied << " " << lie.settled;
    EXPECT_EQ(answer->kind, NetKind::refusal) << lie.replied << " " << lie.settled;
    EXPECT_EQ(answer->reason.code(), Code::invalid_argument);
    EXPECT_TRUE(run_until([&] { return far->wire().links() == 0; }));
  }
  EXPECT_TRUE(far_owner.up.empty() && far_owner.down.empty());
  EXPECT_EQ(far_owner.refusals, 9);
  EXPECT_TRUE(connect().ok()) << "others are served";
}

TEST_F(RoceNetTest, who_does_not_settle_is_hung_up_on) {
  listen_with({.handshake_ns = 30'000'000});
  auto stream = connect_stream(far->wire().local());
  ASSERT_TRUE(stream.ok());
  const NetMessage reply{.kind = NetKind::reply, .mtu_bytes = 1024, .udp_port = 9, .gid = {7}};
  ASSERT_TRUE(stream->send(encode(reply)).ok());
  EXPECT_TRUE(run_until([&] { return far->wire().links() == 1; }));
  EXPECT_TRUE(run_until([&] { return far->wire().links() == 0; }));
  EXPECT_TRUE(far_owner.up.empty() && far_owner.down.empty()) << "the owner never heard of it";
}

// A listener that is played by hand: it greets with one MTU and is ready with another.
class OddListener final : public Poller {
 public:
  OddListener(std::uint32_t greeted_bytes, std::uint32_t ready_bytes)
      : greeted_bytes_(greeted_bytes), ready_bytes_(ready_bytes) {
    const SocketAddress any = socket_address({parse_address("127.0.0.1").value(), 0});
    EXPECT_EQ(bind(listener_.number(), any.plain(), any.size_bytes), 0);
    EXPECT_EQ(listen(listener_.number(), 1), 0);
  }
  IpEndpoint at() const {
    sockaddr_storage bound{};
    socklen_t size = sizeof bound;
    EXPECT_EQ(getsockname(listener_.number(), reinterpret_cast<sockaddr*>(&bound), &size), 0);
    return endpoint_of(bound);
  }
  bool poll() override {
    if (!stream_) {
      Descriptor socket(accept4(listener_.number(), nullptr, nullptr, SOCK_NONBLOCK));
      if (socket.open()) {
        stream_.emplace(std::move(socket));
        say(NetKind::greeting, greeted_bytes_);
      }
      return true;
    }
    ConstBytes message;
    if (stream_->receive(message) == ControlStream::Got::message) {
      const Result<NetMessage> heard = decode_net_message(message);
      if (heard.ok() && heard->kind == NetKind::reply) {
        replied_bytes = heard->mtu_bytes;
        say(NetKind::ready, ready_bytes_);
      }
    }
    return true;
  }
  std::uint32_t replied_bytes = 0;

 private:
  void say(NetKind kind, std::uint32_t mtu_bytes) {
    const NetMessage message{.kind = kind, .mtu_bytes = mtu_bytes, .udp_port = 9, .gid = {5}};
    EXPECT_TRUE(stream_->send(encode(message)).ok());
  }

  const std::uint32_t greeted_bytes_;
  const std::uint32_t ready_bytes_;
  Descriptor listener_{socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
  std::optional<ControlStream> stream_;
};

TEST_F(RoceNetTest, listeners_with_absurd_mtus_are_refused) {
  struct Lie {
    std::uint32_t greeted;
    std::uint32_t ready;
    std::uint32_t replied;  // 0: it comes to no reply
  };
  for (const Lie& lie : {Lie{0, 0, 0}, Lie{1500, 0, 0}, Lie{1u << 31, 0, 0}, Lie{1024, 2048, 1024},
                         Lie{1024, 0, 1024}, Lie{512, 511, 512}}) {
    OddListener odd(lie.greeted, lie.ready);
    loop.add_poller(odd);
    const auto near = loop.block_on(RoceNet::connect(loop, near_owner, odd.at()));
    EXPECT_EQ(near.code(), Code::invalid_argument) << lie.greeted << " " << lie.ready;
    EXPECT_EQ(odd.replied_bytes, lie.replied);
  }
  OddListener right(2048, 512);
  loop.add_poller(right);
  const auto near = loop.block_on(RoceNet::connect(loop, near_owner, right.at()));
  ASSERT_TRUE(near.ok()) << near.status().message();
  EXPECT_EQ((*near)->wire().traits((*near)->link()).mtu_bytes, 512u);
}

// --- TLS ---

class RoceNetTlsTest : public RoceNetTest {
 protected:
  void SetUp() override { listen_with({.tls = identity_}); }
  RoceNetOptions by_tls(const std::string& host = "127.0.0.1") const {
    return {.tls = trust_, .tls_host = host};
  }

  TestFolder folder_;
  const TestCertificates files_ = make_certificates(folder_.file(""));
  const std::shared_ptr<TlsContext> identity_ =
      TlsContext::server(files_.certificate, files_.key).value();
  const std::shared_ptr<TlsContext> trust_ = TlsContext::client(files_.authority).value();
};

TEST_F(RoceNetTlsTest, links_come_up_and_carry_messages) {
  auto near = connect(by_tls());
  ASSERT_TRUE(near.ok()) << near.status().message();
  EXPECT_EQ((*near)->wire().mtu_bytes(), far->wire().mtu_bytes());
  const std::string large(4096, 'x');
  constexpr std::size_t count = 100;  // more than are heard at a time
  std::size_t sent = 0;
  EXPECT_TRUE(run_until([&] {
    while (sent < count && (*near)->send_control((*near)->link(), as_bytes(large)).ok()) {
      ++sent;
    }
    return far_owner.said.size() == count;
  }));
  EXPECT_EQ(far_owner.said.back(), large);
  EXPECT_TRUE(far->send_control(far_owner.up[0], as_bytes("welcome")).ok());
  EXPECT_TRUE(run_until([&] { return near_owner.said.size() == 1; }));
  near->reset();
  EXPECT_TRUE(run_until([&] { return far_owner.down.size() == 1; }));
}

TEST_F(RoceNetTlsTest, many_small_messages_are_all_heard) {
  auto near = connect(by_tls());
  ASSERT_TRUE(near.ok()) << near.status().message();
  for (int i = 0; i < 200; ++i) {
    EXPECT_TRUE((*near)->send_control((*near)->link(), as_bytes(std::to_string(i))).ok());
  }
  EXPECT_TRUE(run_until([&] { return far_owner.said.size() == 200; }));
}

TEST_F(RoceNetTlsTest, who_speaks_in_clear_is_not_let_in) {
  const auto near = connect({.handshake_ns = 100'000'000});
  EXPECT_EQ(near.code(), Code::timed_out);
  EXPECT_NE(near.status().message().find("--tls-ca"), std::string::npos);
  EXPECT_TRUE(far_owner.up.empty());
}

TEST_F(RoceNetTlsTest, a_listener_in_clear_is_not_believed) {
  listen_with({});
  const auto near = connect(by_tls());
  EXPECT_EQ(near.code(), Code::permission_denied) << near.status().message();
  EXPECT_TRUE(far_owner.up.empty());
}

TEST_F(RoceNetTlsTest, a_listener_of_another_name_is_not_believed) {
  const auto near = connect(by_tls("store.example"));
  EXPECT_EQ(near.code(), Code::permission_denied);
  EXPECT_NE(near.status().message().find("not believed"), std::string::npos);
  EXPECT_TRUE(far_owner.up.empty());
}

// A handshake that stands still is given up, as any; others go on meanwhile.
TEST_F(RoceNetTlsTest, half_a_handshake_keeps_nobody_out) {
  listen_with({.handshake_ns = 200'000'000, .tls = identity_});
  auto half = connect_stream(far->wire().local());
  ASSERT_TRUE(half.ok());
  ASSERT_EQ(::send(half->descriptor(), "\x16\x03\x01", 3, MSG_NOSIGNAL), 3);
  EXPECT_TRUE(connect(by_tls()).ok());
  ConstBytes message;
  EXPECT_TRUE(run_until([&] { return half->receive(message) == ControlStream::Got::closed; }));
}

}  // namespace
}  // namespace remora::fabric::nic::roce
