// What the numbered sentences leave open, on RDMA devices: events, pieces, inline data, queues that
// are full, queue pairs that are used again, limits.
#include <algorithm>
#include <cstring>

#include "fabric/verbs/verbs_device.h"
#include "runtime/poll_loop.h"
#include "tests/fabric/contract.h"

namespace remora::fabric::contract {
namespace {

class OnDevices : public testing::TestWithParam<WorldKind> {
 protected:
  void SetUp() override {
    if (!GetParam().absent.empty()) {
      GTEST_SKIP() << GetParam().name << ": " << GetParam().absent;
    }
    world_ = GetParam().make(1);
  }
  World& world() { return *world_; }

 private:
  std::unique_ptr<World> world_;
};
INSTANTIATE_TEST_SUITE_P(Verbs, OnDevices, testing::ValuesIn(all_worlds()),
                         [](const auto& param) { return param.param.name; });

TEST_P(OnDevices, an_armed_queue_raises_one_event) {
  Pair pair(world());
  CompletionQueue& queue = *pair.near.send_queue;
  queue.arm(false);
  EXPECT_EQ(queue.event_count(), 0u);
  EXPECT_EQ(pair.status_of(pair.write(1, 0, 0, 64)), WorkStatus::success);
  EXPECT_TRUE(world().run_until([&] { return queue.event_count() == 1; }));
  EXPECT_EQ(pair.status_of(pair.write(2, 0, 0, 64)), WorkStatus::success);
  EXPECT_EQ(queue.event_count(), 1u) << "it was armed once";
}

TEST_P(OnDevices, a_queue_armed_for_solicited_messages_ignores_others) {
  Pair pair(world());
  pair.post_receive(1, 0, 64);
  pair.post_receive(2, 64, 64);
  CompletionQueue& queue = *pair.far.receive_queue;
  queue.arm(true);
  EXPECT_EQ(pair.status_of(pair.send(1, 0, 8)), WorkStatus::success);
  pair.wait_receives(1);
  EXPECT_EQ(queue.event_count(), 0u);
  SendWork urgent = pair.send(2, 0, 8);
  urgent.solicited = true;
  EXPECT_EQ(pair.status_of(urgent), WorkStatus::success);
  EXPECT_TRUE(world().run_until([&] { return queue.event_count() == 1; }));
}

class Bell final : public Timer {
 public:
  void expire() override {}
};

// Takes what came to a queue, and counts on somebody else to wake its loop.
class Inbox final : public Poller {
 public:
  explicit Inbox(End& end) : end_(end) {}
  bool poll() override {
    const std::size_t before = end_.receives.size();
    end_.poll();
    return end_.receives.size() != before;
  }
  bool follows() const override { return true; }
  bool wants_spin() const override { return false; }

 private:
  End& end_;
};

// The sender finds no receive and waits half a second, as it is told to. Meanwhile the receiver's
// loop goes to sleep, and no timer is due for long.
TEST_P(OnDevices, a_loop_that_sleeps_wakes_when_a_message_comes) {
  constexpr std::uint64_t receiver_not_ready_ns = 491'520'000;
  constexpr std::uint64_t patience_ns = 120'000'000'000;
  PairOptions options;
  options.far = world().connect_options();
  options.far->rnr_delay_ns = receiver_not_ready_ns;
  Pair pair(world(), options);
  PollLoop loop({.spin_turns = 0});
  dynamic_cast<verbs::VerbsDevice&>(world().far()).wake(loop);
  Inbox inbox(pair.far);
  loop.add_poller(inbox);
  for (std::size_t round = 1; round <= 3; ++round) {
    pair.post(pair.send(round, 0, 8));
    (void)loop.run_for(receiver_not_ready_ns / 5);
    pair.post_receive(round, 0, 64);
    const std::uint64_t parks = loop.parks();
    const std::uint64_t end_ns = loop.after(patience_ns);
    Bell bell;
    loop.arm(bell, end_ns);
    while (pair.far.receives.size() < round && loop.now_ns() < end_ns) {
      loop.turn();
    }
    EXPECT_EQ(pair.far.receives.size(), round) << "the loop slept until the bell rang";
    EXPECT_GT(loop.parks(), parks);
    pair.wait_sends(round);
  }
}

TEST_P(OnDevices, pieces_are_gathered_and_scattered) {
  Pair pair(world());
  pair.fill_near(0, 4096, 1);
  const Sge from[3] = {pair.near.memory->piece(100, 7), pair.near.memory->piece(1000, 1500),
                       pair.near.memory->piece(3000, 64)};
  SendWork work = pair.write(1, 0, 512, 1);
  work.pieces = from;
  EXPECT_EQ(pair.status_of(work), WorkStatus::success);
  const Sge into[2] = {pair.near.memory->piece(8192, 700), pair.near.memory->piece(16'384, 871)};
  SendWork back = pair.read(2, 0, 512, 1);
  back.pieces = into;
  const WorkCompletion read = pair.finish(back);
  EXPECT_EQ(read.status, WorkStatus::success);
  EXPECT_EQ(read.size_bytes, 1571u);
  std::vector<std::byte> gathered;
  for (const Sge& piece : from) {
    gathered.insert(gathered.end(), piece.address, piece.address + piece.size_bytes);
  }
  EXPECT_TRUE(pair.far_holds(512, gathered));
  EXPECT_TRUE(std::equal(gathered.begin(), gathered.begin() + 700, pair.near_at(8192)));
  EXPECT_TRUE(std::equal(gathered.begin() + 700, gathered.end(), pair.near_at(16'384)));
}

TEST_P(OnDevices, inline_data_is_copied_when_it_is_posted) {
  Pair pair(world());
  pair.fill_near(0, 48, 7);
  SendWork work = pair.write(1, 0, 64, 48);
  work.inline_data = true;
  pair.post(work);
  std::memset(pair.near_at(0), 0, 48);
  pair.wait_sends(1);
  EXPECT_TRUE(all_succeeded(pair.near.sends));
  EXPECT_TRUE(pair.far_holds(64, Pair::pattern(48, 7)));
  SendWork too_long = pair.write(2, 0, 64, 65);
  too_long.inline_data = true;
  EXPECT_EQ(pair.near.qp->post_send(std::span(&too_long, 1)).code(), Code::invalid_argument);
}

TEST_P(OnDevices, an_unsignalled_chain_has_no_end) {
  PairOptions options;
  options.max_sends = 16;
  Pair pair(world(), options);
  for (std::uint64_t i = 0; i < 100; ++i) {
    SendWork work = pair.fetch_add(i, 0, 64, 1);
    work.signalled = false;
    Status status = pair.near.qp->post_send(std::span(&work, 1));
    if (status.code() == Code::no_space) {
      EXPECT_TRUE(world().run_until([&] {
        pair.near.poll();
        status = pair.near.qp->post_send(std::span(&work, 1));
        return status.code() != Code::no_space;
      }));
    }
    ASSERT_TRUE(status.ok()) << status.message();
  }
  EXPECT_TRUE(world().run_until([&] {
    pair.near.poll();
    return pair.far_word(64) == 100;
  }));
  EXPECT_TRUE(pair.near.sends.empty()) << "nobody asked to be told";
}

TEST_P(OnDevices, a_full_queue_refuses_and_keeps_what_it_has) {
  PairOptions options;
  options.max_sends = 4;
  Pair pair(world(), options);
  std::vector<SendWork> works;
  for (std::uint64_t i = 0; i < 6; ++i) {
    works.push_back(pair.write(i, 0, 64 * i, 64));
  }
  EXPECT_EQ(pair.near.qp->post_send(works).code(), Code::no_space);
  pair.wait_sends(4);
  EXPECT_EQ(ids_of(pair.near.sends), (std::vector<std::uint64_t>{0, 1, 2, 3}));
  EXPECT_TRUE(all_succeeded(pair.near.sends));
}

TEST_P(OnDevices, completions_say_what_completed) {
  Pair pair(world());
  EXPECT_EQ(pair.finish(pair.write(1, 0, 0, 64)).opcode, Opcode::write);
  EXPECT_EQ(pair.finish(pair.fetch_add(2, 0, 0, 1)).size_bytes, 8u);
  const WorkCompletion flush = pair.finish(pair.flush(3, 0, 64));
  EXPECT_EQ(flush.opcode, Opcode::flush);
  EXPECT_EQ(flush.size_bytes, 0u);
  EXPECT_EQ(pair.finish(pair.atomic_write(4, 8, 5)).opcode, Opcode::atomic_write);
  EXPECT_EQ(flush.qp, pair.near.qp->number());
}

TEST_P(OnDevices, a_queue_pair_can_be_reset_and_connected_again) {
  Pair pair(world());
  pair.near.qp->fail();
  EXPECT_EQ(pair.near.qp->state(), QpState::error);
  pair.post(pair.write(1, 0, 0, 64));
  pair.near.qp->reset();
  pair.far.qp->reset();
  EXPECT_EQ(pair.near.qp->state(), QpState::reset);
  const SendWork early = pair.write(2, 0, 0, 64);
  EXPECT_EQ(pair.near.qp->post_send(std::span(&early, 1)).code(), Code::closed);
  ASSERT_TRUE(pair.near.qp->initialise().ok());
  ASSERT_TRUE(pair.far.qp->initialise().ok());
  ASSERT_TRUE(pair.near.qp->connect(pair.far.qp->address(), world().connect_options()).ok());
  ASSERT_TRUE(pair.far.qp->connect(pair.near.qp->address(), world().connect_options()).ok());
  pair.fill_near(0, 64, 3);
  EXPECT_EQ(pair.status_of(pair.write(3, 0, 0, 64)), WorkStatus::success);
  EXPECT_EQ(ids_of(pair.near.sends), std::vector<std::uint64_t>{3}) << "what was reset is dropped";
  EXPECT_TRUE(pair.far_holds(0, Pair::pattern(64, 3)));
}

TEST_P(OnDevices, a_peer_that_cannot_be_reached_changes_nothing) {
  Pair pair(world());
  pair.near.qp->reset();
  ASSERT_TRUE(pair.near.qp->initialise().ok());
  QueuePairAddress nowhere = pair.far.qp->address();
  nowhere.gid = {};
  const Status status = pair.near.qp->connect(nowhere, world().connect_options());
  EXPECT_EQ(status.code(), Code::not_found) << status.message();
  EXPECT_EQ(pair.near.qp->state(), QpState::init);
}

TEST_P(OnDevices, a_domain_that_went_first_is_missed_by_nobody) {
  std::vector<std::byte> memory(4096);
  std::unique_ptr<ProtectionDomain> domain = world().near().create_domain();
  Result<std::unique_ptr<MemoryRegion>> region = domain->register_memory(memory, local_write);
  ASSERT_TRUE(region.ok()) << region.status().message();
  domain.reset();
  *region = std::unique_ptr<MemoryRegion>();
}

TEST_P(OnDevices, more_than_the_device_has_is_refused) {
  Pair pair(world());
  const DeviceAttributes& most = world().near().attributes();
  EXPECT_EQ(world().near().create_completion_queue(most.max_completions + 1).code(),
            Code::invalid_argument);
  EXPECT_EQ(pair.near.domain
                ->create_queue_pair({.send_queue = pair.near.send_queue.get(),
                                     .receive_queue = pair.near.receive_queue.get(),
                                     .max_pieces = most.max_pieces + 1})
                .code(),
            Code::invalid_argument);
  EXPECT_EQ(pair.near.domain->create_queue_pair({}).code(), Code::invalid_argument);
}

}  // namespace
}  // namespace remora::fabric::contract
