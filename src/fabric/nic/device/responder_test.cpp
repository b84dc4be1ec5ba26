#include <gtest/gtest.h>

#include "fabric/nic/device/testing/two_nics.h"
#include "pmem/pmem_testing.h"

namespace remora::fabric::nic {
namespace {

// What one request of `a` ends with.
WorkStatus end_of(TwoNics& nics, const SendWork& work) {
  EXPECT_TRUE(nics.a.send(work).ok());
  nics.run();
  const auto sent = nics.a.sent();
  EXPECT_EQ(sent.size(), 1U);
  return sent.empty() ? WorkStatus::general_error : sent.back().status;
}

SendWork work_of(Opcode opcode, const Sge& piece, const RemoteAddress& remote) {
  return {.opcode = opcode,
          .pieces = std::span(&piece, 1),
          .remote = remote,
          .flush_bytes = 8,
          .flush_placement = FlushPlacement::visibility};
}

constexpr Opcode remote_opcodes[] = {Opcode::write,     Opcode::read,         Opcode::compare_swap,
                                     Opcode::fetch_add, Opcode::atomic_write, Opcode::flush};

class EveryWire : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Responder, EveryWire, testing::Bool());

// Answers each message as soon as it sees it, as a server does.
class Answering final : public Poller {
 public:
  explicit Answering(Side& side) : side_(side), piece_(side.piece(0, 64)) {}
  bool poll() override {
    const std::size_t count = side_.received().size();
    for (std::size_t i = 0; i < count; ++i) {
      EXPECT_TRUE(side_.send({.opcode = Opcode::send, .pieces = std::span(&piece_, 1)}).ok());
    }
    return count != 0;
  }

 private:
  Side& side_;
  const Sge piece_;
};

std::vector<PacketOpcode> answers_to_a_message(const TestOptions& options, bool is_answered) {
  TwoNics nics(options);
  const Sge piece = nics.a.piece(0, 8);
  EXPECT_TRUE(nics.a.receive(1, {nics.a.piece(64, 64)}).ok());
  EXPECT_TRUE(nics.b.receive(1, {nics.b.piece(64, 64)}).ok());
  Answering answering(nics.b);
  if (is_answered) {
    nics.loop.add_poller(answering);
  }
  nics.b.wire.hold();
  EXPECT_TRUE(nics.a.send({.opcode = Opcode::send, .pieces = std::span(&piece, 1)}).ok());
  nics.run(1000);
  std::vector<PacketOpcode> packets;
  for (std::size_t i = 0; i < nics.b.wire.held(); ++i) {
    packets.push_back(nics.b.wire.peek_held(i).opcode);
  }
  EXPECT_EQ(nics.b.wire.riders(), options.carries_riders && is_answered ? 1U : 0U);
  nics.b.wire.release();
  nics.run();
  EXPECT_EQ(nics.a.sent().size(), 1U);
  EXPECT_EQ(nics.a.received().size(), is_answered ? 1U : 0U);
  return packets;
}

// Behind the answer, which is no shorter, it costs no call of its own.
TEST(Responder, acknowledges_a_message_behind_its_answer_where_packets_leave_together) {
  using enum PacketOpcode;
  EXPECT_EQ(answers_to_a_message({.gathers = true}, true), (std::vector{send_only, acknowledge}));
  EXPECT_EQ(answers_to_a_message({}, true), (std::vector{acknowledge, send_only}));
}

// Once, and in front of it.
TEST_P(EveryWire, sends_an_acknowledgement_with_the_answer_where_packets_carry_riders) {
  using enum PacketOpcode;
  const TestOptions riders = {.lossless = GetParam(), .carries_riders = true};
  EXPECT_EQ(answers_to_a_message(riders, true), (std::vector{acknowledge, send_only}));
  EXPECT_EQ(answers_to_a_message(riders, false), (std::vector{acknowledge}));
}

// Without room for the two nothing has left, and both do when there is.
TEST_P(EveryWire, keeps_an_acknowledgement_whose_carrier_found_no_room) {
  TwoNics nics({.lossless = GetParam(), .carries_riders = true});
  const Sge piece = nics.a.piece(0, 8);
  ASSERT_TRUE(nics.a.receive(1, {nics.a.piece(64, 64)}).ok());
  ASSERT_TRUE(nics.b.receive(1, {nics.b.piece(64, 64)}).ok());
  Answering answering(nics.b);
  nics.loop.add_poller(answering);
  nics.b.wire.set_credits(0);
  ASSERT_TRUE(nics.a.send({.opcode = Opcode::send, .pieces = std::span(&piece, 1)}).ok());
  nics.run(1000);
  EXPECT_EQ(nics.b.received().size() + nics.a.received().size() + nics.a.sent().size(), 0U);
  std::vector<PacketOpcode> packets;
  nics.b.wire.choose([&](const Packet& packet) {
    if (packet.queue_pair != notice_number) {
      packets.push_back(packet.opcode);
    }
    return Fate{0};
  });
  EXPECT_EQ(nics.b.wire.sent() + nics.b.wire.riders(), 0U);
  nics.b.wire.set_credits(1'000'000);
  nics.run();
  EXPECT_EQ(nics.a.sent().at(0).status, WorkStatus::success);
  EXPECT_EQ(nics.a.received().size(), 1U);
  if (GetParam()) {  // where nothing is asked for again, each has left once
    using enum PacketOpcode;
    EXPECT_EQ(packets, (std::vector{acknowledge, send_only}));
  }
}

// An acknowledgement that found no room has nothing to gain by one more turn, and another.
TEST(Responder, lets_time_go_on_while_an_acknowledgement_waits_for_room) {
  TwoNics nics({.gathers = true});
  const Sge piece = nics.a.piece(0, 8);
  ASSERT_TRUE(nics.b.receive(1, {nics.b.piece(64, 64)}).ok());
  nics.b.wire.set_credits(0);
  ASSERT_TRUE(nics.a.send({.opcode = Opcode::send, .pieces = std::span(&piece, 1)}).ok());
  for (int i = 0; i < 100 && nics.loop.now_ns() == 0; ++i) {
    nics.loop.step();
  }
  ASSERT_NE(nics.loop.now_ns(), 0U) << "nothing happens before the sender's timeout";
  EXPECT_EQ(nics.b.received().size(), 1U);
  nics.b.wire.set_credits(1);
  nics.run();
  EXPECT_EQ(nics.a.sent().at(0).status, WorkStatus::success);
}

TEST(Responder, waits_for_an_answer_no_longer_than_a_turn) {
  EXPECT_EQ(answers_to_a_message({.gathers = true}, false), std::vector{PacketOpcode::acknowledge});
}

// Nothing, bytes that need padding, whole packets, and more than one: all ways to answer a READ.
TEST_P(EveryWire, reads_any_number_of_bytes) {
  TwoNics nics({.mtu_bytes = 1024, .lossless = GetParam()});
  for (std::size_t i = 0; i < nics.b.memory.size(); ++i) {
    nics.b.memory[i] = static_cast<std::byte>(i % 251 + 1);
  }
  for (const std::uint32_t size : {0U, 1U, 3U, 4U, 64U, 1020U, 1023U, 1024U, 1025U, 4096U}) {
    std::ranges::fill(nics.a.memory, std::byte{0});
    const Sge piece = nics.a.piece(8, size);
    EXPECT_EQ(end_of(nics, work_of(Opcode::read, piece, nics.b.remote(100))), WorkStatus::success);
    EXPECT_TRUE(
        std::ranges::equal(nics.a.memory.subspan(8, size), nics.b.memory.subspan(100, size)));
    EXPECT_EQ(nics.a.memory[7], std::byte{0});
    EXPECT_EQ(nics.a.memory[8 + size], std::byte{0});
  }
}

// The straight way asks for the local right as the other does.
TEST_P(EveryWire, reads_into_no_memory_that_it_may_not_write) {
  TwoNics nics({.lossless = GetParam()});
  std::vector<std::byte> bytes(64);
  auto constant = nics.a.register_memory(bytes, remote_read);
  EXPECT_EQ(end_of(nics, work_of(Opcode::read, constant->piece(0, 64), nics.b.remote(0))),
            WorkStatus::local_protection_error);
}

TEST_P(EveryWire, refuses_a_wrong_key) {
  for (const Opcode opcode : remote_opcodes) {
    TwoNics nics({.lossless = GetParam()});
    const Sge piece = nics.a.piece(0, 8);
    RemoteAddress wrong = nics.b.remote(0);
    wrong.key ^= 1 << 25;
    EXPECT_EQ(end_of(nics, work_of(opcode, piece, wrong)), WorkStatus::remote_access_error);
    EXPECT_EQ(nics.a.qp->state(), QpState::error);
    EXPECT_EQ(nics.b.qp->state(), QpState::error);
    EXPECT_EQ(nics.b.nic.counters().access_violations, 1U);
  }
}

TEST_P(EveryWire, refuses_what_lies_out_of_bounds) {
  for (const Opcode opcode : remote_opcodes) {
    for (const std::uint64_t offset : {std::uint64_t{1 << 16}, ~std::uint64_t{7}}) {
      TwoNics nics({.lossless = GetParam()});
      const Sge piece = nics.a.piece(0, 8);
      RemoteAddress wrong = nics.b.remote(0);
      wrong.address += offset;
      EXPECT_EQ(end_of(nics, work_of(opcode, piece, wrong)), WorkStatus::remote_access_error);
    }
  }
}

TEST_P(EveryWire, refuses_what_the_region_does_not_allow) {
  for (const Opcode opcode : remote_opcodes) {
    TwoNics nics({.lossless = GetParam()});
    std::vector<std::byte> bytes(64);
    auto bare = nics.b.register_memory(bytes, local_write);
    const Sge piece = nics.a.piece(0, 8);
    EXPECT_EQ(end_of(nics, work_of(opcode, piece, bare->remote(0))),
              WorkStatus::remote_access_error);
  }
}

TEST_P(EveryWire, refuses_what_the_queue_pair_does_not_allow) {
  for (const Opcode opcode : remote_opcodes) {
    TestOptions options;
    options.lossless = GetParam();
    options.connect.remote_access = 0;
    TwoNics nics(options);
    const Sge piece = nics.a.piece(0, 8);
    EXPECT_EQ(end_of(nics, work_of(opcode, piece, nics.b.remote(0))),
              WorkStatus::remote_access_error);
  }
}

TEST_P(EveryWire, refuses_the_key_of_another_domain) {
  TwoNics nics({.lossless = GetParam()});
  std::vector<std::byte> bytes(64);
  auto other = nics.b.nic.create_domain();
  auto region = std::move(other->register_memory(bytes, every_access & ~flush_persistence)).value();
  const Sge piece = nics.a.piece(0, 8);
  EXPECT_EQ(end_of(nics, work_of(Opcode::write, piece, region->remote(0))),
            WorkStatus::remote_access_error);
}

TEST_P(EveryWire, refuses_the_key_of_a_destroyed_region) {
  TwoNics nics({.lossless = GetParam()});
  std::vector<std::byte> bytes(64);
  auto region = nics.b.register_memory(bytes, every_access & ~flush_persistence);
  const RemoteAddress gone = region->remote(0);
  region.reset();
  auto successor = nics.b.register_memory(bytes, every_access & ~flush_persistence);
  EXPECT_NE(successor->remote_key(), gone.key);
  const Sge piece = nics.a.piece(0, 8);
  EXPECT_EQ(end_of(nics, work_of(Opcode::read, piece, gone)), WorkStatus::remote_access_error);
}

TEST(Responder, tells_the_reason_again_when_it_was_lost) {
  TwoNics nics;
  int lost = 0;
  nics.b.wire.choose([&](const Packet&) { return lost++ < 2 ? Fate{} : Fate{0}; });
  const Sge piece = nics.a.piece(0, 8);
  RemoteAddress wrong = nics.b.remote(0);
  wrong.key ^= 1 << 25;
  EXPECT_EQ(end_of(nics, work_of(Opcode::write, piece, wrong)), WorkStatus::remote_access_error);
}

TEST(Responder, refuses_an_atomic_on_an_unaligned_word) {
  for (const Opcode opcode : {Opcode::compare_swap, Opcode::fetch_add, Opcode::atomic_write}) {
    TwoNics nics;
    const Sge piece = nics.a.piece(0, 8);
    EXPECT_EQ(end_of(nics, work_of(opcode, piece, nics.b.remote(4))),
              WorkStatus::remote_invalid_request);
  }
}

TEST(Responder, refuses_a_message_that_its_receive_cannot_hold) {
  TwoNics nics;
  ASSERT_TRUE(nics.b.receive(3, {nics.b.piece(0, 7)}).ok());
  ASSERT_TRUE(nics.b.receive(4, {nics.b.piece(0, 7)}).ok());
  const Sge piece = nics.a.piece(0, 8);
  EXPECT_EQ(end_of(nics, work_of(Opcode::send, piece, {})), WorkStatus::remote_invalid_request);
  const auto received = nics.b.received();
  ASSERT_EQ(received.size(), 2U);
  EXPECT_EQ(received[0].status, WorkStatus::local_length_error);
  EXPECT_EQ(received[1].status, WorkStatus::flushed);
}

TEST(Responder, fails_a_receive_into_memory_that_it_may_not_write) {
  TwoNics nics;
  std::vector<std::byte> bytes(64);
  auto constant = nics.b.register_memory(bytes, remote_read);
  ASSERT_TRUE(nics.b.receive(3, {constant->piece(0, 64)}).ok());
  const Sge piece = nics.a.piece(0, 8);
  EXPECT_EQ(end_of(nics, work_of(Opcode::send, piece, {})), WorkStatus::remote_operation_error);
  EXPECT_EQ(nics.b.received().at(0).status, WorkStatus::local_protection_error);
}

TEST(Responder, repeats_the_answer_of_an_atomic_without_executing_it_again) {
  TwoNics nics;
  nics.a.wire.choose([](const Packet&) { return Fate{0, 300, 600}; });
  for (const Opcode opcode : {Opcode::fetch_add, Opcode::fetch_add}) {
    const Sge piece = nics.a.piece(0, 8);
    SendWork work = work_of(opcode, piece, nics.b.remote(0));
    work.operand = 1;
    EXPECT_EQ(end_of(nics, work), WorkStatus::success);
  }
  EXPECT_EQ(nics.b.word(0), 2U);
  EXPECT_EQ(nics.a.word(0), 1U);
}

TEST(Responder, cuts_off_a_peer_that_keeps_guessing) {
  TwoNics nics({.violation_limit = 3});
  for (int guess = 1; guess <= 3; ++guess) {
    EXPECT_FALSE(nics.b.wire.was_cut_off());
    auto from = nics.a.create({});
    auto to = nics.b.create({});
    nics.connect(*from, *to);
    const Sge piece = nics.a.piece(0, 8);
    RemoteAddress wrong = nics.b.remote(0);
    wrong.key ^= static_cast<std::uint32_t>(guess) << 20;
    const SendWork work = work_of(Opcode::read, piece, wrong);
    ASSERT_TRUE(from->post_send(std::span(&work, 1)).ok());
    nics.run();
  }
  EXPECT_TRUE(nics.b.wire.was_cut_off());
  EXPECT_EQ(nics.b.qp->state(), QpState::error);  // a bystander of the same link
}

TEST(Responder, drops_what_comes_by_a_wrong_link_or_makes_no_sense) {
  TwoNics nics;
  nics.b.wire.inject(std::vector<std::byte>(5));
  Packet packet;
  packet.queue_pair = 0x123456;
  std::vector<std::byte> bytes(packet_bytes(packet.opcode, 0));
  encode(packet, bytes);
  nics.b.wire.inject(bytes);
  nics.run();
  EXPECT_EQ(nics.b.nic.counters().packets_dropped, 2U);
}

// --- FLUSH ---

SendWork flush_work(const Side& to, FlushSelect select = FlushSelect::range) {
  return {.id = 50,
          .opcode = Opcode::flush,
          .remote = to.remote(0),
          .flush_bytes = 64,
          .flush_select = select};
}

// The requester here asks for one placement at a time; others may ask for both.
TEST(Responder, a_flush_of_both_placements_needs_both_rights) {
  for (const AccessFlags missing :
       std::initializer_list<AccessFlags>{0, flush_visibility, flush_persistence}) {
    FakeRegion medium(1 << 16, Granularity::cache_line);
    TestOptions options = {.lossless = true, .persistence = &medium};
    options.connect.remote_access = every_access & ~missing;
    TwoNics nics(options);
    nics.a.wire.hold();
    ASSERT_TRUE(nics.a.send(flush_work(nics.b)).ok());
    nics.run(1000);
    ASSERT_EQ(nics.a.wire.held(), 1U);
    Packet both = nics.a.wire.peek_held(0);
    both.flush_placement = 3;
    std::vector<std::byte> bytes(packet_bytes(both.opcode, 0));
    encode(both, bytes);
    nics.b.wire.inject(bytes);
    nics.run(1'000'000);
    const auto sent = nics.a.sent();
    ASSERT_EQ(sent.size(), 1U);
    EXPECT_EQ(sent[0].status, missing == 0 ? WorkStatus::success : WorkStatus::remote_access_error);
  }
}

TEST_P(EveryWire, flush_makes_written_bytes_persistent) {
  for (const FlushSelect select : {FlushSelect::range, FlushSelect::region}) {
    FakeRegion medium(1 << 16, Granularity::cache_line);
    TwoNics nics({.lossless = GetParam(), .persistence = &medium});
    nics.a.fill(0, 64, 7);
    const Sge piece = nics.a.piece(0, 64);
    ASSERT_TRUE(nics.a.send(work_of(Opcode::write, piece, nics.b.remote(0))).ok());
    ASSERT_TRUE(nics.a.send(flush_work(nics.b, select)).ok());
    nics.run();
    EXPECT_EQ(nics.a.sent().size(), 2U);
    medium.cut();
    EXPECT_TRUE(std::ranges::equal(nics.a.at(0, 64), nics.b.at(0, 64)));
  }
}

TEST_P(EveryWire, flush_on_page_media_waits_for_the_commit_and_all_behind_it_wait_too) {
  FakeRegion medium(1 << 16, Granularity::page);
  TestOptions options = {.lossless = GetParam(), .persistence = &medium};
  options.connect.retry_count = 100;
  TwoNics nics(options);
  auto other_a = nics.a.create({});
  auto other_b = nics.b.create({});
  nics.connect(*other_a, *other_b);
  const Sge piece = nics.a.piece(0, 64);
  nics.a.fill(0, 64, 7);
  ASSERT_TRUE(nics.a.send(work_of(Opcode::write, piece, nics.b.remote(0))).ok());
  ASSERT_TRUE(nics.a.send(flush_work(nics.b)).ok());
  SendWork behind = work_of(Opcode::atomic_write, piece, nics.b.remote(128));
  behind.operand = 1;
  ASSERT_TRUE(nics.a.send(behind).ok());
  ASSERT_TRUE(nics.a.send(work_of(Opcode::write, piece, nics.b.remote(256))).ok());
  SendWork other = work_of(Opcode::write, piece, nics.b.remote(512));
  other.id = 60;
  ASSERT_TRUE(other_a->post_send(std::span(&other, 1)).ok());
  nics.run(2'000'000);
  auto sent = nics.a.sent();
  ASSERT_EQ(sent.size(), 2U);  // the first write, and that of the other queue pair
  EXPECT_EQ(nics.b.word(128), 0U);
  EXPECT_EQ(nics.b.word(256), 0U);
  medium.commit();
  nics.run(2'000'000);
  sent = nics.a.sent();
  ASSERT_EQ(sent.size(), 3U);
  EXPECT_EQ(sent[0].id, 50U);
  EXPECT_EQ(nics.b.word(128), 1U);
  EXPECT_EQ(nics.b.word(256), nics.a.word(0));
}

// The peer would give up after four timeouts of 0.1 ms.
TEST_P(EveryWire, flush_outlasts_the_timeout_on_a_slow_medium) {
  FakeRegion medium(1 << 16, Granularity::page);
  TwoNics nics({.lossless = GetParam(), .persistence = &medium});
  const Sge piece = nics.a.piece(0, 64);
  ASSERT_TRUE(nics.a.send(work_of(Opcode::read, piece, nics.b.remote(0))).ok());
  ASSERT_TRUE(nics.a.send(flush_work(nics.b)).ok());
  ASSERT_TRUE(nics.a.send(work_of(Opcode::write, piece, nics.b.remote(256))).ok());
  nics.run(3'000'000'000);
  EXPECT_EQ(nics.a.sent().size(), 1U);  // the READ
  medium.commit();
  nics.run(50'000'000);
  const auto sent = nics.a.sent();
  ASSERT_EQ(sent.size(), 2U);
  EXPECT_EQ(sent[0].status, WorkStatus::success);
  EXPECT_EQ(sent[1].status, WorkStatus::success);
  EXPECT_LT(nics.b.nic.counters().rnr_naks_sent, 1000U);
}

// It is no SEND that finds no receive, however often the peer says that it has to wait.
TEST_P(EveryWire, flush_outlasts_a_slow_medium_whatever_rnr_retry_says) {
  for (const std::uint8_t rnr_retry : {std::uint8_t{0}, std::uint8_t{2}}) {
    FakeRegion medium(1 << 16, Granularity::page);
    TestOptions options = {.lossless = GetParam(), .persistence = &medium};
    options.connect.rnr_retry = rnr_retry;
    TwoNics nics(options);
    ASSERT_TRUE(nics.a.send(flush_work(nics.b)).ok());
    nics.run(3'000'000'000);
    EXPECT_TRUE(nics.a.sent().empty());
    medium.commit();
    nics.run(2'000'000);
    EXPECT_EQ(nics.a.sent().at(0).status, WorkStatus::success);
  }
}

TEST_P(EveryWire, flush_fails_when_its_region_goes_meanwhile) {
  FakeRegion medium(1 << 16, Granularity::page);
  TestOptions options = {.lossless = GetParam(), .persistence = &medium};
  options.connect.retry_count = 100;
  TwoNics nics(options);
  ASSERT_TRUE(nics.a.send(flush_work(nics.b)).ok());
  nics.run(100'000);
  nics.b.region.reset();
  nics.run(1'000'000);
  EXPECT_EQ(nics.a.sent().at(0).status, WorkStatus::remote_access_error);
}

TEST(Responder, flush_fails_when_the_medium_never_answers) {
  FakeRegion medium(1 << 16, Granularity::page);
  medium.fail();
  TwoNics nics({.lossless = true, .persistence = &medium});
  ASSERT_TRUE(nics.a.send(flush_work(nics.b)).ok());
  nics.run(limits::persistence_patience_ns + 1'000'000);
  EXPECT_EQ(nics.a.sent().at(0).status, WorkStatus::remote_operation_error);
}

}  // namespace
}  // namespace remora::fabric::nic
