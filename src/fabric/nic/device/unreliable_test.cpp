// Queue pairs that are not reliable, and receives that are shared, beside the reliable ones of a
// device. What they promise is in tests/fabric.
#include <gtest/gtest.h>

#include <vector>

#include "fabric/nic/device/testing/two_nics.h"

namespace remora::fabric::nic {
namespace {

TEST(Nic, has_queue_pairs_of_every_transport) {
  TwoNics nics;
  QueuePairOptions options = {.send_queue = nics.a.sends.get(),
                              .receive_queue = nics.a.receives.get()};
  for (const Transport transport : {Transport::uc, Transport::ud, Transport::rc}) {
    options.transport = transport;
    EXPECT_TRUE(nics.a.domain->create_queue_pair(options).ok());
  }
}

TEST(Nic, has_shared_receives_of_one_domain_alone) {
  TwoNics nics;
  const auto shared = std::move(nics.a.domain->create_shared_receives({})).value();
  const auto other = nics.a.nic.create_domain();
  const QueuePairOptions options = {.send_queue = nics.a.sends.get(),
                                    .receive_queue = nics.a.receives.get(),
                                    .shared_receives = shared.get()};
  EXPECT_TRUE(nics.a.domain->create_queue_pair(options).ok());
  EXPECT_EQ(other->create_queue_pair(options).code(), Code::invalid_argument);
  EXPECT_EQ(nics.a.domain->create_shared_receives({.max_receives = 0}).code(),
            Code::invalid_argument);
}

// It may have come from anybody with a link, whatever the number that it was made for.
TEST(Nic, drops_packets_of_another_transport) {
  TwoNics nics;
  QueuePairOptions options = {.send_queue = nics.b.sends.get(),
                              .receive_queue = nics.b.receives.get(),
                              .transport = Transport::uc};
  const auto unreliable = nics.b.create(options);
  ASSERT_TRUE(unreliable->connect(nics.a.qp->address(), {}).ok());
  const auto inject = [&](PacketOpcode opcode, const QueuePair& to, PacketSequence sequence) {
    const Packet packet = {.opcode = opcode, .queue_pair = to.number(), .sequence = sequence};
    std::vector<std::byte> bytes(packet_bytes(opcode, 0));
    (void)encode(packet, bytes);
    nics.b.wire.inject(bytes);
    nics.run(1'000'000);
  };
  ASSERT_TRUE(nics.b.receive(1, {nics.b.piece(0, 64)}).ok());
  const PacketSequence first = nics.a.qp->address().first_packet;
  const std::uint64_t before = nics.b.nic.counters().packets_dropped;
  inject(PacketOpcode::uc_send_only, *nics.b.qp, first);
  inject(PacketOpcode::ud_send_only, *nics.b.qp, first);
  inject(PacketOpcode::send_only, *unreliable, first);
  inject(PacketOpcode::ud_send_only, *unreliable, first);
  EXPECT_EQ(nics.b.nic.counters().packets_dropped, before + 4);
  EXPECT_TRUE(nics.b.received().empty());
  EXPECT_EQ(nics.b.qp->state(), QpState::ready_to_send);
  EXPECT_EQ(unreliable->state(), QpState::ready_to_send);
  inject(PacketOpcode::send_only, *nics.b.qp, first);
  EXPECT_EQ(nics.b.received().size(), 1U);
}

}  // namespace
}  // namespace remora::fabric::nic
