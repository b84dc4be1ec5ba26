#include "fabric/nic/wire/roce/roce_wire.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <cstring>
#include <vector>

#include "fabric/nic/packet/packet.h"

namespace remora::fabric::nic::roce {
namespace {

std::unique_ptr<RoceWire> wire_at(const char* address, RoceWireOptions options = {}) {
  options.local = {parse_address(address).value(), 0};
  return std::move(RoceWire::create(options)).value();
}

LinkId link_from(RoceWire& from, const RoceWire& to) {
  return from.add_link({.endpoint = to.local(), .gid = to.gid()}).value();
}

struct Collector final : PacketSink {
  void receive(LinkId from, ConstBytes packet) override {
    links.push_back(from);
    packets.emplace_back(packet.begin(), packet.end());
  }
  void link_down(LinkId link) override { down.push_back(link); }

  std::vector<LinkId> links;
  std::vector<std::vector<std::byte>> packets;
  std::vector<LinkId> down;
};

// Loopback hands datagrams over before the call that sent them returns.
void drain(RoceWire& wire, Collector& sink) {
  while (wire.poll(sink, 64) != 0) {
  }
}

std::vector<std::byte> write_packet(std::size_t payload_bytes, std::uint32_t number) {
  Packet packet;
  packet.opcode = PacketOpcode::write_only;
  packet.sequence = number;
  packet.payload_bytes = static_cast<std::uint32_t>(payload_bytes);
  std::vector<std::byte> bytes(packet_bytes(packet.opcode, payload_bytes));
  std::ranges::fill(encode(packet, bytes), static_cast<std::byte>(number));
  return bytes;
}

bool put(RoceWire& wire, LinkId link, const std::vector<std::byte>& packet) {
  const Bytes room = wire.reserve(link, packet.size());
  if (room.size() != packet.size()) {
    return false;
  }
  std::ranges::copy(packet, room.begin());
  wire.commit();
  return true;
}

// The same, where the wire copies the payload.
bool put_around(RoceWire& wire, LinkId link, const std::vector<std::byte>& packet) {
  constexpr std::size_t headers = bth_bytes + reth_bytes;
  const Bytes room = wire.reserve_around(link, headers, ConstBytes(packet).subspan(headers));
  if (room.size() != headers) {
    return false;
  }
  std::copy_n(packet.begin(), headers, room.begin());
  wire.commit();
  return true;
}

class RoceWireAt : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    near = wire_at(GetParam());
    far = wire_at(GetParam());
    near_link = link_from(*near, *far);
    far_link = link_from(*far, *near);
  }
  std::unique_ptr<RoceWire> near;
  std::unique_ptr<RoceWire> far;
  LinkId near_link = 0;
  LinkId far_link = 0;
  Collector sink;
};

TEST_P(RoceWireAt, brings_packets_of_all_sizes_in_order) {
  std::vector<std::vector<std::byte>> sent;
  for (const std::size_t size : {0u, 1u, 64u, 64u, 63u, 4096u, 4096u, 7u, 2000u, 4096u, 256u}) {
    sent.push_back(write_packet(size, static_cast<std::uint32_t>(sent.size())));
    ASSERT_TRUE(put(*near, near_link, sent.back()));
  }
  near->flush();
  drain(*far, sink);
  EXPECT_EQ(sink.packets, sent);
  EXPECT_EQ(sink.links, std::vector<LinkId>(sent.size(), far_link));
  EXPECT_EQ(far->counters().bad_icrc, 0u);
}

TEST_P(RoceWireAt, copies_payload_that_lies_elsewhere) {
  std::vector<std::vector<std::byte>> sent;
  for (const std::size_t size : {4u, 4096u, 4096u, 2048u, 1024u, 64u}) {
    sent.push_back(write_packet(size, static_cast<std::uint32_t>(sent.size())));
    ASSERT_TRUE(put_around(*near, near_link, sent.back()));
    sent.push_back(write_packet(size, static_cast<std::uint32_t>(sent.size())));
    ASSERT_TRUE(put(*near, near_link, sent.back())) << "no payload is left over for the next one";
  }
  EXPECT_TRUE(
      near->reserve_around(near_link, max_header_bytes, std::vector<std::byte>(4100)).empty());
  near->flush();
  drain(*far, sink);
  EXPECT_EQ(sink.packets, sent);
  EXPECT_EQ(far->counters().bad_icrc, 0u);
}

TEST_P(RoceWireAt, sends_to_a_peer_that_waits_while_more_is_made_ready) {
  const auto calls_for = [&](std::uint32_t packets) {
    const std::uint64_t before = near->counters().calls_sent;
    for (std::uint32_t i = 0; i < packets; ++i) {
      EXPECT_TRUE(put(*near, near_link, write_packet(4096, i)));
    }
    near->flush();
    return near->counters().calls_sent - before;
  };
  EXPECT_EQ(calls_for(15), 2u);
  near->take_time(near_link);
  EXPECT_EQ(calls_for(15), 1u) << "it has enough to do";
  EXPECT_EQ(calls_for(15), 2u) << "that held until the flush";
  near->take_time(near_link);
  (void)near->poll(sink, 64);
  EXPECT_EQ(calls_for(15), 2u) << "or until the poll";
  drain(*far, sink);
  EXPECT_EQ(sink.packets.size(), 60u);
}

TEST_P(RoceWireAt, sends_many_packets_of_one_size_in_one_call) {
  for (std::uint32_t i = 0; i < 128; ++i) {
    ASSERT_TRUE(put(*near, near_link, write_packet(64, i)));
  }
  near->flush();
  EXPECT_EQ(near->counters().packets_sent, 128u);
  EXPECT_EQ(near->counters().calls_sent, 2u);
  drain(*far, sink);
  ASSERT_EQ(sink.packets.size(), 128u);
  EXPECT_EQ(sink.packets[77], write_packet(64, 77));
  EXPECT_LT(far->counters().calls_received, 20u);
}

TEST_P(RoceWireAt, hands_over_no_more_than_is_asked_for) {
  for (std::uint32_t i = 0; i < 10; ++i) {
    ASSERT_TRUE(put(*near, near_link, write_packet(64, i)));
  }
  near->flush();
  EXPECT_EQ(far->poll(sink, 3), 3u);
  EXPECT_FALSE(far->arm_wake()) << "there is more to hand over";
  EXPECT_EQ(far->poll(sink, 3), 3u);
  drain(*far, sink);
  EXPECT_EQ(sink.packets.size(), 10u);
  EXPECT_TRUE(far->arm_wake());
}

TEST_P(RoceWireAt, drops_what_strangers_send) {
  const std::unique_ptr<RoceWire> stranger = wire_at(GetParam());
  const LinkId link = link_from(*stranger, *far);
  ASSERT_TRUE(put(*stranger, link, write_packet(64, 1)));
  ASSERT_TRUE(put(*stranger, link, write_packet(64, 2)));
  stranger->flush();
  drain(*far, sink);
  EXPECT_TRUE(sink.packets.empty());
  EXPECT_EQ(far->counters().from_strangers, 2u);
}

TEST_P(RoceWireAt, drops_what_is_no_packet) {
  const std::unique_ptr<RoceWire> other = wire_at(GetParam());
  Result<UdpSocket> socket = UdpSocket::open({parse_address(GetParam()).value(), 0});
  ASSERT_TRUE(socket.ok());
  const RocePeer peer{.endpoint = socket->local(), .gid = {9}};
  ASSERT_TRUE(other->add_link(peer).ok());
  const SocketAddress to = socket_address(other->local());
  std::vector<std::byte> bytes(6000, std::byte{0x0a});
  for (const std::size_t size : {0u, 1u, 4u, 15u, 17u, 4096u + 72u, 6000u}) {
    (void)socket->send(to, ConstBytes(bytes).first(size), size);
  }
  // A right size with a wrong checksum, and two that come together.
  (void)socket->send(to, ConstBytes(bytes).first(96), 96);
  (void)socket->send(to, ConstBytes(bytes).first(192), 96);
  for (int i = 0; i < 20; ++i) {
    (void)other->poll(sink, 64);
  }
  EXPECT_TRUE(sink.packets.empty());
  EXPECT_EQ(other->counters().malformed, 7u);
  EXPECT_EQ(other->counters().bad_icrc, 3u);
}

TEST_P(RoceWireAt, tells_the_sink_of_a_link_that_was_cut_off) {
  ASSERT_TRUE(put(*near, near_link, write_packet(64, 1)));
  near->flush();
  far->cut_off(far_link);
  EXPECT_FALSE(far->arm_wake());
  drain(*far, sink);
  EXPECT_EQ(sink.down, std::vector<LinkId>{far_link});
  EXPECT_TRUE(sink.packets.empty());
  EXPECT_TRUE(far->reserve(far_link, 64).empty());
  EXPECT_FALSE(far->link_to(near->gid()).has_value());
  const LinkId again = link_from(*far, *near);
  EXPECT_NE(again, far_link) << "an id means one link";
}

TEST_P(RoceWireAt, loses_what_it_is_told_to_by_the_seed) {
  const auto received_with = [&](std::uint64_t seed) {
    const std::unique_ptr<RoceWire> lossy =
        wire_at(GetParam(), {.loss_ppm = 300'000, .loss_seed = seed});
    const std::unique_ptr<RoceWire> sender = wire_at(GetParam());
    const LinkId link = link_from(*sender, *lossy);
    (void)link_from(*lossy, *sender);
    for (std::uint32_t i = 0; i < 60; ++i) {
      EXPECT_TRUE(put(*sender, link, write_packet(64, i)));
    }
    sender->flush();
    Collector collected;
    drain(*lossy, collected);
    EXPECT_EQ(collected.packets.size() + lossy->counters().lost_on_purpose, 60u);
    return collected.packets;
  };
  const auto first = received_with(1);
  EXPECT_EQ(first, received_with(1));
  EXPECT_NE(first, received_with(2));
  EXPECT_LT(first.size(), 60u);
}

INSTANTIATE_TEST_SUITE_P(Loopback, RoceWireAt, testing::Values("127.0.0.1", "::1"),
                         [](const auto& one) {
                           return std::string(one.param) == "::1" ? "v6" : "v4";
                         });

TEST(RoceWire, refuses_what_it_cannot_be) {
  const Gid loopback = parse_address("127.0.0.1").value();
  EXPECT_EQ(RoceWire::create({.local = {parse_address("0.0.0.0").value(), 0}}).code(),
            Code::invalid_argument);
  EXPECT_EQ(RoceWire::create({.local = {parse_address("192.0.2.7").value(), 0}}).code(),
            Code::not_found);
  EXPECT_EQ(RoceWire::create({.local = {loopback, 0}, .mtu_bytes = 1000}).code(),
            Code::invalid_argument);
  const std::unique_ptr<RoceWire> first = wire_at("127.0.0.1");
  EXPECT_EQ(RoceWire::create({.local = first->local()}).code(), Code::in_use);
}

TEST(RoceWire, refuses_links_that_it_cannot_have) {
  const std::unique_ptr<RoceWire> wire = wire_at("127.0.0.1", {.max_links = 1});
  EXPECT_EQ(wire->add_link(parse_address("::1").value()).code(), Code::invalid_argument);
  EXPECT_EQ(wire->add_link(parse_address("0.0.0.0").value()).code(), Code::invalid_argument);
  const Gid other = parse_address("127.0.0.2").value();
  ASSERT_TRUE(wire->add_link(other).ok());
  EXPECT_EQ(wire->add_link(other).code(), Code::in_use);
  EXPECT_EQ(wire->add_link(parse_address("127.0.0.3").value()).code(), Code::no_space);
}

TEST(RoceWire, gives_each_link_its_own_mtu) {
  const std::unique_ptr<RoceWire> wire = wire_at("127.0.0.1", {.mtu_bytes = 2048});
  const auto add = [&](std::uint8_t number, std::uint32_t mtu_bytes) {
    Gid address = parse_address("127.0.0.1").value();
    address[15] = number;
    return wire->add_link({.endpoint = {address, 9}, .gid = address, .mtu_bytes = mtu_bytes});
  };
  for (const std::uint32_t bytes : {1u, 255u, 1500u, 4096u, ~0u}) {
    EXPECT_EQ(add(2, bytes).code(), Code::invalid_argument) << bytes;
  }
  const LinkId whole = add(3, 0).value();
  const LinkId small = add(4, 512).value();
  EXPECT_EQ(wire->traits(whole).mtu_bytes, 2048u);
  EXPECT_EQ(wire->traits(small).mtu_bytes, 512u);
  EXPECT_EQ(wire->reserve(whole, 2048 + max_header_bytes).size(), 2048 + max_header_bytes);
  EXPECT_TRUE(wire->reserve(small, 512 + max_header_bytes + 4).empty());
  EXPECT_EQ(wire->reserve(small, 512 + max_header_bytes).size(), 512 + max_header_bytes);
  wire->narrow(small, 256);
  EXPECT_EQ(wire->traits(small).mtu_bytes, 256u);
  EXPECT_TRUE(wire->reserve(small, 512).empty());
  EXPECT_EQ(wire->traits(whole).mtu_bytes, 2048u);
}

// The system refuses segments where UDP's checksum is switched off: that is switched on and off
// here as if the way to one peer could not have them.
TEST(RoceWire, sends_one_by_one_only_where_the_way_has_no_segments) {
  const std::unique_ptr<RoceWire> near = wire_at("127.0.0.1");
  const std::unique_ptr<RoceWire> odd = wire_at("127.0.0.1");
  const std::unique_ptr<RoceWire> other = wire_at("127.0.0.1");
  const LinkId to_odd = link_from(*near, *odd);
  const LinkId to_other = link_from(*near, *other);
  (void)link_from(*odd, *near);
  (void)link_from(*other, *near);
  const auto calls_for = [&](LinkId link, bool refused) {
    const int off = refused ? 1 : 0;
    EXPECT_EQ(setsockopt(near->wake_fd(), SOL_SOCKET, SO_NO_CHECK, &off, sizeof off), 0);
    const std::uint64_t before = near->counters().calls_sent;
    for (std::uint32_t i = 0; i < 4; ++i) {
      EXPECT_TRUE(put(*near, link, write_packet(64, i)));
    }
    near->flush();
    return near->counters().calls_sent - before;
  };
  EXPECT_EQ(calls_for(to_odd, true), 5u) << "one in vain, and one for each";
  EXPECT_EQ(calls_for(to_other, false), 1u);
  EXPECT_EQ(calls_for(to_odd, false), 4u) << "it is not tried again";
  near->cut_off(to_odd);
  EXPECT_EQ(calls_for(link_from(*near, *odd), false), 1u) << "but for a link that is new";
  EXPECT_EQ(near->counters().send_failures, 0u);
  Collector at_odd;
  Collector at_other;
  drain(*odd, at_odd);
  drain(*other, at_other);
  EXPECT_EQ(at_odd.packets.size(), 12u);
  EXPECT_EQ(at_other.packets.size(), 4u);
  EXPECT_EQ(odd->counters().bad_icrc, 0u);
}

// Others choose a source port for each queue pair.
TEST(RoceWire, takes_packets_of_a_standard_peer_from_any_port) {
  const std::unique_ptr<RoceWire> wire = wire_at("127.0.0.1");
  const Gid address = parse_address("127.0.0.7").value();
  const LinkId link = wire->add_link(address).value();
  Result<UdpSocket> socket = UdpSocket::open({address, 0});
  ASSERT_TRUE(socket.ok());
  const Icrc icrc(Icrc::Family::v4, 4160);
  std::vector<std::byte> packet = write_packet(64, 5);
  const std::uint32_t right = icrc.of(icrc.path(socket->local(), wire->local()), packet, 0);
  packet.resize(packet.size() + 4);
  store(packet.data() + packet.size() - 4, right);
  EXPECT_EQ(socket->send(socket_address(wire->local()), packet, packet.size()),
            UdpSocket::Sent::yes);
  Collector sink;
  drain(*wire, sink);
  ASSERT_EQ(sink.packets.size(), 1u);
  EXPECT_EQ(sink.links[0], link);
}

TEST(RoceWire, counts_a_flush_as_rxe_does_where_told) {
  const std::unique_ptr<RoceWire> near = wire_at("127.0.0.1");
  const std::unique_ptr<RoceWire> odd = wire_at("127.0.0.1");
  const std::unique_ptr<RoceWire> strict = wire_at("127.0.0.1");
  const LinkId to_odd =
      near->add_link({.endpoint = odd->local(), .gid = odd->gid(), .rxe_flush_icrc = true}).value();
  const LinkId to_strict =
      near->add_link({.endpoint = strict->local(), .gid = strict->gid(), .rxe_flush_icrc = true})
          .value();
  (void)odd->add_link({.endpoint = near->local(), .gid = near->gid(), .rxe_flush_icrc = true})
      .value();
  (void)link_from(*strict, *near);
  Packet flush;
  flush.opcode = PacketOpcode::flush;
  flush.flush_placement = 1;
  std::vector<std::byte> packet(packet_bytes(flush.opcode, 0));
  (void)encode(flush, packet);
  ASSERT_TRUE(put(*near, to_odd, packet));
  ASSERT_TRUE(put(*near, to_strict, packet));
  near->flush();
  Collector at_odd;
  Collector at_strict;
  drain(*odd, at_odd);
  (void)strict->poll(at_strict, 64);
  EXPECT_EQ(at_odd.packets.size(), 1u);
  EXPECT_TRUE(at_strict.packets.empty());
  EXPECT_EQ(strict->counters().bad_icrc, 1u);
}

}  // namespace
}  // namespace remora::fabric::nic::roce
