// RoCE beyond the contract: large transfers, by which the socket of the receiver is not overrun,
// and the checksum of packets as they are on a cable.
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>

#include "fabric/nic/device/nic.h"
#include "fabric/nic/dma/plain_dma.h"
#include "fabric/nic/packet/packet.h"
#include "fabric/nic/wire/roce/crc32.h"
#include "fabric/nic/wire/roce/roce_wire.h"
#include "runtime/poll_loop.h"
#include "tests/fabric/large_transfer.h"
#include "tests/fabric/roce_world.h"

namespace remora::fabric::contract {
namespace {

TEST(Roce, large_transfers_arrive_byte_by_byte) {
  for (const char* address : {"127.0.0.1", "::1"}) {
    if (const std::string reason = no_roce_at(address); !reason.empty()) {
      GTEST_SKIP() << reason;
    }
    const std::unique_ptr<World> world = make_roce_world(1, {.address = address});
    // No time is so long that a busy machine could not make it pass; what is lost shows at once.
    transfer_all(*world, (8 << 20) + 1, {.timeout_ns = 10'000'000'000});
    EXPECT_EQ(world->near().counters().retransmissions, 0u) << "the window suits the socket";
  }
}

TEST(Roce, large_transfers_survive_losses) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const std::unique_ptr<World> world =
        make_roce_world(seed, {.loss_ppm = 10'000, .mtu_bytes = 4096});
    transfer_all(*world, (2 << 20) + 1, world->connect_options());
    EXPECT_GT(world->near().counters().retransmissions, 0u);
  }
}

TEST(Roce, large_transfers_pass_a_cable_that_is_too_narrow) {
  Result<std::unique_ptr<TwoNetworks>> networks =
      TwoNetworks::create({.queue = "tbf rate 100mbit burst 16kb limit 20kb"});
  if (!networks.ok()) {
    GTEST_SKIP() << "this machine does not permit two networks: " << networks.status().message();
  }
  RoceSetting setting{.is_rough = true};
  setting.networks = std::move(networks).value();
  const std::unique_ptr<World> world = make_roce_world(1, setting);
  transfer_all(*world, (2 << 20) + 1, world->connect_options());
  EXPECT_GT(world->near().counters().retransmissions, 0u) << "it was not too narrow";
}

// A window of packets waits for its turn there for tens of milliseconds.
TEST(Roce, large_transfers_pass_a_cable_that_delays) {
  Result<std::unique_ptr<TwoNetworks>> networks =
      TwoNetworks::create({.queue = "tbf rate 50mbit burst 16kb limit 4mb"});
  if (!networks.ok()) {
    GTEST_SKIP() << "this machine does not permit two networks: " << networks.status().message();
  }
  RoceSetting setting{.is_rough = true};
  setting.networks = std::move(networks).value();
  const std::unique_ptr<World> world = make_roce_world(1, setting);
  transfer_all(*world, (1 << 20) + 1, {.timeout_ns = 1'000'000'000, .retry_count = 20});
}

// What rxe and NICs check: the identification that the kernel gave each segment is in its checksum.
TEST(Roce, checksums_are_right_for_the_headers_on_the_cable) {
  Result<std::unique_ptr<TwoNetworks>> networks = TwoNetworks::create({});
  if (!networks.ok()) {
    GTEST_SKIP() << "this machine does not permit two networks: " << networks.status().message();
  }
  std::unique_ptr<nic::roce::RoceWire> wire;
  (*networks)->in_near([&] {
    const nic::roce::IpEndpoint local{nic::roce::parse_address(TwoNetworks::near_address).value(),
                                      4791};
    wire = std::move(nic::roce::RoceWire::create({.local = local})).value();
  });
  EXPECT_EQ(wire->gid(), nic::roce::parse_address(TwoNetworks::near_address).value());
  int raw = -1;
  (*networks)->in_far([&] { raw = socket(AF_INET, SOCK_RAW | SOCK_NONBLOCK, IPPROTO_UDP); });
  ASSERT_GE(raw, 0);
  const Gid far = nic::roce::parse_address(TwoNetworks::far_address).value();
  const nic::LinkId link = wire->add_link(far).value();
  constexpr int count = 40;
  for (int i = 0; i < count; ++i) {
    nic::Packet packet;
    packet.opcode = nic::PacketOpcode::send_only;
    packet.sequence = static_cast<PacketSequence>(i);
    packet.payload_bytes = 100;
    const Bytes room = wire->reserve(link, nic::packet_bytes(packet.opcode, 100));
    std::ranges::fill(nic::encode(packet, room), static_cast<std::byte>(i));
    wire->commit();
  }
  wire->flush();
  EXPECT_EQ(wire->counters().calls_sent, 1u);
  int seen = 0;
  std::array<unsigned char, 2048> datagram;
  for (int tries = 0; seen < count && tries < 200'000; ++tries) {
    const ssize_t got = recv(raw, datagram.data(), datagram.size(), 0);
    if (got < 0) {
      usleep(100);
      continue;
    }
    ++seen;
    // The definition: ones, headers with what may change masked, the packet without its checksum.
    ASSERT_GT(got, 44);
    EXPECT_EQ(datagram[4] << 8 | datagram[5], seen - 1) << "segments count from 0";
    datagram[1] = datagram[8] = datagram[10] = datagram[11] = 0xff;
    datagram[20 + 6] = datagram[20 + 7] = datagram[28 + 4] = 0xff;
    const ConstBytes all = std::as_bytes(std::span(datagram).first(static_cast<std::size_t>(got)));
    std::vector<std::byte> covered(8, std::byte{0xff});
    covered.insert(covered.end(), all.begin(), all.end() - 4);
    EXPECT_EQ(nic::roce::crc32(covered), load<std::uint32_t>(all.data() + all.size() - 4)) << seen;
  }
  close(raw);
  EXPECT_EQ(seen, count);
}

}  // namespace
}  // namespace remora::fabric::contract
