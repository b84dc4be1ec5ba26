#include "fabric/nic/wire/roce/net_message.h"

#include <gtest/gtest.h>

#include "fabric/nic/wire/roce/path_mtu.h"

namespace remora::fabric::nic::roce {
namespace {

TEST(NetMessage, survives_being_sent) {
  const NetMessage greeting{.kind = NetKind::greeting,
                            .mtu_bytes = 1024,
                            .udp_port = 7,
                            .gid = {1, 2},
                            .agreed = {.verbs = 5, .flush_worth = FlushWorth::pushed}};
  const Result<NetMessage> heard = decode_net_message(encode(greeting));
  ASSERT_TRUE(heard.ok());
  EXPECT_EQ(heard->gid, greeting.gid);
  EXPECT_EQ(heard->udp_port, 7);
  EXPECT_EQ(heard->mtu_bytes, 1024u);
  EXPECT_EQ(heard->agreed.verbs, 5u);
  EXPECT_EQ(heard->agreed.flush_worth, FlushWorth::pushed);
  const Result<NetMessage> settled =
      decode_net_message(encode(NetMessage{.kind = NetKind::settled, .mtu_bytes = 512}));
  ASSERT_TRUE(settled.ok());
  EXPECT_EQ(settled->kind, NetKind::settled);
  EXPECT_EQ(settled->mtu_bytes, 512u);
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

TEST(NetMessage, the_version_before_is_refused_by_its_number) {
  std::vector<std::byte> older = encode(NetMessage{.kind = NetKind::ready});
  older[8] = std::byte{3};
  const Result<NetMessage> heard = decode_net_message(older);
  EXPECT_EQ(heard.code(), Code::unsupported);
  EXPECT_NE(heard.status().message().find("version 3"), std::string::npos);
}

// So that they show what size of packets passes.
TEST(NetMessage, greetings_and_replies_fill_the_largest_packet_that_a_link_may_carry) {
  constexpr std::size_t least_ip_and_tcp = 40;
  std::uint32_t carried_bytes = 1 << 16;
  while (roce_mtu(carried_bytes - 1) == limits::mtu_bytes_max) {
    --carried_bytes;
  }
  for (const NetKind kind : {NetKind::greeting, NetKind::reply}) {
    const std::size_t framed = net_format::head_bytes + encode(NetMessage{.kind = kind}).size();
    EXPECT_GE(least_ip_and_tcp + framed, carried_bytes);
  }
  EXPECT_EQ(encode(NetMessage{.kind = NetKind::ready}).size(), sizeof(net_format::Message));
}

TEST(NetMessage, every_changed_byte_is_noticed) {
  const std::vector<std::byte> right =
      encode(NetMessage{.kind = NetKind::reply, .mtu_bytes = 4096, .udp_port = 9});
  for (std::size_t i = 0; i < right.size(); ++i) {
    std::vector<std::byte> changed = right;
    changed[i] ^= std::byte{1};
    ASSERT_FALSE(decode_net_message(changed).ok()) << i;
    ASSERT_FALSE(decode_net_message(ConstBytes(right).first(i)).ok()) << i;
  }
}

}  // namespace
}  // namespace remora::fabric::nic::roce
