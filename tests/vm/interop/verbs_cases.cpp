// The interoperation list, first part: every verb, byte for byte.
#include "tests/vm/interop/case.h"

namespace remora::fabric::interop {
namespace {

// One packet and several, whole and broken, aligned and not.
constexpr std::size_t sizes[] = {1, 7, 64, 1023, 1024, 1025, 4096, 4097, 65'536};
constexpr std::size_t big_sizes[] = {1, 1025, 65'536, 1'000'003, 1 << 20};

constexpr std::size_t target = 4096 + 3;  // not aligned
constexpr std::uint32_t immediate = 0xfeed'0001;

class Verb : public InteropTest {};

TEST_F(Verb, send) {
  ASSERT_NO_FATAL_FAILURE(meet());
  for (const std::size_t size : sizes) {
    far().put(near(), target, std::vector<std::byte>(size + 64));
    far().post_receive(near(), size, target, size);
    fill_near(5, size, size);
    ASSERT_EQ(run(Opcode::send, 5, size, {}), WorkStatus::success) << size;
    const WorkCompletion got = far().completion(near());
    ASSERT_EQ(got.status, WorkStatus::success);
    EXPECT_EQ(got.id, size);
    EXPECT_EQ(got.opcode, Opcode::receive);
    EXPECT_EQ(got.size_bytes, size);
    EXPECT_FALSE(got.has_immediate);
    EXPECT_TRUE(far_has(target, pattern(size, size)));
  }
}

TEST_F(Verb, send_with_immediate) {
  ASSERT_NO_FATAL_FAILURE(meet());
  for (const std::size_t size : sizes) {
    far().put(near(), target, std::vector<std::byte>(size + 64));
    far().post_receive(near(), size, target, 65'536);
    fill_near(5, size, size);
    const Sge piece = near().region().piece(5, size);
    const SendWork work{.opcode = Opcode::send_imm,
                        .pieces = std::span(&piece, 1),
                        .immediate = immediate + static_cast<std::uint32_t>(size)};
    ASSERT_EQ(run(work).status, WorkStatus::success) << size;
    const WorkCompletion got = far().completion(near());
    ASSERT_EQ(got.status, WorkStatus::success);
    EXPECT_TRUE(got.has_immediate);
    EXPECT_EQ(got.immediate, immediate + size);
    EXPECT_EQ(got.size_bytes, size);
    EXPECT_TRUE(far_has(target, pattern(size, size)));
  }
}

TEST_F(Verb, write) {
  ASSERT_NO_FATAL_FAILURE(meet());
  for (const std::size_t size : big_sizes) {
    far().put(near(), target, std::vector<std::byte>(size));
    fill_near(5, size, size);
    ASSERT_EQ(run(Opcode::write, 5, size, far().at(target)), WorkStatus::success) << size;
    EXPECT_TRUE(far_has(target, pattern(size, size))) << size;
    far().put(near(), target, std::vector<std::byte>(size));
  }
}

TEST_F(Verb, write_with_immediate) {
  ASSERT_NO_FATAL_FAILURE(meet());
  for (const std::size_t size : sizes) {
    far().put(near(), target, std::vector<std::byte>(size + 64));
    far().post_receive(near(), size, 0, 0);
    fill_near(5, size, size);
    const Sge piece = near().region().piece(5, size);
    const SendWork work{.opcode = Opcode::write_imm,
                        .pieces = std::span(&piece, 1),
                        .remote = far().at(target),
                        .immediate = immediate + static_cast<std::uint32_t>(size)};
    ASSERT_EQ(run(work).status, WorkStatus::success) << size;
    const WorkCompletion got = far().completion(near());
    ASSERT_EQ(got.status, WorkStatus::success);
    EXPECT_EQ(got.opcode, Opcode::receive_imm);
    EXPECT_TRUE(got.has_immediate);
    EXPECT_EQ(got.immediate, immediate + size);
    EXPECT_TRUE(far_has(target, pattern(size, size)));
  }
}

TEST_F(Verb, read_up_to_1_MB) {
  ASSERT_NO_FATAL_FAILURE(meet());
  fill_far(target, mega, 9);
  for (const std::size_t size : big_sizes) {
    std::ranges::fill(near_bytes(0, mega + 64), std::byte{0});
    ASSERT_EQ(run(Opcode::read, 5, size, far().at(target)), WorkStatus::success) << size;
    EXPECT_TRUE(near_has(5, pattern(size, 9))) << size;
    EXPECT_TRUE(near_has(5 + size, std::vector<std::byte>(59))) << size;
  }
}

TEST_F(Verb, several_reads_at_once) {
  ASSERT_NO_FATAL_FAILURE(meet());
  constexpr std::size_t each = 20'000;
  constexpr std::size_t count = 24;  // more than may be in flight
  fill_far(0, each * count, 4);
  for (std::size_t i = 0; i < count; ++i) {
    const Sge piece = near().region().piece(i * each, each);
    post({.id = i,
          .opcode = Opcode::read,
          .pieces = std::span(&piece, 1),
          .remote = far().at(i * each)});
  }
  for (std::size_t i = 0; i < count; ++i) {
    const WorkCompletion completion = next();
    ASSERT_EQ(completion.status, WorkStatus::success);
    EXPECT_EQ(completion.id, i);
  }
  EXPECT_TRUE(near_has(0, pattern(each * count, 4)));
}

TEST_F(Verb, compare_and_swap) {
  ASSERT_NO_FATAL_FAILURE(meet());
  constexpr std::size_t word = 8192;
  const RemoteAddress there = far().at(word);
  EXPECT_EQ(atomic(Opcode::compare_swap, there, 0x1122'3344'5566'7788, 0), 0u);
  EXPECT_EQ(far_word(word), 0x1122'3344'5566'7788u);
  EXPECT_EQ(atomic(Opcode::compare_swap, there, 5, 4), 0x1122'3344'5566'7788u);  // not equal
  EXPECT_EQ(far_word(word), 0x1122'3344'5566'7788u);
  EXPECT_EQ(atomic(Opcode::compare_swap, there, 5, 0x1122'3344'5566'7788), 0x1122'3344'5566'7788u);
  EXPECT_TRUE(far_has(word, object_bytes(std::uint64_t{5})));
}

TEST_F(Verb, fetch_and_add) {
  ASSERT_NO_FATAL_FAILURE(meet());
  constexpr std::size_t word = 8192;
  std::uint64_t sum = 0;
  for (std::uint64_t i = 1; i <= 50; ++i) {
    const std::uint64_t summand = i * 0x0102'0304'0506'0708;
    EXPECT_EQ(atomic(Opcode::fetch_add, far().at(word), summand), sum);
    sum += summand;
  }
  EXPECT_TRUE(far_has(word, object_bytes(sum)));
}

TEST_F(Verb, atomic_write) {
  ASSERT_NO_FATAL_FAILURE(meet());
  if (!far_has_native("atomic write")) {
    GTEST_SKIP() << "far's device has no ATOMIC WRITE";
  }
  constexpr std::size_t word = 8192;
  for (std::uint64_t i = 1; i <= 10; ++i) {
    const std::uint64_t value = i * 0x0102'0304'0506'0708;
    const SendWork work{.opcode = Opcode::atomic_write, .remote = far().at(word), .operand = value};
    ASSERT_EQ(run(work).status, WorkStatus::success);
    EXPECT_TRUE(far_has(word, object_bytes(value)));
  }
}

class Flush : public InteropTest {
 protected:
  void flush_what_was_written(FlushPlacement placement, FlushSelect select) {
    if (!far_has_native("flush to visibility")) {
      GTEST_SKIP() << "far's device has no FLUSH";
    }
    for (const std::size_t size : big_sizes) {
      far().put(near(), target, std::vector<std::byte>(size));
      fill_near(5, size, size);
      const Sge piece = near().region().piece(5, size);
      post({.id = 1,
            .opcode = Opcode::write,
            .signalled = false,
            .pieces = std::span(&piece, 1),
            .remote = far().at(target)});
      const WorkCompletion completion = run({.id = 2,
                                             .opcode = Opcode::flush,
                                             .remote = far().at(target),
                                             .flush_bytes = static_cast<std::uint32_t>(size),
                                             .flush_placement = placement,
                                             .flush_select = select});
      ASSERT_EQ(completion.status, WorkStatus::success) << size;
      EXPECT_EQ(completion.id, 2u);
      EXPECT_TRUE(far_has(target, pattern(size, size))) << size;
      far().put(near(), target, std::vector<std::byte>(size));
    }
  }
};

TEST_F(Flush, to_visibility) {
  ASSERT_NO_FATAL_FAILURE(meet());
  flush_what_was_written(FlushPlacement::visibility, FlushSelect::range);
}

TEST_F(Flush, to_persistence) {
  ASSERT_NO_FATAL_FAILURE(meet());
  ASSERT_NE(far().access() & flush_persistence, 0u) << "far's memory is volatile; see --dax";
  flush_what_was_written(FlushPlacement::persistence, FlushSelect::range);
}

TEST_F(Flush, of_a_whole_region) {
  ASSERT_NO_FATAL_FAILURE(meet());
  flush_what_was_written(FlushPlacement::visibility, FlushSelect::region);
}

}  // namespace
}  // namespace remora::fabric::interop
