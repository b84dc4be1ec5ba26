// Equal requests on the mapped wire, one after another, which come to have a way of their own
// (window.h): nobody can tell by the result.
#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "tests/fabric/mapped_world.h"
#include "tests/fabric/pair.h"

namespace remora::fabric::contract {
namespace {

class MappedWindows : public testing::Test {
 protected:
  const std::unique_ptr<World> world_ = make_mapped_world(1, {});
};

TEST_F(MappedWindows, equal_requests_arrive_and_are_flushed_like_any) {
  Pair pair(*world_);
  std::uint64_t id = 0;
  for (std::size_t round = 0; round < 3; ++round) {
    for (std::size_t line = 0; line < 40; ++line) {
      const std::size_t offset = 64 * ((line * 7 + round) % 50);
      pair.fill_near(0, 64, id);
      const std::vector<std::byte> bytes = Pair::pattern(64, id);
      EXPECT_EQ(pair.status_of(pair.write(id++, 0, offset, 64)), WorkStatus::success);
      EXPECT_TRUE(pair.far_holds(offset, bytes));
      EXPECT_FALSE(world_->survives(offset, bytes)) << "nothing has flushed it";
      if (line % 3 == 0) {
        EXPECT_EQ(pair.status_of(pair.flush(id++, offset, 64)), WorkStatus::success);
        EXPECT_TRUE(world_->survives(offset, bytes));
      }
    }
  }
  for (std::size_t line = 0; line < 40; ++line) {
    const WorkCompletion completion = pair.finish(pair.read(id, 4096 + line, 64 * line, 64));
    EXPECT_EQ(completion.id, id++);
    EXPECT_EQ(completion.size_bytes, 64u);
    EXPECT_EQ(completion.opcode, Opcode::read);
    EXPECT_TRUE(same(pair.far_now(64 * line, 64), Bytes(pair.near_at(4096 + line), 64)));
  }
  EXPECT_EQ(short_cut(*world_), id);
}

TEST_F(MappedWindows, equal_requests_are_counted_and_reported_in_batches_too) {
  Pair pair(*world_);
  pair.fill_near(0, 64 * 32, 1);
  std::vector<SendWork> works;
  for (std::size_t i = 0; i < 32; ++i) {
    works.push_back(pair.write(i, 64 * i, 64 * (31 - i), 64));
  }
  for (std::size_t round = 1; round <= 4; ++round) {
    ASSERT_TRUE(pair.near.qp->post_send(works).ok());
    pair.wait_sends(32 * round);
  }
  EXPECT_TRUE(all_succeeded(pair.near.sends));
  EXPECT_EQ(pair.near.sends.back().id, 31u);
  for (std::size_t i = 0; i < 32; ++i) {
    EXPECT_TRUE(same(Bytes(pair.near_at(64 * i), 64), pair.far_now(64 * (31 - i), 64)));
  }
  EXPECT_EQ(short_cut(*world_), 128u);
}

TEST_F(MappedWindows, equal_requests_of_two_kinds_in_turn_are_reported_in_order) {
  Pair pair(*world_);
  std::uint64_t id = 0;
  for (int round = 0; round < 30; ++round) {
    // Alone, several before anybody polls, without a report, and with somebody who wants to be
    // told.
    const std::uint64_t first = id;
    const int posts = round % 3 + 1;
    const std::uint64_t events = pair.near.send_queue->event_count();
    if (round % 5 == 4) {
      pair.near.send_queue->arm(false);
    }
    for (int i = 0; i < posts; ++i) {
      const std::size_t line = 64 * static_cast<std::size_t>(round % 7);
      pair.fill_near(0, 64, id);
      pair.post(pair.write(id++, 0, line, 64));
      SendWork silent = pair.read(id++, 8192, line, 64);
      silent.signalled = false;
      pair.post(silent);
      EXPECT_TRUE(same(Bytes(pair.near_at(0), 64), Bytes(pair.near_at(8192), 64)));
      pair.post(pair.read(id++, 4096, line, 64));
      EXPECT_TRUE(same(Bytes(pair.near_at(0), 64), Bytes(pair.near_at(4096), 64)));
    }
    EXPECT_EQ(pair.near.send_queue->event_count(), events + (round % 5 == 4 ? 1 : 0));
    const std::size_t before = pair.near.sends.size();
    pair.wait_sends(before + 2 * static_cast<std::size_t>(posts));
    for (int i = 0; i < posts; ++i) {
      const std::size_t at = before + 2 * static_cast<std::size_t>(i);
      EXPECT_EQ(pair.near.sends[at].id, first + 3 * static_cast<std::uint64_t>(i));
      EXPECT_EQ(pair.near.sends[at].opcode, Opcode::write);
      EXPECT_EQ(pair.near.sends[at + 1].id, first + 3 * static_cast<std::uint64_t>(i) + 2);
      EXPECT_EQ(pair.near.sends[at + 1].opcode, Opcode::read);
      EXPECT_EQ(pair.near.sends[at + 1].size_bytes, 64u);
    }
  }
  EXPECT_TRUE(all_succeeded(pair.near.sends));
  EXPECT_EQ(short_cut(*world_), id);
}

// What is remembered as to be flushed, for equal requests: lines that are within it and lines that
// are not, each flushed afterwards.
TEST_F(MappedWindows, equal_writes_and_one_elsewhere) {
  for (const std::size_t offset : {32u, 40u, 64u, 128u, 192u, 4096u, 4104u}) {
    Pair pair(*world_);
    for (std::uint64_t i = 0; i < 12; ++i) {
      EXPECT_EQ(pair.status_of(pair.write(i, 0, 64 * (i % 3), 64)), WorkStatus::success);
    }
    pair.fill_near(0, 64, 7 + offset);
    const std::vector<std::byte> bytes = Pair::pattern(64, 7 + offset);
    EXPECT_EQ(pair.status_of(pair.write(20, 0, offset, 64)), WorkStatus::success);
    EXPECT_TRUE(pair.far_holds(offset, bytes));
    EXPECT_FALSE(world_->survives(offset, bytes));
    EXPECT_EQ(pair.status_of(pair.flush(21, offset, 64)), WorkStatus::success);
    EXPECT_TRUE(world_->survives(offset, bytes)) << offset;
  }
}

TEST_F(MappedWindows, a_line_that_is_written_again_after_its_flush_is_flushed_again) {
  Pair pair(*world_);
  for (std::uint64_t round = 0; round < 4; ++round) {
    pair.fill_near(0, 64, 100 + round);
    const std::vector<std::byte> bytes = Pair::pattern(64, 100 + round);
    for (std::uint64_t i = 0; i < (round == 0 ? 8u : 1u); ++i) {
      EXPECT_EQ(pair.status_of(pair.write(i, 0, 0, 64)), WorkStatus::success);
    }
    EXPECT_FALSE(world_->survives(0, bytes));
    EXPECT_EQ(pair.status_of(pair.flush(9, 0, 64)), WorkStatus::success);
    EXPECT_TRUE(world_->survives(0, bytes)) << round;
  }
}

TEST_F(MappedWindows, equal_requests_do_not_overtake_a_message) {
  for (const bool reads : {false, true}) {
    Pair pair(*world_);
    pair.post_receive(1, 4096, 64);
    for (std::uint64_t i = 0; i < 8; ++i) {
      const SendWork work = reads ? pair.read(i, 0, 64, 64) : pair.write(i, 0, 64, 64);
      EXPECT_EQ(pair.status_of(work), WorkStatus::success);
    }
    pair.fill_near(0, 64, 9);
    const std::uint64_t before = short_cut(*world_);
    SendWork message = pair.send(8, 0, 64);
    message.signalled = false;
    pair.post(message);
    pair.post(reads ? pair.read(9, 0, 64, 64) : pair.write(9, 0, 64, 64));
    EXPECT_EQ(short_cut(*world_), before) << "it overtook the message";
    pair.wait_receives(1);
    pair.wait_sends(9);
    EXPECT_EQ(pair.near.sends.back().id, 9u);
    EXPECT_EQ(pair.near.sends.back().status, WorkStatus::success);
  }
}

TEST_F(MappedWindows, a_request_that_differs_from_those_before_it_is_judged_by_itself) {
  const auto after_many = [&](const std::function<void(Pair&, SendWork&)>& change) {
    Pair pair(*world_);
    for (std::uint64_t i = 0; i < 8; ++i) {
      EXPECT_EQ(pair.status_of(pair.read(i, 0, 64 * i, 64)), WorkStatus::success);
    }
    SendWork work = pair.read(8, 0, 0, 64);
    change(pair, work);
    return pair.status_of(work);
  };
  const auto is_fine = [](Pair&, SendWork&) {};
  const auto is_not_aligned = [](Pair&, SendWork& work) { work.remote.address += 24; };
  const auto has_other_key = [](Pair&, SendWork& work) { work.remote.key ^= 0x100; };
  const auto is_behind = [](Pair& pair, SendWork& work) {
    work.remote.address += pair.far.memory->bytes().size();
  };
  const auto is_before = [](Pair&, SendWork& work) { work.remote.address -= 64; };
  const auto is_across_the_end = [](Pair& pair, SendWork& work) {
    work.remote.address += pair.far.memory->bytes().size() - 32;
  };
  const auto comes_to_nobodys_memory = [](Pair& pair, SendWork& work) {
    static Sge piece;
    piece = work.pieces[0];
    piece.address += pair.near.memory->bytes().size() - 32;
    work.pieces = std::span(&piece, 1);
  };
  const auto has_no_region = [](Pair& pair, SendWork&) { pair.near.memory.reset(); };
  EXPECT_EQ(after_many(is_fine), WorkStatus::success);
  EXPECT_EQ(after_many(is_not_aligned), WorkStatus::success);
  EXPECT_EQ(after_many(has_other_key), WorkStatus::remote_access_error);
  EXPECT_EQ(after_many(is_behind), WorkStatus::remote_access_error);
  EXPECT_EQ(after_many(is_before), WorkStatus::remote_access_error);
  EXPECT_EQ(after_many(is_across_the_end), WorkStatus::remote_access_error);
  EXPECT_EQ(after_many(comes_to_nobodys_memory), WorkStatus::local_protection_error);
  EXPECT_EQ(after_many(has_no_region), WorkStatus::local_protection_error);
}

TEST_F(MappedWindows, a_request_of_nothing_is_like_none_before_it) {
  Pair pair(*world_);
  static constexpr Sge nothing;
  for (SendWork work : {pair.read(0, 0, 0, 64), pair.write(1, 0, 0, 64)}) {
    work.pieces = std::span(&nothing, 1);
    work.remote = {};
    EXPECT_EQ(pair.status_of(work), WorkStatus::success);
  }
  EXPECT_EQ(short_cut(*world_), 0u) << "nobody but the responder judges it";
}

TEST_F(MappedWindows, equal_requests_end_with_the_rights) {
  Pair pair(*world_);
  for (std::uint64_t i = 0; i < 8; ++i) {
    EXPECT_EQ(pair.status_of(pair.write(i, 0, 64 * i, 64)), WorkStatus::success);
  }
  pair.far.qp->fail();
  EXPECT_TRUE(pair.far.qp->quiet());
  pair.fill_near(0, 64, 99);
  EXPECT_NE(pair.status_of(pair.write(8, 0, 0, 64)), WorkStatus::success);
  EXPECT_FALSE(pair.far_holds(0, Pair::pattern(64, 99)));
  EXPECT_EQ(short_cut(*world_), 8u);
}

}  // namespace
}  // namespace remora::fabric::contract
