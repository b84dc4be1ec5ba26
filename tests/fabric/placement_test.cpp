// P1 to P8.
#include <algorithm>
#include <cstring>

#include "tests/fabric/contract.h"

namespace remora::fabric::contract {
namespace {

class P1_a_completion_of_a_write_is_receipt_and_no_more : public Contract {
 protected:
  void check(World& world) override {
    Pair pair(world);
    pair.fill_near(0, 3000, 1);
    const std::vector<std::byte> bytes = Pair::pattern(3000, 1);
    EXPECT_EQ(pair.status_of(pair.write(1, 0, 0, 3000)), WorkStatus::success);
    invisible_ += pair.far_holds(0, bytes) ? 0 : 1;
    perishable_ += world.survives(0, bytes) ? 0 : 1;
    EXPECT_TRUE(world.run_until([&] { return pair.far_holds(0, bytes); })) << "received, then lost";
    places_late_ = world.places_late();
    tells_ = world.tells_survival();
  }
  // What the completion does not say is sometimes not so.
  void check_all() override {
    if (tells_) {
      EXPECT_EQ(invisible_ != 0, places_late_);
      EXPECT_NE(perishable_, 0);
    }
  }

 private:
  int invisible_ = 0;
  int perishable_ = 0;
  bool places_late_ = false;
  bool tells_ = true;
};
TEST_P(P1_a_completion_of_a_write_is_receipt_and_no_more, holds) {
  run("P1");
}
INSTANTIATE_TEST_SUITE_P(Contract, P1_a_completion_of_a_write_is_receipt_and_no_more,
                         testing::ValuesIn(all_worlds()),
                         [](const auto& param) { return param.param.name; });

SENTENCE(P2, a_polled_receive_makes_itself_and_earlier_writes_visible) {
  Pair pair(world);
  for (std::uint64_t i = 0; i < 10; ++i) {
    pair.post_receive(i, i * 4096, 4096);
    pair.fill_near(0, 20'000, i);
    pair.fill_near(32'768, 900, 100 + i);
    pair.post(pair.write(3 * i, 0, 0, 20'000));
    pair.post(pair.write(3 * i + 1, 32'768, 40'000, 900));
    SendWork last =
        i % 2 == 0 ? pair.send(3 * i + 2, 32'768, 900) : pair.write(3 * i + 2, 32'768, 44'000, 900);
    if (i % 2 == 1) {
      last.opcode = Opcode::write_imm;
    }
    pair.post(last);
    pair.wait_receives(i + 1);
    const std::vector<std::byte> small = Pair::pattern(900, 100 + i);
    EXPECT_TRUE(pair.far_holds(0, Pair::pattern(20'000, i))) << i;
    EXPECT_TRUE(pair.far_holds(40'000, small)) << i;
    if (i % 2 == 0) {
      EXPECT_TRUE(pair.buffer_holds(i * 4096, small)) << i;
    } else {
      EXPECT_TRUE(pair.far_holds(44'000, small)) << i;
    }
    pair.wait_sends(3 * i + 3);
  }
}

SENTENCE(P3, a_read_or_atomic_sees_earlier_writes_of_its_queue_pair) {
  Pair pair(world);
  for (std::uint64_t i = 0; i < 10; ++i) {
    pair.fill_near(0, 12'000, i);
    store(pair.near_at(16'384), 500 + i);
    pair.post(pair.write(4 * i, 0, 100, 12'000));
    pair.post(pair.write(4 * i + 1, 16'384, 32'768, 8));
    pair.post(pair.fetch_add(4 * i + 2, 16'392, 32'768, 1));
    pair.post(pair.read(4 * i + 3, 65'536, 100, 12'000));
    pair.wait_sends(4 * i + 4);
    EXPECT_TRUE(all_succeeded(pair.near.sends));
    EXPECT_EQ(load<std::uint64_t>(pair.near_at(16'392)), 500 + i);
    EXPECT_TRUE(std::equal(pair.near_at(0), pair.near_at(12'000), pair.near_at(65'536))) << i;
  }
}

// Whether no byte of the last word, aligned, of [begin, end) is there before all the others are.
bool last_word_is_last(const std::byte* begin, const std::byte* end, std::byte mark) {
  const std::byte* const last = end - (reinterpret_cast<std::uintptr_t>(end - 1) % word_bytes + 1);
  return std::find(last, end, mark) == end ||
         std::all_of(begin, last, [&](std::byte byte) { return byte == mark; });
}

SENTENCE(P4, bytes_of_a_write_appear_in_the_order_that_the_device_promises) {
  Pair pair(world);
  constexpr std::size_t size = 30'000;
  const bool ascending = world.near().attributes().placement_order == PlacementOrder::ascending;
  const std::byte mark{0xaa};
  std::memset(pair.near_at(0), static_cast<int>(mark), size);
  pair.post(pair.write(1, 0, 3, size));
  std::size_t seen = 0;
  const bool all_seen = world.run_until([&] {
    const std::byte* const begin = pair.far_now(3, size).data();
    EXPECT_TRUE(last_word_is_last(begin, begin + size, mark));
    if (!ascending) {
      return begin[size - 1] == mark;
    }
    while (seen < size && begin[seen] == mark) {
      ++seen;
    }
    for (std::size_t i = seen; i < size; ++i) {
      EXPECT_NE(begin[i], mark) << "byte " << i << " appeared before byte " << seen;
      if (begin[i] == mark) {
        return true;
      }
    }
    return seen == size;
  });
  EXPECT_TRUE(all_seen);
  pair.wait_sends(1);
}

SENTENCE(P5, a_flush_to_visibility_makes_the_range_visible_to_everyone) {
  Pair pair(world);
  Pair other(world);
  pair.fill_near(0, 10'000, 5);
  pair.post(pair.write(1, 0, 4096, 10'000));
  pair.post(pair.flush(2, 4096, 10'000, FlushPlacement::visibility));
  pair.wait_sends(2);
  EXPECT_TRUE(all_succeeded(pair.near.sends));
  const std::vector<std::byte> bytes = Pair::pattern(10'000, 5);
  EXPECT_TRUE(pair.far_holds(4096, bytes));
  EXPECT_EQ(other.status_of(other.read(3, 0, 4096, 10'000)), WorkStatus::success);
  EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), other.near_at(0)));
}

SENTENCE(P6, a_flush_to_persistence_makes_the_range_persistent) {
  Pair pair(world);
  for (std::uint64_t i = 0; i < 8; ++i) {
    const std::size_t size = 1 + 1777 * i;
    const std::size_t offset = 16'384 * i + 5;
    pair.fill_near(0, size, i);
    pair.post(pair.write(2 * i, 0, offset, size));
    pair.post(pair.flush(2 * i + 1, offset, size));
    pair.wait_sends(2 * i + 2);
    EXPECT_TRUE(all_succeeded(pair.near.sends));
    EXPECT_TRUE(pair.far_holds(offset, Pair::pattern(size, i))) << i;
    EXPECT_TRUE(!world.tells_survival() || world.survives(offset, Pair::pattern(size, i))) << i;
  }
}

SENTENCE(P7, a_flush_of_a_whole_region_covers_all_that_was_written_there) {
  Pair pair(world);
  for (std::uint64_t i = 0; i < 10; ++i) {
    pair.fill_near(i * 1024, 1000, i);
    pair.post(pair.write(i, i * 1024, i * 20'000 + 9, 1000));
  }
  SendWork work = pair.flush(10, 0, 0);
  work.flush_select = FlushSelect::region;
  pair.post(work);
  pair.wait_sends(11);
  EXPECT_TRUE(all_succeeded(pair.near.sends));
  for (std::uint64_t i = 0; i < 10; ++i) {
    EXPECT_TRUE(pair.far_holds(i * 20'000 + 9, Pair::pattern(1000, i))) << i;
    EXPECT_TRUE(!world.tells_survival() || world.survives(i * 20'000 + 9, Pair::pattern(1000, i)))
        << i;
  }
}

SENTENCE(P8, nothing_outside_the_target_is_changed) {
  Pair pair(world);
  constexpr std::byte mark{0x5c};
  pair.fill(pair.far.memory->bytes(), mark);
  pair.fill(pair.far.buffers->bytes(), mark);
  std::vector<std::byte> far_expected(pair.far.memory->bytes().size(), mark);
  pair.fill_near(0, near_bytes, 9);
  std::vector<std::byte> near_expected(pair.near_at(0), pair.near_at(0) + near_bytes);

  std::uint64_t id = 0;
  for (const std::size_t size : {1u, 7u, 8u, 63u, 64u, 65u, 4095u, 4096u, 4097u, 12'289u}) {
    const std::size_t to = 13'001 + 16'001 * (id / 2 % 11);
    EXPECT_EQ(pair.status_of(pair.write(id++, 100, to, size)), WorkStatus::success);
    std::memcpy(far_expected.data() + to, near_expected.data() + 100, size);
    EXPECT_EQ(pair.status_of(pair.read(id++, 64'001, to, size)), WorkStatus::success);
    std::memcpy(near_expected.data() + 64'001, far_expected.data() + to, size);
  }
  pair.post_receive(id, 4001, 3000);
  EXPECT_EQ(pair.status_of(pair.send(id++, 0, 2999)), WorkStatus::success);
  pair.wait_receives(1);
  EXPECT_EQ(pair.status_of(pair.atomic_write(id++, 8, 77)), WorkStatus::success);
  store(far_expected.data() + 8, std::uint64_t{77});
  EXPECT_EQ(pair.status_of(pair.fetch_add(id++, 128'000, 8, 3)), WorkStatus::success);
  store(far_expected.data() + 8, std::uint64_t{80});
  store(near_expected.data() + 128'000, std::uint64_t{77});
  EXPECT_EQ(pair.status_of(pair.compare_swap(id++, 128'008, 8, 1, 2)), WorkStatus::success);
  store(near_expected.data() + 128'008, std::uint64_t{80});
  SendWork all = pair.flush(id++, 0, 0);
  all.flush_select = FlushSelect::region;
  EXPECT_EQ(pair.status_of(all), WorkStatus::success);

  EXPECT_TRUE(pair.far_holds(0, far_expected));
  EXPECT_TRUE(std::equal(near_expected.begin(), near_expected.end(), pair.near_at(0)));
  const auto untouched = [](std::byte byte) { return byte == mark; };
  const ConstBytes buffers = pair.buffer_now(0, buffer_bytes);
  EXPECT_TRUE(std::all_of(buffers.data(), buffers.data() + 4001, untouched));
  EXPECT_TRUE(std::all_of(buffers.data() + 4001 + 2999, buffers.data() + buffer_bytes, untouched));
}

}  // namespace
}  // namespace remora::fabric::contract
