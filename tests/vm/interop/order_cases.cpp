// The interoperation list, third part: the order of things, local pieces, and what becomes of a
// queue pair that has failed. Each case is named with the sentence of the fabric contract that it
// is of.
#include "tests/vm/interop/case.h"

namespace remora::fabric::interop {
namespace {

class Ordering : public InteropTest {
 protected:
  void post_write(std::uint64_t id, std::size_t from, std::size_t to, std::size_t size,
                  bool signalled = true) {
    const Sge piece = near().region().piece(from, size);
    post({.id = id,
          .opcode = Opcode::write,
          .signalled = signalled,
          .pieces = std::span(&piece, 1),
          .remote = far().at(to)});
  }
  void post_read(std::uint64_t id, std::size_t to, std::size_t from, std::size_t size) {
    const Sge piece = near().region().piece(to, size);
    post({.id = id,
          .opcode = Opcode::read,
          .pieces = std::span(&piece, 1),
          .remote = far().at(from)});
  }
  void expect_next(std::uint64_t id, WorkStatus status = WorkStatus::success) {
    const WorkCompletion completion = next();
    EXPECT_EQ(completion.id, id);
    EXPECT_EQ(completion.status, status) << id << ": " << to_string(completion.status);
  }
  // No completion that nobody asked for; the servant's answer took its time meanwhile.
  void expect_no_more() {
    (void)far().get(near(), 0, 1);
    WorkCompletion completion;
    EXPECT_EQ(near().queue().poll(std::span(&completion, 1)), 0u);
  }
};

// Each overwrites a part of those before it.
TEST_F(Ordering, O1_O2_writes_are_executed_and_completed_in_the_order_posted) {
  constexpr std::size_t size = 3000;
  constexpr std::size_t step = 700;
  constexpr std::size_t count = 24;
  ASSERT_NO_FATAL_FAILURE(meet());
  std::vector<std::byte> wanted(step * count + size);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t at = (i * 5 % count) * step;
    fill_near(i * size, size, i);
    post_write(i, i * size, 4096 + at, size);
    std::ranges::copy(pattern(size, i), wanted.begin() + static_cast<std::ptrdiff_t>(at));
  }
  for (std::size_t i = 0; i < count; ++i) {
    expect_next(i);
  }
  EXPECT_EQ(far().get(near(), 4096, wanted.size()), wanted);
}

TEST_F(Ordering, O2_completions_of_every_kind_come_in_the_order_posted) {
  ASSERT_NO_FATAL_FAILURE(meet());
  fill_near(0, 20'000, 1);
  for (std::uint64_t round = 0; round < 3; ++round) {
    far().post_receive(near(), round, 2 * mega, 64);
    const std::uint64_t id = 10 * round;
    post_read(id, mega, 0, 20'000);
    post_write(id + 1, 0, mega, 20'000);
    const Sge word = near().region().piece(3 * mega, word_bytes);
    post({.id = id + 2,
          .opcode = Opcode::fetch_add,
          .pieces = std::span(&word, 1),
          .remote = far().at(3 * mega),
          .operand = 1});
    const Sge message = near().region().piece(0, 64);
    post({.id = id + 3, .opcode = Opcode::send, .pieces = std::span(&message, 1)});
    post_write(id + 4, 0, mega, 8);
  }
  for (std::uint64_t round = 0; round < 3; ++round) {
    for (std::uint64_t i = 0; i < 5; ++i) {
      expect_next(10 * round + i);
    }
    EXPECT_EQ(far().completion(near()).id, round);  // O4
  }
  EXPECT_EQ(far_word(3 * mega), 3u);
}

TEST_F(Ordering, O3_a_completion_vouches_for_the_unsignalled_before_it) {
  constexpr std::size_t size = 5000;
  constexpr std::size_t count = 15;
  ASSERT_NO_FATAL_FAILURE(meet());
  fill_near(0, size * count, 7);
  for (std::size_t i = 0; i < count; ++i) {
    post_write(i, i * size, 4096 + i * size, size, i + 1 == count);
  }
  expect_next(count - 1);
  EXPECT_TRUE(far_has(4096, pattern(size * count, 7)));
  expect_no_more();
}

TEST_F(Ordering, O5_a_fence_keeps_a_read_from_being_overtaken) {
  constexpr std::size_t size = 100'000;
  ASSERT_NO_FATAL_FAILURE(meet());
  fill_far(4096, size, 0);
  for (std::uint64_t i = 0; i < 3; ++i) {
    fill_near(0, size, i + 1);
    post_read(2 * i, mega, 4096, size);
    const Sge piece = near().region().piece(0, size);
    post({.id = 2 * i + 1,
          .opcode = Opcode::write,
          .fence = true,
          .pieces = std::span(&piece, 1),
          .remote = far().at(4096)});
    expect_next(2 * i);
    expect_next(2 * i + 1);
    EXPECT_TRUE(near_has(mega, pattern(size, i))) << i;
  }
}

class LocalPiece : public Ordering {};

TEST_F(LocalPiece, R2_that_is_wrong_fails_before_anything_is_sent) {
  for (int which = 0; which < 3; ++which) {
    ASSERT_NO_FATAL_FAILURE(meet());
    fill_near(0, 64, 1);
    Sge piece = near().region().piece(0, 64);
    if (which == 0) {
      piece.key ^= 0x77;
    } else {
      piece.address += which == 1 ? static_cast<std::ptrdiff_t>(station_bytes) - 63 : -1;
    }
    const WorkCompletion completion = run({.id = 4,
                                           .opcode = Opcode::write,
                                           .pieces = std::span(&piece, 1),
                                           .remote = far().at(4096)});
    EXPECT_EQ(completion.status, WorkStatus::local_protection_error)
        << which << ": " << to_string(completion.status);
    EXPECT_TRUE(far_has(4096, std::vector<std::byte>(64))) << which;
  }
}

TEST_F(LocalPiece, R3_far_keys_of_a_destroyed_region_are_worth_nothing) {
  ASSERT_NO_FATAL_FAILURE(meet());
  fill_near(0, 64, 1);
  EXPECT_EQ(run(Opcode::write, 0, 64, far().at(4096)), WorkStatus::success);
  far().forget_region(near());
  EXPECT_EQ(run(Opcode::write, 0, 64, far().at(8192)), WorkStatus::remote_access_error);
  EXPECT_TRUE(far_has(4096, pattern(64, 1)));
  EXPECT_TRUE(far_has(8192, std::vector<std::byte>(64)));
}

class Failed : public Ordering {
 protected:
  void post_receive(std::uint64_t id) {
    const Sge piece = near().region().piece(2 * mega, 64);
    const ReceiveWork work{.id = id, .pieces = std::span(&piece, 1)};
    ASSERT_TRUE(near().qp().post_receive(std::span(&work, 1)).ok());
  }
};

// One completion queue serves both queues of the queue pair, and says nothing of the order between
// them.
TEST_F(Failed, F4_everything_queued_is_flushed_in_order_on_both_sides) {
  ASSERT_NO_FATAL_FAILURE(meet());
  for (std::uint64_t i = 0; i < 3; ++i) {
    far().post_receive(near(), 10 + i, 2 * mega, 64);
    post_receive(20 + i);
  }
  fill_near(0, 64, 1);
  const Sge piece = near().region().piece(0, 64);
  RemoteAddress wrong = far().at(4096);
  wrong.key ^= 0x1234;
  post({.id = 0,
        .opcode = Opcode::write,
        .signalled = false,
        .pieces = std::span(&piece, 1),
        .remote = wrong});
  for (std::uint64_t i = 1; i < 6; ++i) {
    post_write(i, 0, 4096, 64, i % 2 == 0);
  }
  std::vector<std::uint64_t> sends;
  std::vector<std::uint64_t> receives;
  for (int i = 0; i < 9; ++i) {
    const WorkCompletion completion = next();
    const WorkStatus wanted =
        completion.id == 0 ? WorkStatus::remote_access_error : WorkStatus::flushed;
    EXPECT_EQ(completion.status, wanted) << completion.id << ": " << to_string(completion.status);
    (completion.id < 10 ? sends : receives).push_back(completion.id);
  }
  EXPECT_EQ(sends, (std::vector<std::uint64_t>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(receives, (std::vector<std::uint64_t>{20, 21, 22}));
  for (std::uint64_t i = 0; i < 3; ++i) {
    const WorkCompletion far_end = far().completion(near());
    EXPECT_EQ(far_end.id, 10 + i);
    EXPECT_NE(far_end.status, WorkStatus::success);
  }
  EXPECT_TRUE(far_has(4096, std::vector<std::byte>(64)));
}

TEST_F(Failed, F5_what_is_posted_afterwards_is_flushed_too) {
  ASSERT_NO_FATAL_FAILURE(meet());
  fill_near(0, 64, 1);
  near().qp().fail();
  post_write(1, 0, 4096, 64);
  expect_next(1, WorkStatus::flushed);
  post_write(2, 0, 4096, 64, false);
  expect_next(2, WorkStatus::flushed);
  post_receive(3);
  expect_next(3, WorkStatus::flushed);
  EXPECT_TRUE(far_has(4096, std::vector<std::byte>(64)));
}

}  // namespace
}  // namespace remora::fabric::interop
