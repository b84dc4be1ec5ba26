// F1 to F6. F7 has a file of its own.
#include <cstring>

#include "tests/fabric/contract.h"

namespace remora::fabric::contract {
namespace {

std::vector<WorkStatus> statuses_of(const std::vector<WorkCompletion>& completions) {
  std::vector<WorkStatus> statuses;
  for (const WorkCompletion& completion : completions) {
    statuses.push_back(completion.status);
  }
  return statuses;
}

PairOptions with_rnr_retry(World& world, std::uint8_t times) {
  PairOptions options;
  options.near = options.far = world.connect_options();
  options.near->rnr_retry = times;
  options.far->rnr_delay_ns = 100'000;
  return options;
}

SENTENCE(F1, a_send_without_a_receive_fails_after_its_retries) {
  Pair pair(world, with_rnr_retry(world, 2));
  EXPECT_EQ(pair.status_of(pair.send(1, 0, 8)), WorkStatus::rnr_retry_exceeded);
  EXPECT_EQ(pair.near.qp->state(), QpState::error);
}

SENTENCE(F1, with_retries_for_ever_it_waits_for_the_receive) {
  Pair pair(world, with_rnr_retry(world, 7));
  pair.fill_near(0, 5000, 4);
  pair.post(pair.send(1, 0, 5000));
  const std::uint64_t begin_ns = world.runtime().now_ns();
  EXPECT_TRUE(world.run_until([&] { return world.runtime().now_ns() > begin_ns + 2'000'000; }));
  pair.near.poll();
  EXPECT_TRUE(pair.near.sends.empty());
  pair.post_receive(2, 0, 5000);
  pair.wait_receives(1);
  pair.wait_sends(1);
  EXPECT_TRUE(all_succeeded(pair.near.sends));
  EXPECT_TRUE(pair.buffer_holds(0, Pair::pattern(5000, 4)));
}

SENTENCE(F2, a_message_longer_than_its_receive_fails_on_both_sides) {
  for (const std::size_t size : {101u, 30'000u}) {
    Pair pair(world);
    pair.fill(pair.far.buffers->bytes().first(1000), std::byte{0x11});
    pair.post_receive(7, 0, 100);
    const WorkStatus sent = pair.status_of(pair.send(1, 0, size));
    EXPECT_TRUE(world.says(WorkStatus::remote_invalid_request, sent)) << size << to_string(sent);
    pair.wait_receives(1);
    ASSERT_EQ(pair.far.receives.size(), 1u);
    EXPECT_EQ(pair.far.receives[0].id, 7u);
    const WorkStatus received = pair.far.receives[0].status;
    EXPECT_TRUE(world.says(WorkStatus::local_length_error, received)) << to_string(received);
    EXPECT_EQ(pair.buffer_now(100, 1)[0], std::byte{0x11}) << "beyond the receive";
  }
}

// Outstanding requests fail, within the time that the options allow, when `end` has happened.
void check_ends_in_time(World& world, void (World::*end)()) {
  Pair pair(world);
  EXPECT_EQ(pair.status_of(pair.write(1, 0, 0, 64)), WorkStatus::success);
  pair.post_receive(9, 0, 100'000);
  if (world.works_by_itself()) {
    (world.*end)();  // before they are executed
  }
  pair.post(pair.send(2, 0, 100'000));
  pair.post(pair.write(3, 0, 0, 100'000));
  pair.post(pair.read(4, 0, 0, 64));
  if (!world.works_by_itself()) {
    (world.*end)();
  }
  const std::uint64_t begin_ns = world.runtime().now_ns();
  pair.wait_sends(4);
  const std::uint64_t span_ns = world.runtime().now_ns() - begin_ns;
  ASSERT_EQ(pair.near.sends.size(), 4u);
  EXPECT_EQ(pair.near.sends[1].id, 2u);
  EXPECT_EQ(pair.near.sends[1].status, WorkStatus::retry_exceeded);
  EXPECT_EQ(pair.near.sends[2].status, WorkStatus::flushed);
  EXPECT_EQ(pair.near.sends[3].status, WorkStatus::flushed);
  EXPECT_EQ(pair.near.qp->state(), QpState::error);
  const ConnectOptions options = world.connect_options();
  if (world.exact_time()) {
    EXPECT_LE(span_ns, (options.retry_count + 1u) * options.timeout_ns + 100'000);
  }
}

SENTENCE(F3, a_cut_wire_ends_what_is_outstanding) {
  check_ends_in_time(world, &World::cut_wire);
}

SENTENCE(F3, a_dead_peer_ends_what_is_outstanding) {
  check_ends_in_time(world, &World::kill_far);
}

SENTENCE(F4, after_a_failure_everything_queued_is_flushed_in_order) {
  Pair pair(world);
  for (std::uint64_t i = 0; i < 3; ++i) {
    pair.post_receive(10 + i, 0, 64);
  }
  const Sge piece = pair.near.buffers->piece(0, 64);
  for (std::uint64_t i = 0; i < 3; ++i) {
    const ReceiveWork receive{.id = 20 + i, .pieces = std::span(&piece, 1)};
    EXPECT_TRUE(pair.near.qp->post_receive(std::span(&receive, 1)).ok());
  }
  SendWork bad = pair.write(0, 0, 0, 64);
  bad.remote.key ^= 0x1234;
  bad.signalled = false;
  pair.post(bad);
  for (std::uint64_t i = 1; i < 6; ++i) {
    SendWork work = pair.write(i, 0, 0, 64);
    work.signalled = i % 2 == 0;
    pair.post(work);
  }
  pair.wait_sends(6);
  std::vector<WorkStatus> expected(6, WorkStatus::flushed);
  expected[0] = WorkStatus::remote_access_error;
  EXPECT_EQ(statuses_of(pair.near.sends), expected);
  EXPECT_EQ(ids_of(pair.near.sends), (std::vector<std::uint64_t>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(ids_of(pair.near.receives), (std::vector<std::uint64_t>{20, 21, 22}));
  pair.wait_receives(3);
  EXPECT_EQ(ids_of(pair.far.receives), (std::vector<std::uint64_t>{10, 11, 12}));
  // The one whose access was refused may be reported on the first; all others are flushed.
  EXPECT_EQ(pair.far.receives.back().status, WorkStatus::flushed);
  EXPECT_EQ(pair.far_now(0, 1)[0], std::byte{0});
}

SENTENCE(F5, what_is_posted_in_error_is_flushed_too) {
  Pair pair(world);
  pair.near.qp->fail();
  pair.far.qp->fail();
  EXPECT_EQ(pair.status_of(pair.write(1, 0, 0, 64)), WorkStatus::flushed);
  SendWork quiet = pair.write(2, 0, 0, 64);
  quiet.signalled = false;
  EXPECT_EQ(pair.status_of(quiet), WorkStatus::flushed);
  pair.post_receive(3, 0, 64);
  pair.wait_receives(1);
  EXPECT_EQ(statuses_of(pair.far.receives), std::vector<WorkStatus>{WorkStatus::flushed});
}

SENTENCE(F6, a_failed_write_stays_within_its_target_range) {
  Pair pair(world);
  constexpr std::size_t begin = 20'001;
  constexpr std::size_t size = 120'000;
  pair.fill(pair.far.memory->bytes(), std::byte{0x22});
  std::memset(pair.near_at(0), 0x33, size);
  pair.post(pair.write(1, 0, begin, size));
  // In the middle, where the wire lets anybody see one.
  (void)world.run_until([&] { return pair.far_now(begin, 1)[0] == std::byte{0x33}; });
  world.cut_wire();
  pair.wait_sends(1);
  const ConstBytes after = pair.far_now();
  for (std::size_t i = 0; i < after.size(); ++i) {
    const bool inside = i >= begin && i < begin + size;
    const std::byte got = after[i];
    ASSERT_TRUE(got == std::byte{0x22} || (inside && got == std::byte{0x33})) << i;
  }
}

}  // namespace
}  // namespace remora::fabric::contract
