// Verbs of Remora's own: what is not agreed on, what a slow medium does to them, and what a
// receiver does that cannot take them.
#include <gtest/gtest.h>

#include "fabric/message_log.h"
#include "fabric/nic/device/testing/two_nics.h"
#include "pmem/pmem_testing.h"

namespace remora::fabric::nic {
namespace {

constexpr std::size_t far_bytes = 1 << 16;

// How far behind the beginning of these bytes a line begins.
std::uint64_t to_line(ConstBytes bytes) {
  return -reinterpret_cast<std::uintptr_t>(bytes.data()) % cache_line_bytes;
}

// Side b has a medium of pages, which commits when it is told to.
struct SlowMedium {
  explicit SlowMedium(QueuePairOptions at_b = {}, bool lossless = false)
      : nics({.lossless = lossless,
              .connect = {.timeout_ns = 100'000, .retry_count = 3, .rnr_retry = 2},
              .persistence = &medium}) {
    if (at_b.log != nullptr) {
      nics.b.qp = nics.b.create(at_b);
      nics.a.qp = nics.a.create({});
      nics.connect(*nics.a.qp, *nics.b.qp);
    }
  }
  FakeRegion medium{far_bytes, Granularity::page};
  TwoNics nics;
};

SendWork flush_imm(const Side& to, std::uint32_t immediate) {
  return {.id = 5,
          .opcode = Opcode::flush_imm,
          .remote = to.remote(0),
          .immediate = immediate,
          .flush_bytes = 64};
}

SendWork flush_payload(const Side& to, std::size_t word, std::uint64_t value) {
  return {.id = 6,
          .opcode = Opcode::flush_payload,
          .remote = to.remote(0),
          .operand = value,
          .flush_bytes = 64,
          .word = to.remote(word)};
}

class DurableOnEveryWire : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Durable, DurableOnEveryWire, testing::Bool());

TEST(Durable, a_verb_that_is_not_agreed_on_is_neither_sent_nor_executed) {
  TwoNics nics;
  for (Side* side : {&nics.a, &nics.b}) {
    side->wire.agree(vendor_verb(DurableVerb::flush_imm));
    side->qp->reset();
    ASSERT_TRUE(side->qp->initialise().ok());
  }
  nics.connect(*nics.a.qp, *nics.b.qp);
  const std::uint64_t sent = nics.a.wire.sent();
  EXPECT_EQ(nics.a.send(flush_payload(nics.b, 8, 1)).code(), Code::unsupported);
  EXPECT_EQ(nics.a.send({.opcode = Opcode::sflush}).code(), Code::unsupported);
  EXPECT_EQ(nics.a.wire.sent(), sent);
  // A peer that sends it all the same.
  Packet packet = {.opcode = PacketOpcode::sflush,
                   .acknowledge_request = true,
                   .queue_pair = nics.b.qp->number(),
                   .sequence = nics.a.qp->address().first_packet};
  std::vector<std::byte> bytes(packet_bytes(packet.opcode, 0));
  encode(packet, bytes);
  nics.b.wire.inject(bytes);
  nics.run();
  EXPECT_EQ(nics.b.qp->state(), QpState::error);
}

TEST_P(DurableOnEveryWire, nothing_is_told_before_a_slow_medium_has_it) {
  SlowMedium slow({}, GetParam());
  TwoNics& nics = slow.nics;
  const Sge piece = nics.a.piece(0, 64);
  ASSERT_TRUE(nics.b.receive(7, {}).ok());
  ASSERT_TRUE(nics.a.send(write_work(nics.b, piece, 0)).ok());
  ASSERT_TRUE(nics.a.send(flush_imm(nics.b, 77)).ok());
  ASSERT_TRUE(nics.a.send(flush_payload(nics.b, 512, 9)).ok());
  nics.run(50'000'000);
  EXPECT_EQ(nics.a.sent().size(), 1U) << "the WRITE";
  EXPECT_TRUE(nics.b.received().empty());
  EXPECT_EQ(nics.b.word(512), 0U);
  slow.medium.commit_when_asked();
  slow.medium.commit();
  nics.run(200'000'000);
  const auto told = nics.b.received();
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told[0].id, 7U);
  EXPECT_EQ(told[0].immediate, 77U);
  EXPECT_EQ(nics.b.word(512), 9U);
  EXPECT_EQ(nics.a.sent().size(), 2U);
}

// However long: the peer hears that somebody is at it.
TEST_P(DurableOnEveryWire, a_message_that_is_held_back_outlasts_the_patience_of_its_sender) {
  FakeRegion medium(far_bytes, Granularity::page);
  TwoNics nics({.lossless = GetParam(),
                .connect = {.timeout_ns = 100'000, .retry_count = 3, .rnr_retry = 2},
                .persistence = &medium});
  const auto region =
      nics.b.register_memory(nics.b.at(0, 8192), every_access | flushes_writes, &medium);
  const Sge piece = nics.a.piece(0, 64);
  nics.a.fill(0, 64, 3);
  SendWork work = {.id = 1,
                   .opcode = Opcode::write,
                   .pieces = std::span(&piece, 1),
                   .remote = region->remote(128)};
  ASSERT_TRUE(nics.a.send(work).ok());
  work.id = 2;
  work.remote = region->remote(4096);
  ASSERT_TRUE(nics.a.send(work).ok());
  nics.run(100'000'000);
  EXPECT_TRUE(nics.a.sent().empty());
  medium.commit_when_asked();
  medium.commit();
  nics.run(300'000'000);
  const auto sent = nics.a.sent();
  ASSERT_EQ(sent.size(), 2U);
  EXPECT_EQ(sent[0].status, WorkStatus::success);
  EXPECT_EQ(sent[1].status, WorkStatus::success);
  EXPECT_TRUE(
      std::equal(nics.a.memory.begin(), nics.a.memory.begin() + 64, nics.b.memory.begin() + 4096));
}

TEST(Durable, logs_that_cannot_be_are_refused) {
  FakeRegion medium(far_bytes, Granularity::cache_line);
  TwoNics nics({.persistence = &medium});
  const auto refused = [&](const MessageLogOptions& options, MemoryRegion& region) {
    MessageLog log(region, options);
    return nics.b.domain
        ->create_queue_pair(
            {.send_queue = nics.b.sends.get(), .receive_queue = nics.b.receives.get(), .log = &log})
        .code();
  };
  const auto volatile_region = nics.b.register_memory(nics.b.at(0, 4096), local_write);
  EXPECT_EQ(refused({.place_bytes = 64, .places = 4}, *volatile_region), Code::invalid_argument);
  EXPECT_EQ(refused({.place_bytes = 60, .places = 4}, *nics.b.region), Code::invalid_argument);
  EXPECT_EQ(refused({.place_bytes = 64, .places = 0}, *nics.b.region), Code::invalid_argument);
  EXPECT_EQ(refused({.offset = to_line(nics.b.memory) + 32, .place_bytes = 64, .places = 4},
                    *nics.b.region),
            Code::invalid_argument);
  EXPECT_EQ(refused({.offset = far_bytes - cache_line_bytes + to_line(nics.b.memory),
                     .place_bytes = 64,
                     .places = 4},
                    *nics.b.region),
            Code::invalid_argument);
  EXPECT_EQ(refused({.place_bytes = 1U << 31, .places = 1U << 31}, *nics.b.region),
            Code::invalid_argument);
}

// What was held is the program's again.
TEST(Durable, a_queue_pair_that_fails_gives_back_the_receives_that_were_held) {
  FakeRegion medium(far_bytes, Granularity::cache_line);
  TwoNics nics({.persistence = &medium});
  MessageLog log(*nics.b.region,
                 {.offset = to_line(nics.b.memory), .place_bytes = 128, .places = 4});
  const auto at_b = nics.b.create({.log = &log});
  const auto at_a = nics.a.create({});
  nics.connect(*at_a, *at_b);
  const Sge into = nics.b.piece(32'768, 128);
  const ReceiveWork receive = {.id = 4, .pieces = std::span(&into, 1)};
  ASSERT_TRUE(at_b->post_receive(std::span(&receive, 1)).ok());
  const Sge piece = nics.a.piece(0, 100);
  const SendWork send = {.id = 1, .opcode = Opcode::send, .pieces = std::span(&piece, 1)};
  ASSERT_TRUE(at_a->post_send(std::span(&send, 1)).ok());
  nics.run();
  EXPECT_TRUE(nics.b.received().empty());
  at_b->fail();
  const auto told = nics.b.received();
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told[0].id, 4U);
  EXPECT_EQ(told[0].status, WorkStatus::flushed);
}

}  // namespace
}  // namespace remora::fabric::nic
