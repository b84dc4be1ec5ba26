// RoCE beyond the contract: large transfers, by which the socket of the receiver is not overrun,
// and the checksum of packets as they are on a cable.
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>

#include "fabric/nic/core/nic.h"
#include "fabric/nic/core/plain_dma.h"
#include "fabric/nic/packet/packet.h"
#include "fabric/nic/wire/roce/roce_wire.h"
#include "runtime/poll_loop.h"
#include "tests/fabric/pair.h"
#include "tests/fabric/roce_world.h"

namespace remora::fabric::contract {
namespace {

// One end with much memory.
struct LargeEnd {
  static constexpr std::size_t memory_bytes = 9 << 20;

  explicit LargeEnd(Device& device)
      : memory(memory_bytes),
        domain(device.create_domain()),
        region(domain->register_memory(memory, every_access & ~flush_persistence).value()),
        queue(device.create_completion_queue(64).value()),
        qp(domain->create_queue_pair({.send_queue = queue.get(), .receive_queue = queue.get()})
               .value()) {
    EXPECT_TRUE(qp->initialise().ok());
  }

  std::vector<std::byte> memory;
  std::unique_ptr<ProtectionDomain> domain;
  std::unique_ptr<MemoryRegion> region;
  std::unique_ptr<CompletionQueue> queue;
  std::unique_ptr<QueuePair> qp;
};

class LargeTransfer {
 public:
  LargeTransfer(World& world, const ConnectOptions& options)
      : world_(world), near_(world.near()), far_(world.far()) {
    EXPECT_TRUE(near_.qp->connect(far_.qp->address(), options).ok());
    EXPECT_TRUE(far_.qp->connect(near_.qp->address(), options).ok());
  }

  void run(Opcode opcode, std::size_t size, std::uint64_t number) {
    const std::vector<std::byte> bytes = Pair::pattern(size, number);
    const bool is_read = opcode == Opcode::read;
    std::ranges::copy(bytes, (is_read ? far_ : near_).memory.begin() + offset);
    const Sge piece = near_.region->piece(offset, size);
    const SendWork work{.id = number,
                        .opcode = opcode,
                        .pieces = std::span(&piece, 1),
                        .remote = far_.region->remote(offset)};
    ASSERT_TRUE(near_.qp->post_send(std::span(&work, 1)).ok());
    WorkCompletion completion;
    ASSERT_TRUE(
        world_.run_until([&] { return near_.queue->poll(std::span(&completion, 1)) == 1; }));
    EXPECT_EQ(completion.status, WorkStatus::success);
    const std::vector<std::byte>& reached = (is_read ? near_ : far_).memory;
    EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), reached.begin() + offset)) << size;
    EXPECT_EQ(reached[offset + size], std::byte{0});
    EXPECT_EQ(reached[offset - 1], std::byte{0});
  }

  static constexpr std::size_t offset = 4095;

 private:
  World& world_;
  LargeEnd near_;
  LargeEnd far_;
};

void transfer_all(World& world, std::size_t largest, const ConnectOptions& options) {
  std::uint64_t number = 1;
  for (const std::size_t size : {std::size_t{65'537}, std::size_t{1} << 20, largest}) {
    for (const Opcode opcode : {Opcode::write, Opcode::read}) {
      LargeTransfer(world, options).run(opcode, size, ++number);
    }
  }
}

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
      TwoNetworks::create({.queue = "tbf rate 1gbit burst 16kb limit 20kb"});
  if (!networks.ok()) {
    GTEST_SKIP() << "this machine does not permit two networks: " << networks.status().message();
  }
  RoceSetting setting{.is_rough = true};
  setting.networks = std::move(networks).value();
  const std::unique_ptr<World> world = make_roce_world(1, setting);
  transfer_all(*world, (2 << 20) + 1, world->connect_options());
  EXPECT_GT(world->near().counters().retransmissions, 0u) << "it was not too narrow";
}

// What rxe and NICs check: the identification that the kernel gave each segment is in its checksum.
TEST(Roce, checksums_are_right_for_the_headers_on_the_cable) {
  Result<std::unique_ptr<TwoNetworks>> networks = TwoNetworks::create({});
  if (!networks.ok()) {
    GTEST_SKIP() << "this machine does not permit two networks: " << networks.status().message();
  }
  std::unique_ptr<nic::RoceWire> wire;
  (*networks)->in_near([&] {
    const nic::IpEndpoint local{nic::parse_address(TwoNetworks::near_address).value(), 4791};
    wire = std::move(nic::RoceWire::create({.local = local})).value();
  });
  EXPECT_EQ(wire->gid(), nic::parse_address(TwoNetworks::near_address).value());
  int raw = -1;
  (*networks)->in_far([&] { raw = socket(AF_INET, SOCK_RAW | SOCK_NONBLOCK, IPPROTO_UDP); });
  ASSERT_GE(raw, 0);
  const Gid far = nic::parse_address(TwoNetworks::far_address).value();
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
  for (int tries = 0; seen < count && tries < 10'000; ++tries) {
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
    EXPECT_EQ(nic::crc32(covered), load<std::uint32_t>(all.data() + all.size() - 4)) << seen;
  }
  close(raw);
  EXPECT_EQ(seen, count);
}

}  // namespace
}  // namespace remora::fabric::contract
