#include "fabric/nic/wire/sim/nic_timing.h"

#include <gtest/gtest.h>

#include "fabric/nic/packet/packet.h"

namespace remora::fabric::nic::sim {
namespace {

// Round numbers: one byte takes one ns on the link, and half a ns over PCIe and into memory.
NicProfile round_nic() {
  NicProfile nic;
  nic.bandwidth_bits_per_s = 8'000'000'000;
  nic.mtu_bytes = 4096;
  nic.post_latency_ns = 1'000;
  nic.dma_read_latency_ns = 300;
  nic.completion_latency_ns = 40;
  nic.pcie_bytes_per_s = 2'000'000'000;
  nic.receive_latency_ns = 500;
  nic.work_request_ns = 20;
  nic.packet_ns = 10;
  nic.translation_miss_ns = 7;
  nic.translation_miss_latency_ns = 600;
  return nic;
}

MemoryProfile round_memory() {
  MemoryProfile memory;
  memory.read_bytes_per_s = 4'000'000'000;
  memory.write_bytes_per_s = 2'000'000'000;
  memory.remote_persist_ns = 250;
  return memory;
}

class NicTimingTest : public testing::Test {
 protected:
  NicTiming timing{round_nic(), round_memory()};
};

TEST_F(NicTimingTest, a_control_packet_costs_the_engine_and_its_bits) {
  EXPECT_EQ(timing.sent_at(PacketKind::control, 16, 100), 100 + 10 + 16u);
}

TEST_F(NicTimingTest, a_request_is_posted_fetched_and_serialised) {
  EXPECT_EQ(timing.sent_at(PacketKind::request, 1000, 0), 10 + 500 + 1000 + 1000 + 300u);
}

TEST_F(NicTimingTest, a_short_request_needs_no_fetch) {
  EXPECT_EQ(timing.sent_at(PacketKind::request, 28, 0), 10 + 28 + 1000u);
}

TEST_F(NicTimingTest, packets_queue_for_the_link_but_share_the_latency) {
  const std::uint64_t first_ns = timing.sent_at(PacketKind::request, 1000, 0);
  EXPECT_EQ(timing.sent_at(PacketKind::request, 1000, 0), first_ns + 1000);
}

TEST_F(NicTimingTest, an_acknowledgement_does_not_wait_for_data) {
  timing.sent_at(PacketKind::request, 4000, 0);
  EXPECT_EQ(timing.sent_at(PacketKind::control, 16, 0), 20 + 16u);
}

TEST_F(NicTimingTest, work_requests_keep_the_engine_busy) {
  timing.charge(Wire::Cost::work_request, 5, 0);
  EXPECT_EQ(timing.sent_at(PacketKind::control, 16, 0), 100 + 10 + 16u);
}

TEST_F(NicTimingTest, a_translation_miss_holds_the_next_packet_alone) {
  timing.charge(Wire::Cost::translation_miss, 1, 0);
  EXPECT_EQ(timing.sent_at(PacketKind::control, 16, 0), 7 + 10 + 16 + 600u);
  EXPECT_EQ(timing.sent_at(PacketKind::control, 16, 0), 7 + 20 + 16u);
}

TEST_F(NicTimingTest, a_flush_waits_for_what_the_memory_takes_in) {
  timing.charge(Wire::Cost::memory_write, 8000, 0);
  timing.charge(Wire::Cost::persist, 8000, 1000);
  EXPECT_EQ(timing.sent_at(PacketKind::control, 16, 1000), 4000 + 250 + 10 + 16u);
}

TEST_F(NicTimingTest, an_answer_waits_for_the_memory_that_it_is_read_from) {
  const std::uint64_t without_ns = timing.sent_at(PacketKind::data_response, 16, 0);
  timing.reset();
  timing.charge(Wire::Cost::memory_read, 8000, 0);
  EXPECT_GT(timing.sent_at(PacketKind::data_response, 16, 0), without_ns);
  EXPECT_EQ(timing.sent_at(PacketKind::control, 16, 0), 20 + 16u) << "and nobody else does";
}

TEST_F(NicTimingTest, writes_to_memory_hold_no_packet) {
  timing.charge(Wire::Cost::memory_write, 8000, 0);
  EXPECT_EQ(timing.sent_at(PacketKind::control, 16, 0), 10 + 16u);
}

TEST_F(NicTimingTest, receiving_queues_for_the_engine_and_pcie) {
  EXPECT_EQ(timing.taken_in_at(PacketKind::request, 1000, 0), 10 + 500 + 500u);
  EXPECT_EQ(timing.taken_in_at(PacketKind::request, 1000, 0), 10 + 500 + 500 + 500u);
}

TEST_F(NicTimingTest, an_answer_ends_in_a_completion) {
  EXPECT_EQ(timing.taken_in_at(PacketKind::control, 16, 0), 10 + 500 + 40u);
}

TEST_F(NicTimingTest, power_on_empties_the_queues) {
  timing.sent_at(PacketKind::request, 4000, 0);
  timing.reset();
  EXPECT_EQ(timing.sent_at(PacketKind::control, 16, 0), 26u);
}

TEST(PacketKindTest, follows_the_opcode) {
  const auto kind = [](PacketOpcode opcode) {
    const std::byte byte{static_cast<std::uint8_t>(opcode)};
    return kind_of(ConstBytes(&byte, 1));
  };
  EXPECT_EQ(kind(PacketOpcode::write_only), PacketKind::request);
  EXPECT_EQ(kind(PacketOpcode::flush), PacketKind::request);
  EXPECT_EQ(kind(PacketOpcode::acknowledge), PacketKind::control);
  EXPECT_EQ(kind(PacketOpcode::read_response_middle), PacketKind::data_response);
  EXPECT_EQ(kind(PacketOpcode::atomic_acknowledge), PacketKind::data_response);
  EXPECT_EQ(kind_of({}), PacketKind::control);
}

}  // namespace
}  // namespace remora::fabric::nic::sim
