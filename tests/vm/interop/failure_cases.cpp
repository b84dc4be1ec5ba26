// The interoperation list, second part: what is refused, what has to be repeated, what gets lost.
#include "tests/vm/interop/case.h"

namespace remora::fabric::interop {
namespace {

class Refusal : public InteropTest {
 protected:
  // Far's bytes are as they were, and the queue pair has failed.
  void expect_refused(Opcode opcode, RemoteAddress where, WorkStatus expected) {
    fill_far(0, 4096, 3);
    EXPECT_EQ(run(opcode, mega, word_bytes, where), expected) << to_string(opcode);
    EXPECT_TRUE(near().run_until([&] { return near().qp().state() == QpState::error; }));
    const std::vector<std::byte> bytes = far().get(near(), 0, 4096);
    EXPECT_EQ(bytes, pattern(4096, 3));
  }
};

TEST_F(Refusal, of_a_wrong_key_is_a_remote_access_error) {
  for (const Opcode opcode :
       {Opcode::write, Opcode::read, Opcode::compare_swap, Opcode::fetch_add}) {
    ASSERT_NO_FATAL_FAILURE(meet());
    RemoteAddress where = far().at(64);
    where.key ^= 0x5a5a;
    expect_refused(opcode, where, WorkStatus::remote_access_error);
  }
}

TEST_F(Refusal, of_a_place_behind_the_region_is_a_remote_access_error) {
  for (const Opcode opcode : {Opcode::write, Opcode::read, Opcode::compare_swap}) {
    ASSERT_NO_FATAL_FAILURE(meet());
    expect_refused(opcode, far().at(station_bytes), WorkStatus::remote_access_error);
  }
}

TEST_F(Refusal, of_an_atomic_between_words_is_a_remote_invalid_request) {
  for (const Opcode opcode : {Opcode::compare_swap, Opcode::fetch_add}) {
    ASSERT_NO_FATAL_FAILURE(meet());
    expect_refused(opcode, far().at(68), WorkStatus::remote_invalid_request);
  }
}

TEST_F(Refusal, of_a_message_longer_than_its_receive_is_a_remote_invalid_request) {
  ASSERT_NO_FATAL_FAILURE(meet());
  far().post_receive(near(), 7, 64, 100);
  fill_near(0, 101, 1);
  const WorkStatus status = run(Opcode::send, 0, 101, {});
  const WorkCompletion got = far().completion(near());
  if (far_is_rxe()) {
    // Linux's rxe answers with a NAK of another kind: remote operation error.
    EXPECT_TRUE(status == WorkStatus::remote_invalid_request ||
                status == WorkStatus::remote_operation_error)
        << to_string(status);
    EXPECT_NE(got.status, WorkStatus::success);
  } else {
    EXPECT_EQ(status, WorkStatus::remote_invalid_request) << to_string(status);
    EXPECT_EQ(got.status, WorkStatus::local_length_error) << to_string(got.status);
  }
  EXPECT_EQ(got.id, 7u);
}

class ReceiverNotReady : public InteropTest {};

TEST_F(ReceiverNotReady, is_retried_until_a_receive_is_posted) {
  ASSERT_NO_FATAL_FAILURE(meet({.rnr_retry = 7}));
  fill_near(0, 5000, 1);
  const Sge piece = near().region().piece(0, 5000);
  post({.id = 3, .pieces = std::span(&piece, 1)});
  // The servant's answers come by another way, and the SEND was refused meanwhile.
  (void)far().get(near(), 0, mega);
  WorkCompletion early;
  EXPECT_EQ(near().queue().poll(std::span(&early, 1)), 0u);
  far().post_receive(near(), 8, 4096, 5000);
  const WorkCompletion sent = next();
  EXPECT_EQ(sent.status, WorkStatus::success) << to_string(sent.status);
  EXPECT_EQ(sent.id, 3u);
  const WorkCompletion got = far().completion(near());
  EXPECT_EQ(got.status, WorkStatus::success);
  EXPECT_EQ(got.id, 8u);
  EXPECT_TRUE(far_has(4096, pattern(5000, 1)));
}

TEST_F(ReceiverNotReady, is_an_error_when_the_retries_are_used_up) {
  ASSERT_NO_FATAL_FAILURE(meet({.rnr_retry = 2}));
  fill_near(0, 64, 1);
  EXPECT_EQ(run(Opcode::send, 0, 64, {}), WorkStatus::rnr_retry_exceeded);
  EXPECT_TRUE(near().run_until([&] { return near().qp().state() == QpState::error; }));
}

class Loss : public InteropTest {
 protected:
  // So many of a million packets that come to a software RNIC are thrown away.
  static constexpr Terms lossy(std::uint64_t seed, std::uint32_t loss_ppm = 40'000) {
    return {.loss_ppm = loss_ppm, .loss_seed = seed, .timeout_ns = 60'000'000};
  }
  // A case calls this first; it may find that there is nothing to test.
  void begin(const Terms& terms) {
    ASSERT_NO_FATAL_FAILURE(meet(terms));
    if (near_is_rxe() && far_is_rxe()) {
      GTEST_SKIP() << "neither end loses packets on purpose";
    }
  }
  std::uint64_t lost() { return near().lost() + far().lost(near()); }
};

TEST_F(Loss, of_packets_leaves_writes_and_reads_whole) {
  constexpr std::size_t size = 300'000;
  ASSERT_NO_FATAL_FAILURE(begin(lossy(11, 10'000)));
  if (IsSkipped()) {
    return;
  }
  for (std::uint64_t round = 0; round < 2; ++round) {
    fill_near(0, size, round);
    std::ranges::fill(near_bytes(mega, size), std::byte{0});
    ASSERT_EQ(run(Opcode::write, 0, size, far().at(4096)), WorkStatus::success);
    EXPECT_TRUE(far_has(4096, pattern(size, round)));
    ASSERT_EQ(run(Opcode::read, mega, size, far().at(4096)), WorkStatus::success);
    EXPECT_TRUE(near_has(mega, pattern(size, round)));
  }
  EXPECT_GT(lost(), 0u);
}

TEST_F(Loss, of_packets_executes_every_atomic_once) {
  ASSERT_NO_FATAL_FAILURE(begin(lossy(12)));
  if (IsSkipped()) {
    return;
  }
  for (std::uint64_t i = 0; i < 150; ++i) {
    ASSERT_EQ(atomic(Opcode::fetch_add, far().at(8192), 3), 3 * i);
  }
  EXPECT_EQ(far_word(8192), 450u);
  EXPECT_GT(lost(), 0u);
}

TEST_F(Loss, of_packets_delivers_every_message_once_and_in_order) {
  ASSERT_NO_FATAL_FAILURE(begin(lossy(13)));
  if (IsSkipped()) {
    return;
  }
  constexpr std::size_t each = 3000;
  for (std::uint64_t i = 0; i < 60; ++i) {
    far().post_receive(near(), i, i * each, each);
  }
  fill_near(0, 60 * each, 6);
  for (std::uint64_t i = 0; i < 60; ++i) {
    const Sge piece = near().region().piece(i * each, each);
    post({.id = i,
          .opcode = Opcode::send_imm,
          .pieces = std::span(&piece, 1),
          .immediate = static_cast<std::uint32_t>(i)});
  }
  for (std::uint64_t i = 0; i < 60; ++i) {
    const WorkCompletion sent = next();
    ASSERT_EQ(sent.status, WorkStatus::success) << to_string(sent.status);
    EXPECT_EQ(sent.id, i);
    const WorkCompletion got = far().completion(near());
    ASSERT_EQ(got.status, WorkStatus::success) << to_string(got.status);
    EXPECT_EQ(got.id, i);
    EXPECT_EQ(got.immediate, i);
  }
  EXPECT_TRUE(far_has(0, pattern(60 * each, 6)));
  EXPECT_GT(lost(), 0u);
}

TEST_F(Loss, of_packets_repeats_atomic_writes) {
  ASSERT_NO_FATAL_FAILURE(begin(lossy(14)));
  if (IsSkipped()) {
    return;
  }
  if (!far_has_native("atomic write")) {
    GTEST_SKIP() << "far's device has no ATOMIC WRITE";
  }
  if (near_is_rxe()) {
    GTEST_SKIP() << "Linux's rxe (6.12) repeats an ATOMIC WRITE with address 0, which is refused";
  }
  for (std::uint64_t i = 1; i <= 60; ++i) {
    const SendWork word{.opcode = Opcode::atomic_write, .remote = far().at(8192), .operand = i};
    ASSERT_EQ(run(word).status, WorkStatus::success);
    ASSERT_EQ(far_word(8192), i);
  }
  EXPECT_GT(lost(), 0u);
}

TEST_F(Loss, of_packets_repeats_flushes) {
  ASSERT_NO_FATAL_FAILURE(begin(lossy(15)));
  if (IsSkipped()) {
    return;
  }
  if (far_is_rxe()) {
    GTEST_SKIP() << "Linux's rxe (6.12) forgets the number of a FLUSH, and answers none twice";
  }
  if (near_is_rxe()) {
    GTEST_SKIP() << "Linux's rxe (6.12) repeats a FLUSH with address 0, which is refused";
  }
  for (std::uint64_t i = 1; i <= 60; ++i) {
    fill_near(0, 3000, i);
    const Sge piece = near().region().piece(0, 3000);
    post({.opcode = Opcode::write,
          .signalled = false,
          .pieces = std::span(&piece, 1),
          .remote = far().at(8192)});
    const SendWork flush{.opcode = Opcode::flush,
                         .remote = far().at(8192),
                         .flush_bytes = 3000,
                         .flush_placement = FlushPlacement::visibility};
    ASSERT_EQ(run(flush).status, WorkStatus::success);
    ASSERT_TRUE(far_has(8192, pattern(3000, i)));
  }
  EXPECT_GT(lost(), 0u);
}

}  // namespace
}  // namespace remora::fabric::interop
