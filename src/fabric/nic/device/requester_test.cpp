#include <gtest/gtest.h>

#include "fabric/nic/device/testing/two_nics.h"

namespace remora::fabric::nic {
namespace {

// Lets a packet through unless it is the `nth` (from 0) that `matches`.
TestWire::Choose drop_nth(std::function<bool(const Packet&)> matches, int nth) {
  auto seen = std::make_shared<int>(0);
  return
      [=](const Packet& packet) { return matches(packet) && (*seen)++ == nth ? Fate{} : Fate{0}; };
}

TestWire::Choose drop_first(PacketOpcode opcode) {
  return drop_nth([=](const Packet& packet) { return packet.opcode == opcode; }, 0);
}

TEST(Requester, writes_messages_of_every_length_around_the_mtu) {
  TwoNics nics;
  for (const std::size_t size : {0U, 1U, 3U, 1023U, 1024U, 1025U, 2048U, 2049U, 4096U, 10'000U}) {
    nics.a.fill(0, size, static_cast<std::uint8_t>(size));
    const Sge piece = nics.a.piece(0, size);
    ASSERT_TRUE(nics.a.send(write_work(nics.b, piece, 100, size)).ok());
    nics.run();
    const auto sent = nics.a.sent();
    ASSERT_EQ(sent.size(), 1U) << size;
    EXPECT_EQ(sent[0].status, WorkStatus::success);
    EXPECT_EQ(sent[0].id, size);
    EXPECT_TRUE(std::ranges::equal(nics.a.at(0, size), nics.b.at(100, size))) << size;
    EXPECT_EQ(nics.b.memory[100 + size], std::byte{0});
  }
}

TEST(Requester, keeps_at_most_128_packets_unacknowledged) {
  TwoNics nics({.memory_bytes = 1 << 20});
  const Sge piece = nics.a.piece(0, 300 * 1024);
  nics.a.wire.hold();
  ASSERT_TRUE(nics.a.send(write_work(nics.b, piece, 0)).ok());
  EXPECT_EQ(nics.a.wire.held(), 128U);
  EXPECT_TRUE(nics.a.wire.peek_held(63).acknowledge_request);
  EXPECT_FALSE(nics.a.wire.peek_held(62).acknowledge_request);
  nics.a.wire.release();
  nics.run();
  EXPECT_EQ(nics.a.sent().size(), 1U);
}

// Else it would stand still until a time-out.
TEST(Requester, asks_for_acknowledgements_within_the_window_of_the_wire) {
  TwoNics nics({.window_packets = 8, .memory_bytes = 1 << 20});
  const Sge piece = nics.a.piece(0, 300 * 1024);
  nics.a.wire.hold();
  ASSERT_TRUE(nics.a.send(write_work(nics.b, piece, 0)).ok());
  EXPECT_EQ(nics.a.wire.held(), 8U);
  EXPECT_TRUE(nics.a.wire.peek_held(3).acknowledge_request);
  EXPECT_TRUE(nics.a.wire.peek_held(7).acknowledge_request);
  nics.a.wire.release();
  nics.run();
  EXPECT_EQ(nics.a.sent().size(), 1U);
  EXPECT_EQ(nics.a.nic.counters().retransmissions, 0U);
}

TEST(Requester, asks_for_an_acknowledgement_with_the_last_packet) {
  TwoNics nics;
  const Sge piece = nics.a.piece(0, 2500);
  nics.a.wire.hold();
  ASSERT_TRUE(nics.a.send(write_work(nics.b, piece, 0)).ok());
  ASSERT_EQ(nics.a.wire.held(), 3U);
  EXPECT_FALSE(nics.a.wire.peek_held(0).acknowledge_request);
  EXPECT_EQ(nics.a.wire.peek_held(0).opcode, PacketOpcode::write_first);
  EXPECT_EQ(nics.a.wire.peek_held(0).length, 2500U);
  EXPECT_EQ(nics.a.wire.peek_held(1).opcode, PacketOpcode::write_middle);
  EXPECT_EQ(nics.a.wire.peek_held(2).opcode, PacketOpcode::write_last);
  EXPECT_EQ(nics.a.wire.peek_held(2).payload_bytes, 452U);
  EXPECT_TRUE(nics.a.wire.peek_held(2).acknowledge_request);
}

TEST(Requester, goes_back_when_a_packet_was_lost) {
  TwoNics nics;
  nics.a.fill(0, 5000, 3);
  nics.a.wire.choose(drop_nth([](const Packet&) { return true; }, 2));
  const Sge piece = nics.a.piece(0, 5000);
  ASSERT_TRUE(nics.a.send(write_work(nics.b, piece, 0)).ok());
  nics.run(50'000);  // less than the time-out: the NAK did it
  EXPECT_EQ(nics.a.sent().size(), 1U);
  EXPECT_TRUE(std::ranges::equal(nics.a.at(0, 5000), nics.b.at(0, 5000)));
  EXPECT_EQ(nics.b.nic.counters().naks_sent, 1U);
  EXPECT_EQ(nics.a.nic.counters().retransmissions, 3U);
}

TEST(Requester, sends_again_when_nobody_answers) {
  TwoNics nics;
  nics.a.wire.choose(drop_first(PacketOpcode::write_only));
  const Sge piece = nics.a.piece(0, 8);
  ASSERT_TRUE(nics.a.send(write_work(nics.b, piece, 0)).ok());
  nics.run(99'000);
  EXPECT_TRUE(nics.a.sent().empty());
  nics.run(2'000);
  EXPECT_EQ(nics.a.sent().size(), 1U);
}

TEST(Requester, gives_up_after_the_agreed_number_of_retries) {
  TwoNics nics;
  nics.a.wire.choose([](const Packet&) { return Fate{}; });
  const Sge piece = nics.a.piece(0, 8);
  for (std::uint64_t id = 1; id <= 3; ++id) {
    ASSERT_TRUE(nics.a.send(write_work(nics.b, piece, 0, id)).ok());
  }
  ASSERT_TRUE(nics.a.receive(9, {}).ok());
  nics.run(399'000);
  EXPECT_EQ(nics.a.qp->state(), QpState::ready_to_send);
  nics.run(2'000);  // four times 100 microseconds
  const auto sent = nics.a.sent();
  ASSERT_EQ(sent.size(), 3U);
  EXPECT_EQ(sent[0].status, WorkStatus::retry_exceeded);
  EXPECT_EQ(sent[1].status, WorkStatus::flushed);
  EXPECT_EQ(sent[2].status, WorkStatus::flushed);
  EXPECT_EQ(sent[2].id, 3U);
  ASSERT_EQ(nics.a.received().size(), 1U);
  EXPECT_EQ(nics.a.qp->state(), QpState::error);
}

TEST(Requester, executes_an_atomic_once_when_its_answer_was_lost) {
  TwoNics nics;
  store<std::uint64_t>(nics.b.memory.data(), 40);
  nics.b.wire.choose(drop_first(PacketOpcode::atomic_acknowledge));
  const Sge result = nics.a.piece(64, 8);
  ASSERT_TRUE(nics.a
                  .send({.opcode = Opcode::fetch_add,
                         .pieces = std::span(&result, 1),
                         .remote = nics.b.remote(0),
                         .operand = 2})
                  .ok());
  nics.run();
  ASSERT_EQ(nics.a.sent().size(), 1U);
  EXPECT_EQ(nics.a.word(64), 40U);
  EXPECT_EQ(nics.b.word(0), 42U);
}

TEST(Requester, executes_a_send_once_when_its_acknowledgement_was_lost) {
  TwoNics nics;
  nics.b.wire.choose(drop_first(PacketOpcode::acknowledge));
  ASSERT_TRUE(nics.b.receive(1, {nics.b.piece(0, 8)}).ok());
  ASSERT_TRUE(nics.b.receive(2, {nics.b.piece(8, 8)}).ok());
  const Sge piece = nics.a.piece(0, 8);
  ASSERT_TRUE(nics.a.send({.opcode = Opcode::send, .pieces = std::span(&piece, 1)}).ok());
  nics.run();
  EXPECT_EQ(nics.a.sent().size(), 1U);
  EXPECT_EQ(nics.b.received().size(), 1U);
}

TEST(Requester, asks_again_for_the_missing_rest_of_a_read) {
  for (const PacketOpcode lost :
       {PacketOpcode::read_response_first, PacketOpcode::read_response_middle,
        PacketOpcode::read_response_last}) {
    TwoNics nics;
    nics.b.fill(0, 5000, 9);
    nics.b.wire.choose(drop_first(lost));
    const Sge piece = nics.a.piece(100, 5000);
    ASSERT_TRUE(nics.a
                    .send({.opcode = Opcode::read,
                           .pieces = std::span(&piece, 1),
                           .remote = nics.b.remote(0)})
                    .ok());
    nics.run();
    const auto sent = nics.a.sent();
    ASSERT_EQ(sent.size(), 1U);
    EXPECT_EQ(sent[0].size_bytes, 5000U);
    EXPECT_TRUE(std::ranges::equal(nics.a.at(100, 5000), nics.b.at(0, 5000)));
  }
}

TEST(Requester, ignores_answers_that_come_twice) {
  TwoNics nics;
  nics.b.fill(0, 5000, 9);
  nics.b.wire.choose([](const Packet&) { return Fate{0, 500}; });
  const Sge piece = nics.a.piece(0, 5000);
  for (std::uint64_t id = 0; id < 4; ++id) {
    ASSERT_TRUE(nics.a
                    .send({.id = id,
                           .opcode = Opcode::read,
                           .pieces = std::span(&piece, 1),
                           .remote = nics.b.remote(0)})
                    .ok());
  }
  nics.run();
  EXPECT_EQ(nics.a.sent().size(), 4U);
  EXPECT_EQ(nics.a.qp->state(), QpState::ready_to_send);
}

TEST(Requester, waits_for_a_receive_and_then_succeeds) {
  TwoNics nics;
  const Sge piece = nics.a.piece(0, 8);
  ASSERT_TRUE(nics.a.send({.opcode = Opcode::send, .pieces = std::span(&piece, 1)}).ok());
  nics.run(100'000);
  EXPECT_TRUE(nics.a.sent().empty());
  EXPECT_GE(nics.b.nic.counters().rnr_naks_sent, 5U);
  ASSERT_TRUE(nics.b.receive(1, {nics.b.piece(0, 8)}).ok());
  nics.run(20'000);
  EXPECT_EQ(nics.a.sent().size(), 1U);
  EXPECT_EQ(nics.b.received().size(), 1U);
}

TEST(Requester, fails_when_no_receive_comes) {
  TestOptions options;
  options.connect.rnr_retry = 2;
  TwoNics nics(options);
  const Sge piece = nics.a.piece(0, 8);
  ASSERT_TRUE(nics.a.send({.opcode = Opcode::send, .pieces = std::span(&piece, 1)}).ok());
  nics.run();
  const auto sent = nics.a.sent();
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_EQ(sent[0].status, WorkStatus::rnr_retry_exceeded);
  EXPECT_EQ(nics.b.nic.counters().rnr_naks_sent, 3U);
}

TEST(Requester, waits_for_a_receive_in_the_last_packet_of_a_write_with_imm) {
  TwoNics nics;
  nics.a.fill(0, 3000, 1);
  const Sge piece = nics.a.piece(0, 3000);
  ASSERT_TRUE(nics.a
                  .send({.opcode = Opcode::write_imm,
                         .pieces = std::span(&piece, 1),
                         .remote = nics.b.remote(64),
                         .immediate = 77})
                  .ok());
  nics.run(50'000);
  ASSERT_TRUE(nics.b.receive(5, {}).ok());
  nics.run(50'000);
  EXPECT_EQ(nics.a.sent().size(), 1U);
  const auto received = nics.b.received();
  ASSERT_EQ(received.size(), 1U);
  EXPECT_EQ(received[0].opcode, Opcode::receive_imm);
  EXPECT_EQ(received[0].immediate, 77U);
  EXPECT_EQ(received[0].size_bytes, 3000U);
  EXPECT_TRUE(std::ranges::equal(nics.a.at(0, 3000), nics.b.at(64, 3000)));
}

// Every reset draws a new first number.
void begin_near_the_wrap(QueuePair& qp) {
  do {
    qp.reset();
  } while (qp.address().first_packet < sequence_mask - 40);
  ASSERT_TRUE(qp.initialise().ok());
}

TEST(Requester, counts_sequence_numbers_across_their_wrap) {
  for (const bool lossless : {true, false}) {
    TwoNics nics({.mtu_bytes = 256, .lossless = lossless});
    begin_near_the_wrap(*nics.a.qp);
    begin_near_the_wrap(*nics.b.qp);
    nics.connect(*nics.a.qp, *nics.b.qp);
    if (!lossless) {
      nics.a.wire.choose(drop_nth([](const Packet& packet) { return packet.sequence == 0; }, 0));
      nics.b.wire.choose(drop_nth([](const Packet& packet) { return packet.sequence == 0; }, 0));
    }
    nics.a.fill(0, 30'000, 3);
    const Sge piece = nics.a.piece(0, 30'000);
    const Sge back = nics.a.piece(30'000, 30'000);
    ASSERT_TRUE(nics.a.send(write_work(nics.b, piece, 0)).ok());
    ASSERT_TRUE(
        nics.a
            .send(
                {.opcode = Opcode::read, .pieces = std::span(&back, 1), .remote = nics.b.remote(0)})
            .ok());
    nics.run();
    const auto sent = nics.a.sent();
    ASSERT_EQ(sent.size(), 2U);
    EXPECT_EQ(sent[1].status, WorkStatus::success);
    EXPECT_TRUE(std::ranges::equal(nics.a.at(0, 30'000), nics.a.at(30'000, 30'000)));
  }
}

TEST(Requester, holds_a_fenced_request_until_earlier_reads_have_completed) {
  TwoNics nics;
  nics.a.wire.hold();
  const Sge piece = nics.a.piece(0, 8);
  ASSERT_TRUE(
      nics.a
          .send(
              {.opcode = Opcode::read, .pieces = std::span(&piece, 1), .remote = nics.b.remote(0)})
          .ok());
  SendWork fenced = write_work(nics.b, piece, 8);
  fenced.fence = true;
  ASSERT_TRUE(nics.a.send(fenced).ok());
  EXPECT_EQ(nics.a.wire.held(), 1U);
  nics.a.wire.release();
  nics.run();
  EXPECT_EQ(nics.a.sent().size(), 2U);
}

TEST(Requester, keeps_reads_in_flight_within_what_was_agreed) {
  TestOptions options;
  options.connect.reads_in_flight = 2;
  TwoNics nics(options);
  nics.a.wire.hold();
  const Sge piece = nics.a.piece(0, 8);
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(nics.a
                    .send({.opcode = Opcode::fetch_add,
                           .pieces = std::span(&piece, 1),
                           .remote = nics.b.remote(0),
                           .operand = 1})
                    .ok());
  }
  EXPECT_EQ(nics.a.wire.held(), 2U);
  nics.a.wire.release();
  nics.run();
  EXPECT_EQ(nics.a.sent().size(), 5U);
  EXPECT_EQ(nics.b.word(0), 5U);
}

TEST(Requester, reports_unsignalled_requests_only_when_they_fail) {
  TwoNics nics;
  const Sge piece = nics.a.piece(0, 8);
  SendWork quiet = write_work(nics.b, piece, 8);
  quiet.signalled = false;
  ASSERT_TRUE(nics.a.send(quiet).ok());
  nics.run(1000);
  EXPECT_TRUE(nics.a.sent().empty());
  quiet.remote.key ^= 1 << 20;
  ASSERT_TRUE(nics.a.send(quiet).ok());
  nics.run(1000);
  const auto sent = nics.a.sent();
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_EQ(sent[0].status, WorkStatus::remote_access_error);
}

TEST(Requester, gathers_from_many_pieces_and_scatters_into_many) {
  TwoNics nics;
  nics.a.fill(0, 4000, 5);
  const std::array<Sge, 3> from = {nics.a.piece(0, 10), nics.a.piece(100, 2000),
                                   nics.a.piece(3000, 7)};
  ASSERT_TRUE(
      nics.b.receive(1, {nics.b.piece(8000, 1000), nics.b.piece(0, 3), nics.b.piece(50, 2000)})
          .ok());
  ASSERT_TRUE(nics.a.send({.opcode = Opcode::send_imm, .pieces = from, .immediate = 4}).ok());
  nics.run();
  std::vector<std::byte> sent;
  for (const Sge& piece : from) {
    sent.insert(sent.end(), piece.address, piece.address + piece.size_bytes);
  }
  std::vector<std::byte> got;
  for (const auto& [offset, size] : {std::pair(8000, 1000), std::pair(0, 3), std::pair(50, 1014)}) {
    const Bytes part = nics.b.at(static_cast<std::size_t>(offset), static_cast<std::size_t>(size));
    got.insert(got.end(), part.begin(), part.end());
  }
  EXPECT_EQ(sent, got);
  const auto received = nics.b.received();
  ASSERT_EQ(received.size(), 1U);
  EXPECT_EQ(received[0].size_bytes, 2017U);
  EXPECT_TRUE(received[0].has_immediate);
}

TEST(Requester, copies_inline_data_while_posting) {
  TwoNics nics;
  nics.a.fill(0, 100, 1);
  nics.a.wire.choose(drop_first(PacketOpcode::write_only));
  Sge piece = nics.a.piece(0, 100);
  piece.key = 0;
  const std::vector<std::byte> before(nics.a.memory.begin(), nics.a.memory.begin() + 100);
  SendWork work = write_work(nics.b, piece, 0);
  work.inline_data = true;
  ASSERT_TRUE(nics.a.send(work).ok());
  nics.a.fill(0, 100, 200);
  nics.run();
  EXPECT_EQ(nics.a.sent().size(), 1U);
  EXPECT_TRUE(std::ranges::equal(before, nics.b.at(0, 100)));
}

TEST(Requester, goes_on_when_the_wire_has_room_again) {
  TwoNics nics({.lossless = true});
  nics.a.wire.set_credits(3);
  nics.b.wire.set_credits(2);
  nics.a.fill(0, 30'000, 1);
  const Sge piece = nics.a.piece(0, 30'000);
  const Sge back = nics.a.piece(30'000, 30'000);
  ASSERT_TRUE(nics.a.send(write_work(nics.b, piece, 0)).ok());
  ASSERT_TRUE(
      nics.a
          .send({.opcode = Opcode::read, .pieces = std::span(&back, 1), .remote = nics.b.remote(0)})
          .ok());
  ASSERT_TRUE(
      nics.a.send({.opcode = Opcode::atomic_write, .remote = nics.b.remote(0), .operand = 1}).ok());
  ASSERT_TRUE(nics.a.send(write_work(nics.b, piece, 30'000)).ok());
  nics.run();
  EXPECT_EQ(nics.a.sent().size(), 4U);
  EXPECT_TRUE(std::ranges::equal(nics.a.at(0, 30'000), nics.a.at(30'000, 30'000)));
  EXPECT_EQ(nics.b.word(0), 1U);
  EXPECT_TRUE(std::ranges::equal(nics.a.at(0, 30'000), nics.b.at(30'000, 30'000)));
}

TEST(Requester, gives_up_a_peer_that_stands_still_on_a_wire_that_loses_nothing) {
  TwoNics nics({.lossless = true, .connect = {.timeout_ns = 1'000'000, .retry_count = 3}});
  nics.a.wire.hold();  // nothing that is sent reaches the peer, nor does it say anything
  const Sge piece = nics.a.piece(0, 8);
  ASSERT_TRUE(nics.a.send(write_work(nics.b, piece, 0)).ok());
  ASSERT_TRUE(nics.a.send(write_work(nics.b, piece, 8)).ok());
  nics.run(2'000'000);
  EXPECT_TRUE(nics.a.sent().empty());
  nics.run(10'000'000);
  const auto sent = nics.a.sent();
  ASSERT_EQ(sent.size(), 2U);
  EXPECT_EQ(sent[0].status, WorkStatus::retry_exceeded);
  EXPECT_EQ(sent[1].status, WorkStatus::flushed);
  EXPECT_EQ(nics.a.nic.counters().retransmissions, 0U);
}

TEST(Requester, waits_for_a_peer_that_is_there_and_slow) {
  TwoNics nics(
      {.lossless = true,
       .connect = {.timeout_ns = 1'000'000, .retry_count = 1, .rnr_delay_ns = 20'000'000}});
  const Sge piece = nics.a.piece(0, 8);
  ASSERT_TRUE(nics.a.send({.opcode = Opcode::send, .pieces = std::span(&piece, 1)}).ok());
  nics.run(40'000'000);
  EXPECT_TRUE(nics.a.sent().empty());
  ASSERT_TRUE(nics.b.receive(1, {nics.b.piece(0, 8)}).ok());
  nics.run(60'000'000);
  const auto sent = nics.a.sent();
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_EQ(sent[0].status, WorkStatus::success);
}

TEST(Requester, refuses_an_answer_that_makes_no_sense) {
  TwoNics nics;
  nics.a.wire.hold();
  const Sge piece = nics.a.piece(0, 8);
  ASSERT_TRUE(
      nics.a
          .send(
              {.opcode = Opcode::read, .pieces = std::span(&piece, 1), .remote = nics.b.remote(0)})
          .ok());
  Packet lie;
  lie.opcode = PacketOpcode::read_response_only;
  lie.queue_pair = nics.a.qp->number();
  lie.sequence = nics.a.wire.peek_held(0).sequence;
  lie.payload_bytes = 4;
  std::vector<std::byte> bytes(packet_bytes(lie.opcode, 4));
  encode(lie, bytes);
  nics.a.wire.inject(bytes);
  nics.run(1000);
  const auto sent = nics.a.sent();
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_EQ(sent[0].status, WorkStatus::bad_response);
}

}  // namespace
}  // namespace remora::fabric::nic
