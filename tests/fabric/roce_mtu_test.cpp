// The MTU of a link where interfaces, routes and routers carry packets of different sizes.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "fabric/nic/packet/packet.h"
#include "fabric/nic/wire/roce/roce_net.h"
#include "runtime/poll_loop.h"
#include "tests/fabric/large_transfer.h"
#include "tests/fabric/roce_world.h"

namespace remora::fabric::contract {
namespace {

struct UnevenCase {
  const char* name;
  Shaping shaping;
  std::uint32_t agreed_bytes;
};

void PrintTo(const UnevenCase& uneven, std::ostream* out) {
  *out << uneven.name;
}

const UnevenCase uneven_cases[] = {
    {"large_connector", {.near_mtu = 9000, .far_mtu = 1500}, 1024},
    {"large_listener", {.near_mtu = 1500, .far_mtu = 9000}, 1024},
    {"both_large", {.near_mtu = 9000, .far_mtu = 9000}, 4096},
    {"narrow_listener", {.near_mtu = 1500, .far_mtu = 700}, 512},
    {"route_of_the_connector", {.route_mtu = 900}, 512},
    {"router", {.router_mtu = 900}, 512},
    {"router_between_large", {.near_mtu = 9000, .far_mtu = 9000, .router_mtu = 1500}, 1024},
    // A WRITE of 4096 bytes makes an IP packet of 4156.
    {"router_just_too_small", {.near_mtu = 9000, .far_mtu = 9000, .router_mtu = 4155}, 2048},
};

class RoceMtu : public testing::TestWithParam<UnevenCase> {
 protected:
  void SetUp() override {
    Result<std::unique_ptr<TwoNetworks>> made = TwoNetworks::create(GetParam().shaping);
    if (!made.ok()) {
      GTEST_SKIP() << "this machine does not permit two networks: " << made.status().message();
    }
    networks = std::move(made).value();
  }
  std::shared_ptr<const TwoNetworks> networks;
};

struct LastLink final : nic::LinkOwner {
  void link_up(nic::LinkId link, const nic::HostPeer&) override { up = link; }
  nic::LinkId up = 0;
};

TEST_P(RoceMtu, is_what_both_ends_and_the_way_between_them_carry) {
  PollLoop loop;
  LastLink far_owner;
  nic::LinkOwner near_owner;
  std::unique_ptr<nic::roce::RoceNet> far;
  networks->in_far([&] {
    const nic::roce::IpEndpoint at{nic::roce::parse_address(TwoNetworks::far_address).value(), 0};
    far = nic::roce::RoceNet::listen(loop, far_owner, at).value();
  });
  // The second one comes when the system knows the way already.
  for (int i = 0; i < 2; ++i) {
    std::unique_ptr<nic::roce::RoceNet> near;
    networks->in_near([&] {
      auto made = loop.block_on(nic::roce::RoceNet::connect(loop, near_owner, far->wire().local()));
      ASSERT_TRUE(made.ok()) << made.status().message();
      near = std::move(made).value();
    });
    ASSERT_NE(near, nullptr);
    far_owner.up = 0;
    const std::uint64_t end_ns = loop.after(20'000'000'000);
    while (far_owner.up == 0 && loop.now_ns() < end_ns) {
      loop.turn();
    }
    EXPECT_EQ(near->wire().traits(near->link()).mtu_bytes, GetParam().agreed_bytes);
    EXPECT_EQ(far->wire().traits(far_owner.up).mtu_bytes, GetParam().agreed_bytes);
  }
}

TEST_P(RoceMtu, lets_large_transfers_pass) {
  RoceSetting setting{.introduces = true};
  setting.networks = networks;
  const std::unique_ptr<World> world = make_roce_world(1, setting);
  transfer_all(*world, (1 << 20) + 1, {.timeout_ns = 10'000'000'000});
  EXPECT_EQ(world->near().counters().retransmissions, 0u) << "packets of a size that passes";
}

INSTANTIATE_TEST_SUITE_P(Uneven, RoceMtu, testing::ValuesIn(uneven_cases),
                         [](const auto& one) { return std::string(one.param.name); });

TEST(Roce, a_narrow_way_takes_segmentation_from_no_other) {
  Result<std::unique_ptr<TwoNetworks>> networks = TwoNetworks::create({.route_mtu = 900});
  if (!networks.ok()) {
    GTEST_SKIP() << "this machine does not permit two networks: " << networks.status().message();
  }
  std::unique_ptr<nic::roce::RoceWire> wire;
  (*networks)->in_near([&] {
    const nic::roce::IpEndpoint local{nic::roce::parse_address(TwoNetworks::near_address).value(),
                                      0};
    wire = std::move(nic::roce::RoceWire::create({.local = local, .mtu_bytes = 1024})).value();
  });
  constexpr int count = 8;
  const auto send_to = [&](nic::LinkId link) {
    for (int i = 0; i < count; ++i) {
      nic::Packet packet;
      packet.opcode = nic::PacketOpcode::send_only;
      packet.payload_bytes = 1024;
      const Bytes room = wire->reserve(link, nic::packet_bytes(packet.opcode, 1024));
      std::ranges::fill(nic::encode(packet, room), std::byte{1});
      wire->commit();
    }
    wire->flush();
  };
  // Nobody told the wire that the way is narrow, as when it became so while the link was up.
  send_to(wire->add_link(nic::roce::parse_address(TwoNetworks::far_address).value()).value());
  EXPECT_EQ(wire->counters().send_failures, std::uint64_t{count});
  const std::uint64_t calls_before = wire->counters().calls_sent;
  send_to(wire->add_link(nic::roce::parse_address("10.77.0.3").value()).value());
  EXPECT_EQ(wire->counters().calls_sent, calls_before + 1);
  EXPECT_EQ(wire->counters().packets_sent, std::uint64_t{count});
}

}  // namespace
}  // namespace remora::fabric::contract
