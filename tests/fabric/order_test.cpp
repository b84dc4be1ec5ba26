// O1 to O6.
#include "tests/fabric/contract.h"

namespace remora::fabric::contract {
namespace {

SENTENCE(O1, requests_are_executed_in_the_order_posted) {
  Pair pair(world);
  constexpr std::uint64_t rounds = 32;
  for (std::uint64_t i = 0; i < rounds; ++i) {
    store(pair.near_at(i * 8), 1000 * i);
    pair.post(pair.write(2 * i, i * 8, 0, 8));
    pair.post(pair.fetch_add(2 * i + 1, 4096 + i * 8, 0, i + 1));
  }
  pair.wait_sends(2 * rounds);
  EXPECT_TRUE(all_succeeded(pair.near.sends));
  for (std::uint64_t i = 0; i < rounds; ++i) {
    EXPECT_EQ(load<std::uint64_t>(pair.near_at(4096 + i * 8)), 1000 * i) << i;
  }
  EXPECT_EQ(pair.far_word(0), 1000 * (rounds - 1) + rounds);
}

SENTENCE(O1, the_last_of_overlapping_writes_wins) {
  Pair pair(world);
  const std::size_t size = 3 * world.near().attributes().path_mtu_bytes / 2;
  const std::size_t one = std::min<std::size_t>(size, 32 * 1024);
  for (std::uint64_t i = 0; i < 6; ++i) {
    pair.fill_near(i * one, one, i);
    pair.post(pair.write(i, i * one, 64, one));
  }
  EXPECT_EQ(pair.status_of(pair.read(6, 200 * 1024, 64, one)), WorkStatus::success);
  pair.wait_sends(7);
  const std::vector<std::byte> last = Pair::pattern(one, 5);
  EXPECT_TRUE(std::equal(last.begin(), last.end(), pair.near_at(200 * 1024)));
}

SENTENCE(O2, completions_come_in_the_order_posted) {
  Pair pair(world);
  std::vector<std::uint64_t> posted;
  for (std::uint64_t i = 0; i < 5; ++i) {
    pair.post_receive(i, i * 1024, 1024);
  }
  for (std::uint64_t i = 0; i < 40; i += 8) {
    pair.post(pair.write(i, 0, 0, 10'000));
    pair.post(pair.read(i + 1, 64 * 1024, 0, 9'000));
    pair.post(pair.write(i + 2, 0, 16'384, 8));
    pair.post(pair.send(i + 3, 0, 700));
    pair.post(pair.fetch_add(i + 4, 128 * 1024, 32'768, 1));
    pair.post(pair.flush(i + 5, 0, 4096));
    pair.post(pair.atomic_write(i + 6, 32'776, i));
    pair.post(pair.read(i + 7, 64 * 1024, 0, 1));
  }
  pair.wait_sends(40);
  EXPECT_TRUE(all_succeeded(pair.near.sends));
  std::vector<std::uint64_t> expected(40);
  for (std::uint64_t i = 0; i < 40; ++i) {
    expected[i] = i;
  }
  EXPECT_EQ(ids_of(pair.near.sends), expected);
}

SENTENCE(O3, a_completion_vouches_for_the_unsignalled_before_it) {
  Pair pair(world);
  for (std::uint64_t i = 0; i < 20; ++i) {
    pair.fill_near(i * 512, 512, i);
    SendWork work = pair.write(i, i * 512, i * 1024, 512);
    work.signalled = false;
    pair.post(work);
  }
  pair.post(pair.flush(99, 0, 20 * 1024, FlushPlacement::visibility));
  pair.wait_sends(1);
  EXPECT_EQ(ids_of(pair.near.sends), std::vector<std::uint64_t>{99});
  EXPECT_TRUE(all_succeeded(pair.near.sends));
  for (std::uint64_t i = 0; i < 20; ++i) {
    EXPECT_TRUE(pair.far_holds(i * 1024, Pair::pattern(512, i))) << i;
  }
}

SENTENCE(O4, receives_are_consumed_in_order_one_for_each_message) {
  Pair pair(world);
  constexpr std::uint64_t count = 30;
  for (std::uint64_t i = 0; i < count; ++i) {
    pair.post_receive(100 + i, i * 8192, 8192);
  }
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::size_t size = 1 + (i * 271) % 6000;
    pair.fill_near(i * 8192, size, i);
    SendWork work = i % 3 == 2 ? pair.write(i, i * 8192, i * 8, 8) : pair.send(i, i * 8192, size);
    if (i % 3 != 0) {
      work.opcode = i % 3 == 2 ? Opcode::write_imm : Opcode::send_imm;
      work.immediate = static_cast<std::uint32_t>(7000 + i);
    }
    pair.post(work);
  }
  pair.wait_receives(count);
  ASSERT_EQ(pair.far.receives.size(), count);
  for (std::uint64_t i = 0; i < count; ++i) {
    const WorkCompletion& got = pair.far.receives[i];
    EXPECT_EQ(got.status, WorkStatus::success);
    EXPECT_EQ(got.id, 100 + i);
    EXPECT_EQ(got.opcode, i % 3 == 2 ? Opcode::receive_imm : Opcode::receive);
    EXPECT_EQ(got.has_immediate, i % 3 != 0);
    if (got.has_immediate) {
      EXPECT_EQ(got.immediate, 7000 + i);
    }
    if (i % 3 != 2) {
      const std::vector<std::byte> sent = Pair::pattern(1 + (i * 271) % 6000, i);
      EXPECT_EQ(got.size_bytes, sent.size());
      EXPECT_TRUE(pair.buffer_holds(i * 8192, sent)) << i;
    }
  }
}

SENTENCE(O5, a_fence_keeps_a_read_from_being_overtaken) {
  Pair pair(world);
  constexpr std::uint64_t rounds = 20;
  for (std::uint64_t i = 0; i < rounds; ++i) {
    store(pair.near_at(i * 8), i + 1);
    pair.post(pair.read(2 * i, 4096 + i * 8, 0, 8));
    SendWork work = pair.write(2 * i + 1, i * 8, 0, 8);
    work.fence = true;
    pair.post(work);
  }
  pair.wait_sends(2 * rounds);
  EXPECT_TRUE(all_succeeded(pair.near.sends));
  for (std::uint64_t i = 0; i < rounds; ++i) {
    EXPECT_EQ(load<std::uint64_t>(pair.near_at(4096 + i * 8)), i) << i;
  }
}

SENTENCE(O5, without_a_fence_completions_still_come_in_order) {
  Pair pair(world);
  for (std::uint64_t i = 0; i < 10; ++i) {
    pair.post(pair.read(2 * i, 64 * 1024, 0, 20'000));
    pair.post(pair.write(2 * i + 1, 0, 0, 8));
  }
  pair.wait_sends(20);
  const std::vector<std::uint64_t> ids = ids_of(pair.near.sends);
  EXPECT_TRUE(std::is_sorted(ids.begin(), ids.end()));
  EXPECT_TRUE(all_succeeded(pair.near.sends));
}

SENTENCE(O6, a_queue_pair_that_waits_holds_up_no_other) {
  Pair waiting(world);
  Pair other(world);
  waiting.post(waiting.send(1, 0, 8));  // no receive is posted
  other.fill_near(0, 5000, 1);
  EXPECT_EQ(other.status_of(other.write(2, 0, 0, 5000)), WorkStatus::success);
  EXPECT_EQ(other.status_of(other.read(3, 8192, 0, 5000)), WorkStatus::success);
  EXPECT_TRUE(std::equal(other.near_at(0), other.near_at(5000), other.near_at(8192)));
  waiting.post_receive(4, 0, 8);
  waiting.wait_sends(1);
  EXPECT_TRUE(all_succeeded(waiting.near.sends));
}

}  // namespace
}  // namespace remora::fabric::contract
