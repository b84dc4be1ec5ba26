// A guard is asked for whatever a peer does, on every way through the responder.
#include <gtest/gtest.h>

#include <vector>

#include "fabric/nic/device/testing/two_nics.h"

namespace remora::fabric::nic {
namespace {

// Bytes from 1000 on are granted, up to 6000.
class FromThousand final : public Guard {
 public:
  bool allows(const RemoteAccess& access) override {
    ++asked;
    if (access.payload != nullptr) {
      last_payload = *access.payload;
    }
    return !closed && access.offset >= 1000 && access.offset + access.size_bytes <= 6000;
  }

  int asked = 0;
  bool closed = false;
  std::byte last_payload{};
};

class GuardTest : public testing::TestWithParam<bool> {
 protected:
  GuardTest() : nics_({.lossless = GetParam()}) {
    EXPECT_TRUE(nics_.b.region->guard_with(guard_));
    nics_.a.fill(0, 8192, 3);
  }
  WorkStatus end_of(Opcode opcode, std::size_t to, std::size_t size_bytes,
                    FlushSelect select = FlushSelect::range) {
    const Sge piece = nics_.a.piece(0, size_bytes);
    EXPECT_TRUE(nics_.a
                    .send({.opcode = opcode,
                           .pieces = std::span(&piece, 1),
                           .remote = nics_.b.remote(to),
                           .operand = 1,
                           .flush_bytes = static_cast<std::uint32_t>(size_bytes),
                           .flush_placement = FlushPlacement::visibility,
                           .flush_select = select})
                    .ok());
    nics_.run();
    const auto sent = nics_.a.sent();
    EXPECT_EQ(sent.size(), 1U);
    return sent.empty() ? WorkStatus::general_error : sent.back().status;
  }

  FromThousand guard_;
  TwoNics nics_;
};

INSTANTIATE_TEST_SUITE_P(wires, GuardTest, testing::Bool(), [](const auto& lossless) {
  return lossless.param ? "lossless" : "lossy";
});

constexpr Opcode guarded_words[] = {Opcode::compare_swap, Opcode::fetch_add, Opcode::atomic_write};

TEST_P(GuardTest, allows_what_was_granted) {
  for (const std::size_t size : {8U, 1024U, 5000U}) {
    EXPECT_EQ(end_of(Opcode::write, 1000, size), WorkStatus::success) << size;
    EXPECT_TRUE(std::ranges::equal(nics_.a.at(0, size), nics_.b.at(1000, size)));
    EXPECT_EQ(guard_.last_payload, nics_.a.at((size - 1) / 1024 * 1024, 1)[0]);
    EXPECT_EQ(end_of(Opcode::read, 1000, size), WorkStatus::success) << size;
    EXPECT_EQ(end_of(Opcode::flush, 1000, size), WorkStatus::success) << size;
  }
  for (const Opcode opcode : guarded_words) {
    EXPECT_EQ(end_of(opcode, 1000, 8), WorkStatus::success);
  }
  EXPECT_GT(guard_.asked, 0);
}

TEST_P(GuardTest, refuses_all_else_and_counts_it) {
  struct Attempt {
    Opcode opcode;
    std::size_t to;
    std::size_t size_bytes;
  };
  const std::vector<Attempt> attempts = {
      {Opcode::write, 992, 8},        {Opcode::write, 999, 100},    {Opcode::write, 5000, 1024},
      {Opcode::write, 1001, 5000},    {Opcode::read, 992, 8},       {Opcode::read, 1001, 5000},
      {Opcode::compare_swap, 992, 8}, {Opcode::fetch_add, 6000, 8}, {Opcode::atomic_write, 0, 8},
      {Opcode::flush, 900, 200},      {Opcode::flush, 5999, 2}};
  for (const Attempt& attempt : attempts) {
    FromThousand guard;
    TwoNics nics({.lossless = GetParam()});
    EXPECT_TRUE(nics.b.region->guard_with(guard));
    const Sge piece = nics.a.piece(0, attempt.size_bytes);
    nics.a.fill(0, 8192, 3);
    const std::vector<std::byte> was(nics.b.memory.begin(), nics.b.memory.end());
    EXPECT_TRUE(nics.a
                    .send({.opcode = attempt.opcode,
                           .pieces = std::span(&piece, 1),
                           .remote = nics.b.remote(attempt.to),
                           .operand = 1,
                           .flush_bytes = static_cast<std::uint32_t>(attempt.size_bytes),
                           .flush_placement = FlushPlacement::visibility})
                    .ok());
    nics.run();
    const auto sent = nics.a.sent();
    ASSERT_EQ(sent.size(), 1U);
    EXPECT_EQ(sent.back().status, WorkStatus::remote_access_error)
        << attempt.to << " " << attempt.size_bytes;
    EXPECT_TRUE(std::ranges::equal(nics.b.memory, was));
    EXPECT_EQ(nics.b.nic.counters().access_violations, 1U);
  }
}

TEST_P(GuardTest, a_flush_of_the_whole_region_needs_all_of_it) {
  EXPECT_EQ(end_of(Opcode::flush, 1000, 8, FlushSelect::region), WorkStatus::remote_access_error);
}

// A peer that had lost the answer would not have let the memory go: this is a packet that comes
// late.
TEST(LateRead, that_was_answered_before_is_dropped) {
  FromThousand guard;
  TwoNics nics;
  EXPECT_TRUE(nics.b.region->guard_with(guard));
  nics.b.wire.hold();  // its answers
  const Sge piece = nics.a.piece(0, 8);
  EXPECT_TRUE(nics.a
                  .send({.opcode = Opcode::read,
                         .pieces = std::span(&piece, 1),
                         .remote = nics.b.remote(1000)})
                  .ok());
  nics.run(50'000);
  guard.closed = true;  // after it was answered
  nics.run(120'000);    // it is asked for again
  EXPECT_GT(nics.a.nic.counters().retransmissions, 0U);
  EXPECT_EQ(nics.b.nic.counters().access_violations, 0U);
  EXPECT_EQ(nics.b.qp->state(), QpState::ready_to_send);
}

TEST(Nic, refuses_memory_past_the_caches_where_nobody_keeps_it) {
  TwoNics nics;
  std::vector<std::byte> bytes(64);
  EXPECT_EQ(nics.a.domain->register_memory(bytes, local_write | past_caches).code(),
            Code::unsupported);
  EXPECT_TRUE(nics.a.domain->register_memory(bytes, local_write).ok());
}

}  // namespace
}  // namespace remora::fabric::nic
