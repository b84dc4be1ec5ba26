#include "fabric/nic/device/nic.h"

#include <gtest/gtest.h>

#include "fabric/nic/device/nic_core.h"
#include "fabric/nic/device/testing/two_nics.h"
#include "pmem/pmem_testing.h"

namespace remora::fabric::nic {
namespace {

SendWork write_work(const Sge& piece, const RemoteAddress& remote, std::uint64_t id = 1) {
  return {.id = id, .opcode = Opcode::write, .pieces = std::span(&piece, 1), .remote = remote};
}

TEST(Nic, says_what_it_is) {
  TwoNics nics;
  const DeviceAttributes& attributes = nics.a.nic.attributes();
  EXPECT_EQ(attributes.name, "soft-test");
  EXPECT_EQ(attributes.path_mtu_bytes, 1024U);
  EXPECT_EQ(attributes.max_message_bytes, 1U << 30);
  EXPECT_FALSE(attributes.capabilities.empty());
}

TEST(Nic, draws_the_same_numbers_from_the_same_seed_and_others_otherwise) {
  const TwoNics first({.seed = 5});
  const TwoNics again({.seed = 5});
  const TwoNics other({.seed = 6});
  EXPECT_EQ(first.a.qp->number(), again.a.qp->number());
  EXPECT_EQ(first.a.region->remote_key(), again.a.region->remote_key());
  EXPECT_NE(first.a.qp->number(), other.a.qp->number());
  Keys system = Keys::from_system();
  EXPECT_NE(system.next(), system.next());
}

TEST(Nic, refuses_registrations_that_promise_too_much) {
  TwoNics nics;
  std::vector<std::byte> bytes(64);
  FakeRegion medium(64, Granularity::cache_line);
  const auto code = [&](Bytes what, AccessFlags access, Region* persistence) {
    return nics.a.domain->register_memory(what, access, persistence).code();
  };
  EXPECT_EQ(code({}, local_write, nullptr), Code::invalid_argument);
  EXPECT_EQ(code(bytes, remote_write, nullptr), Code::invalid_argument);
  EXPECT_EQ(code(bytes, flush_persistence, nullptr), Code::invalid_argument);
  EXPECT_EQ(code(bytes, flush_persistence, &medium), Code::invalid_argument);
  EXPECT_EQ(code(bytes, 1 << 22, nullptr), Code::invalid_argument);
  EXPECT_EQ(code(medium.bytes(), every_access, &medium), Code::ok);
  EXPECT_EQ(code(medium.bytes(), every_access | relaxed_order, &medium), Code::ok);
}

TEST(Nic, refuses_queues_that_it_cannot_make) {
  TwoNics nics;
  EXPECT_EQ(nics.a.nic.create_completion_queue(0).code(), Code::invalid_argument);
  EXPECT_EQ(nics.a.nic.create_completion_queue(limits::completions + 1).code(),
            Code::invalid_argument);
  EXPECT_EQ(nics.a.domain->create_queue_pair({}).code(), Code::invalid_argument);
  EXPECT_EQ(nics.a.domain
                ->create_queue_pair({.send_queue = nics.a.sends.get(),
                                     .receive_queue = nics.a.receives.get(),
                                     .max_sends = limits::work_requests + 1})
                .code(),
            Code::invalid_argument);
}

TEST(Nic, has_a_bounded_number_of_queue_pairs) {
  TwoNics nics;
  const QueuePairOptions options = {.send_queue = nics.a.sends.get(),
                                    .receive_queue = nics.a.receives.get(),
                                    .max_sends = 1,
                                    .max_receives = 1,
                                    .max_pieces = 1,
                                    .max_inline_bytes = 0};
  std::vector<std::unique_ptr<QueuePair>> all;
  Code code = Code::ok;
  while (code == Code::ok && all.size() <= limits::queue_pairs) {
    auto made = nics.a.domain->create_queue_pair(options);
    code = made.code();
    if (made.ok()) {
      all.push_back(std::move(made).value());
    }
  }
  EXPECT_EQ(code, Code::no_space);
  all.pop_back();
  EXPECT_TRUE(nics.a.domain->create_queue_pair(options).ok());
}

// --- Queue pair states ---

TEST(QueuePair, takes_no_step_out_of_order) {
  TwoNics nics;
  EXPECT_FALSE(nics.a.qp->initialise().ok());
  EXPECT_FALSE(nics.a.qp->connect(nics.b.qp->address(), {}).ok());
  nics.a.qp->reset();
  EXPECT_EQ(nics.a.qp->state(), QpState::reset);
  EXPECT_EQ(nics.a.receive(1, {}).code(), Code::closed);
  EXPECT_EQ(nics.a.send({}).code(), Code::closed);
  EXPECT_FALSE(nics.a.qp->connect(nics.b.qp->address(), {}).ok());
  ASSERT_TRUE(nics.a.qp->initialise().ok());
  EXPECT_TRUE(nics.a.receive(1, {}).ok());
  EXPECT_EQ(nics.a.send({}).code(), Code::closed);
  EXPECT_EQ(nics.a.qp->connect({.gid = {1, 2, 3}}, {}).code(), Code::not_found);
  EXPECT_EQ(nics.a.qp->state(), QpState::init);
}

TEST(QueuePair, refuses_requests_that_no_device_could_execute) {
  TwoNics nics;
  std::vector<Sge> many(5, nics.a.piece(0, 8));
  const Sge piece = nics.a.piece(0, 200);
  EXPECT_EQ(nics.a.send({.pieces = many}).code(), Code::invalid_argument);
  EXPECT_EQ(nics.a.send({.opcode = Opcode::receive}).code(), Code::invalid_argument);
  EXPECT_EQ(nics.a.send({.inline_data = true, .pieces = std::span(&piece, 1)}).code(),
            Code::invalid_argument);
  EXPECT_EQ(nics.a.send({.opcode = Opcode::fetch_add, .pieces = std::span(&piece, 1)}).code(),
            Code::invalid_argument);
  EXPECT_EQ(nics.a.send({.opcode = Opcode::read, .inline_data = true}).code(),
            Code::invalid_argument);
}

TEST(QueuePair, posts_up_to_the_refused_request) {
  TestOptions options;
  options.queue_pair.max_sends = 3;
  TwoNics nics(options);
  nics.a.wire.hold();
  const Sge piece = nics.a.piece(0, 8);
  const std::vector<SendWork> works(5, write_work(piece, nics.b.remote(0)));
  EXPECT_EQ(nics.a.qp->post_send(works).code(), Code::no_space);
  EXPECT_EQ(nics.a.wire.held(), 3U);
  nics.a.wire.release();
  nics.run();
  EXPECT_EQ(nics.a.sent().size(), 3U);
}

TEST(QueuePair, flushes_in_order_what_was_and_is_posted) {
  TwoNics nics;
  nics.a.wire.hold();
  const Sge piece = nics.a.piece(0, 8);
  for (std::uint64_t id = 1; id <= 3; ++id) {
    ASSERT_TRUE(nics.a.send(write_work(piece, nics.b.remote(0), id)).ok());
    ASSERT_TRUE(nics.a.receive(id + 10, {}).ok());
  }
  nics.a.qp->fail();
  ASSERT_TRUE(nics.a.send(write_work(piece, nics.b.remote(0), 4)).ok());
  ASSERT_TRUE(nics.a.receive(14, {}).ok());
  const auto sent = nics.a.sent();
  const auto received = nics.a.received();
  ASSERT_EQ(sent.size(), 4U);
  ASSERT_EQ(received.size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(sent[i].id, i + 1);
    EXPECT_EQ(sent[i].status, WorkStatus::flushed);
    EXPECT_EQ(received[i].id, i + 11);
    EXPECT_EQ(received[i].status, WorkStatus::flushed);
  }
}

TEST(QueuePair, drops_everything_on_reset_and_can_be_connected_again) {
  for (const bool lossless : {false, true}) {
    TwoNics nics({.lossless = lossless});
    const Sge piece = nics.a.piece(0, 8);
    nics.a.wire.hold();
    ASSERT_TRUE(nics.a.send(write_work(piece, nics.b.remote(0))).ok());
    nics.a.wire.drop_held();
    nics.a.wire.release();
    nics.a.qp->reset();
    nics.b.qp->reset();
    ASSERT_TRUE(nics.a.qp->initialise().ok());
    ASSERT_TRUE(nics.b.qp->initialise().ok());
    nics.connect(*nics.a.qp, *nics.b.qp);
    ASSERT_TRUE(nics.a.send(write_work(piece, nics.b.remote(0), 2)).ok());
    nics.run();
    const auto sent = nics.a.sent();
    ASSERT_EQ(sent.size(), 1U);
    EXPECT_EQ(sent[0].id, 2U);
    EXPECT_EQ(sent[0].status, WorkStatus::success);
  }
}

// Neither side takes the first packet of the next connection for the rest of the last message.
TEST(QueuePair, a_reset_in_the_middle_of_a_message_leaves_nothing_of_it) {
  constexpr std::uint32_t size = 3000;  // three packets
  for (const Opcode opcode : {Opcode::send, Opcode::write, Opcode::read}) {
    for (const bool lossless : {false, true}) {
      SCOPED_TRACE(testing::Message() << static_cast<int>(opcode) << lossless);
      TwoNics nics({.lossless = lossless});
      nics.a.fill(0, size, 3);
      nics.b.fill(8192, size, 5);
      const auto post = [&](std::uint64_t id) {
        const bool reads = opcode == Opcode::read;
        const Sge piece = nics.a.piece(reads ? 4096 : 0, size);
        ASSERT_TRUE(nics.b.receive(id, {nics.b.piece(4096, size)}).ok());
        ASSERT_TRUE(nics.a
                        .send({.id = id,
                               .opcode = opcode,
                               .pieces = std::span(&piece, 1),
                               .remote = nics.b.remote(reads ? 8192 : 4096)})
                        .ok());
      };
      Side& speaker = opcode == Opcode::read ? nics.b : nics.a;
      int left = 0;
      speaker.wire.choose([&](const Packet&) { return left++ == 0 ? Fate{0} : Fate{}; });
      post(1);
      nics.run(50'000);
      ASSERT_GT(left, 1);
      for (Side* side : {&nics.a, &nics.b}) {
        side->qp->reset();
        ASSERT_TRUE(side->qp->initialise().ok());
        EXPECT_TRUE(side->sent().empty());
        EXPECT_TRUE(side->received().empty());
      }
      speaker.wire.choose({});
      nics.connect(*nics.a.qp, *nics.b.qp);
      post(2);
      nics.run();
      const auto sent = nics.a.sent();
      ASSERT_EQ(sent.size(), 1U);
      EXPECT_EQ(sent[0].id, 2U);
      EXPECT_EQ(sent[0].status, WorkStatus::success);
      EXPECT_TRUE(opcode == Opcode::read
                      ? std::ranges::equal(nics.a.at(4096, size), nics.b.at(8192, size))
                      : std::ranges::equal(nics.b.at(4096, size), nics.a.at(0, size)));
      const auto received = nics.b.received();
      ASSERT_EQ(received.size(), opcode == Opcode::send ? 1U : 0U);
      if (!received.empty()) {
        EXPECT_EQ(received[0].id, 2U);
        EXPECT_EQ(received[0].size_bytes, size);
      }
    }
  }
}

TEST(QueuePair, checks_local_pieces_before_it_sends_and_after_earlier_requests) {
  for (const Opcode opcode : {Opcode::write, Opcode::send, Opcode::read, Opcode::fetch_add}) {
    TwoNics nics;
    std::vector<std::byte> bytes(8);
    auto constant = nics.a.register_memory(bytes, local_read);
    const Sge good = nics.a.piece(0, 8);
    Sge bad = opcode == Opcode::read || opcode == Opcode::fetch_add ? constant->piece(0, 8) : good;
    bad.key ^= opcode == Opcode::write || opcode == Opcode::send ? 1 << 20 : 0;
    ASSERT_TRUE(nics.a.send(write_work(good, nics.b.remote(0), 1)).ok());
    ASSERT_TRUE(nics.a
                    .send({.id = 2,
                           .opcode = opcode,
                           .pieces = std::span(&bad, 1),
                           .remote = nics.b.remote(0)})
                    .ok());
    ASSERT_TRUE(nics.a.send(write_work(good, nics.b.remote(0), 3)).ok());
    nics.run();
    const auto sent = nics.a.sent();
    ASSERT_EQ(sent.size(), 3U);
    EXPECT_EQ(sent[0].status, WorkStatus::success);
    EXPECT_EQ(sent[1].status, WorkStatus::local_protection_error);
    EXPECT_EQ(sent[2].status, WorkStatus::flushed);
    EXPECT_EQ(nics.a.wire.sent(), 1U);
  }
}

TEST(QueuePair, uses_no_memory_of_a_region_that_is_gone) {
  TwoNics nics;
  auto bytes = std::make_unique<std::vector<std::byte>>(5000);
  auto region = nics.a.register_memory(*bytes, local_write);
  nics.a.wire.choose([](const Packet&) { return Fate{}; });
  const Sge piece = region->piece(0, 5000);
  ASSERT_TRUE(nics.a.send(write_work(piece, nics.b.remote(0))).ok());
  nics.run(50'000);
  region.reset();
  bytes.reset();
  nics.run();
  EXPECT_EQ(nics.a.sent().at(0).status, WorkStatus::local_protection_error);
}

TEST(QueuePair, refuses_a_message_longer_than_the_device_sends) {
  TwoNics nics;
  const std::vector<Sge> huge(2, Sge{nics.a.memory.data(), 1U << 30, nics.a.region->local_key()});
  ASSERT_TRUE(
      nics.a.send({.opcode = Opcode::write, .pieces = huge, .remote = nics.b.remote(0)}).ok());
  nics.run();
  EXPECT_EQ(nics.a.sent().at(0).status, WorkStatus::local_length_error);
}

// --- Wires that lose nothing ---

TEST(LosslessWire, sends_nothing_twice_however_long_it_takes) {
  TwoNics nics({.lossless = true});
  nics.b.wire.hold();
  const Sge piece = nics.a.piece(0, 8);
  ASSERT_TRUE(nics.a.send(write_work(piece, nics.b.remote(0))).ok());
  nics.run(300'000);  // several time-outs
  nics.b.wire.release();
  EXPECT_EQ(nics.loop.run_for(never_ns), RunState::finished);
  EXPECT_EQ(nics.a.sent().size(), 1U);
  EXPECT_EQ(nics.a.nic.counters().retransmissions, 0U);
}

TEST(LosslessWire, fails_requests_when_the_link_goes_down) {
  TwoNics nics({.lossless = true});
  nics.a.wire.hold();
  const Sge piece = nics.a.piece(0, 8);
  ASSERT_TRUE(nics.a.send(write_work(piece, nics.b.remote(0), 1)).ok());
  ASSERT_TRUE(nics.a.send(write_work(piece, nics.b.remote(0), 2)).ok());
  ASSERT_TRUE(nics.b.receive(1, {}).ok());
  nics.a.wire.cut();
  nics.run();
  const auto sent = nics.a.sent();
  ASSERT_EQ(sent.size(), 2U);
  EXPECT_EQ(sent[0].status, WorkStatus::retry_exceeded);
  EXPECT_EQ(sent[1].status, WorkStatus::flushed);
  EXPECT_EQ(nics.b.received().at(0).status, WorkStatus::flushed);
}

TEST(LosslessWire, tells_that_the_peers_queue_pair_is_gone) {
  const auto gone = [](const std::function<void(Side&)>& leave, bool posted_before) {
    FakeRegion medium(1 << 16, Granularity::page);
    TwoNics nics({.lossless = true, .persistence = &medium});
    const SendWork work = {.opcode = Opcode::flush, .remote = nics.b.remote(0), .flush_bytes = 8};
    if (posted_before) {
      ASSERT_TRUE(nics.a.send(work).ok());
      nics.run();
    }
    leave(nics.b);
    nics.run();
    if (!posted_before) {
      EXPECT_EQ(nics.a.qp->state(), QpState::ready_to_send);
      ASSERT_TRUE(nics.a.send(work).ok());
      nics.run();
    }
    EXPECT_EQ(nics.a.sent().at(0).status, WorkStatus::retry_exceeded);
  };
  for (const bool posted_before : {true, false}) {
    gone([](Side& side) { side.qp->fail(); }, posted_before);
    gone([](Side& side) { side.qp->reset(); }, posted_before);
    gone([](Side& side) { side.qp.reset(); }, posted_before);
  }
}

TEST(LosslessWire, can_sleep_when_a_link_goes_down_that_had_no_room_for_a_notice) {
  VirtualLoop loop({.seed = 1});
  TestWire near(loop, 0, 1024, true);
  TestWire far(loop, 1, 1024, true);
  TestWire::join(near, far);
  PlainDma dma(&loop);
  NicCore core(loop, near, dma, {.keys = Keys::from_seed(1)});
  near.set_credits(0);
  Packet packet;
  packet.queue_pair = 0x123456;  // that nobody has: the peer is to be told
  std::vector<std::byte> bytes(packet_bytes(packet.opcode, 0));
  encode(packet, bytes);
  near.inject(bytes);
  loop.run_for(1000);
  EXPECT_FALSE(core.arm_wake());
  near.cut();
  loop.run_for(1000);
  EXPECT_TRUE(core.arm_wake());
}

TEST(LosslessWire, waits_for_a_peer_that_is_not_connected_yet) {
  TwoNics nics({.lossless = true});
  auto from = nics.a.create({});
  auto to = nics.b.create({});
  ASSERT_TRUE(from->connect(to->address(), {}).ok());
  const Sge piece = nics.a.piece(0, 8);
  const SendWork work = write_work(piece, nics.b.remote(0));
  ASSERT_TRUE(from->post_send(std::span(&work, 1)).ok());
  nics.run(1'000'000);
  EXPECT_TRUE(nics.a.sent().empty());
  ASSERT_TRUE(to->connect(from->address(), {}).ok());
  nics.run(1'000'000);
  EXPECT_EQ(nics.a.sent().at(0).status, WorkStatus::success);
}

TEST(LosslessWire, fails_requests_to_a_queue_pair_that_never_was) {
  TwoNics nics({.lossless = true});
  auto from = nics.a.create({});
  QueuePairAddress nobody = nics.b.qp->address();
  nobody.number ^= 1 << 20;
  ASSERT_TRUE(from->connect(nobody, {}).ok());
  const Sge piece = nics.a.piece(0, 8);
  const SendWork work = write_work(piece, nics.b.remote(0));
  ASSERT_TRUE(from->post_send(std::span(&work, 1)).ok());
  nics.run();
  EXPECT_EQ(nics.a.sent().at(0).status, WorkStatus::retry_exceeded);
}

// --- Completion queues ---

TEST(CompletionQueue, an_overrun_puts_its_queue_pairs_in_error) {
  TwoNics nics;
  auto small = std::move(nics.a.nic.create_completion_queue(2)).value();
  const QueuePairOptions options = {.send_queue = small.get(), .receive_queue = small.get()};
  auto from = std::move(nics.a.domain->create_queue_pair(options)).value();
  ASSERT_TRUE(from->initialise().ok());
  auto to = nics.b.create({});
  nics.connect(*from, *to);
  const Sge piece = nics.a.piece(0, 8);
  const std::vector<SendWork> works(3, write_work(piece, nics.b.remote(0)));
  ASSERT_TRUE(from->post_send(works).ok());
  nics.run();
  EXPECT_TRUE(small->overrun());
  EXPECT_EQ(from->state(), QpState::error);
}

TEST(CompletionQueue, raises_one_event_per_arming) {
  TwoNics nics;
  const Sge piece = nics.a.piece(0, 8);
  const auto write = [&] {
    ASSERT_TRUE(nics.a.send(write_work(piece, nics.b.remote(0))).ok());
    nics.run();
  };
  write();
  EXPECT_EQ(nics.a.sends->event_count(), 0U);
  nics.a.sends->arm(false);
  write();
  write();
  EXPECT_EQ(nics.a.sends->event_count(), 1U);
}

TEST(CompletionQueue, raises_solicited_events_for_solicited_and_failed_completions_alone) {
  TwoNics nics;
  for (std::uint64_t id = 0; id < 4; ++id) {
    ASSERT_TRUE(nics.b.receive(id, {nics.b.piece(0, 8)}).ok());
  }
  const auto send = [&](bool solicited) {
    ASSERT_TRUE(nics.a.send({.opcode = Opcode::send, .solicited = solicited}).ok());
    nics.run();
  };
  nics.b.receives->arm(true);
  send(false);
  EXPECT_EQ(nics.b.receives->event_count(), 0U);
  send(true);
  EXPECT_EQ(nics.b.receives->event_count(), 1U);
  nics.b.receives->arm(true);
  nics.b.qp->fail();
  EXPECT_EQ(nics.b.receives->event_count(), 2U);
}

TEST(Translation, counts_hits_and_misses_and_charges_the_misses) {
  TwoNics nics;
  const Sge piece = nics.a.piece(0, 8);
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(nics.a.send(write_work(piece, nics.b.remote(0))).ok());
    nics.run();
  }
  EXPECT_EQ(nics.b.nic.counters().translation_misses, 1U);
  EXPECT_EQ(nics.b.nic.counters().translation_hits, 1U);
  EXPECT_EQ(nics.b.wire.charged(Wire::Cost::translation_miss), 1U);
  EXPECT_EQ(nics.b.wire.charged(Wire::Cost::memory_write), 16U);
  EXPECT_EQ(nics.a.wire.charged(Wire::Cost::work_request), 2U);
}

}  // namespace
}  // namespace remora::fabric::nic
