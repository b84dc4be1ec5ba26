// Memory that lies in parts, and that is not there at every moment (Translation): requests are late
// for it, and are executed once, in order.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "fabric/nic/device/testing/two_nics.h"

namespace remora::fabric::nic {
namespace {

constexpr std::size_t room_bytes = 16 << 10;
constexpr std::size_t extent_bytes = 96;  // no packet's size divides by it

// The bytes of a region in extents, the last one first; each is fetched when it is first asked for,
// and every so often is gone again.
class Extents final : public Translation {
 public:
  Located locate(std::uint64_t offset, std::uint64_t size_bytes, AccessFlags) override {
    if (offset < refused_before_) {
      return {Whereabouts::refused};
    }
    if (late_ != 0 && offset >= late_from_) {
      --late_;
      return {Whereabouts::not_now};
    }
    if (seldom_.chance(often_late_percent_, 100)) {
      return {Whereabouts::not_now};
    }
    const std::uint64_t extent = offset / extent_bytes;
    const std::uint64_t into = offset % extent_bytes;
    return {Whereabouts::there,
            Bytes(store_).subspan(store_.size() - (extent + 1) * extent_bytes + into,
                                  std::min({size_bytes, extent_bytes - into, part_bytes_}))};
  }

  // The next accesses from this offset on are late, so many of them.
  void be_late(std::uint32_t times, std::uint64_t from = 0) {
    late_ = times;
    late_from_ = from;
  }
  void be_late_often(std::uint32_t percent) { often_late_percent_ = percent; }
  void be_scattered(std::uint64_t part_bytes) { part_bytes_ = part_bytes; }
  void refuse_before(std::uint64_t offset) { refused_before_ = offset; }

  void put(std::uint64_t offset, ConstBytes bytes) {
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      *at(offset + i) = bytes[i];
    }
  }
  std::vector<std::byte> get(std::uint64_t offset, std::size_t size_bytes) {
    std::vector<std::byte> bytes(size_bytes);
    for (std::size_t i = 0; i < size_bytes; ++i) {
      bytes[i] = *at(offset + i);
    }
    return bytes;
  }
  std::uint64_t word(std::uint64_t offset) {
    return load<std::uint64_t>(get(offset, word_bytes).data());
  }

 private:
  std::byte* at(std::uint64_t offset) {
    return store_.data() + store_.size() - (offset / extent_bytes + 1) * extent_bytes +
           offset % extent_bytes;
  }

  std::vector<std::byte> store_ =
      std::vector<std::byte>((room_bytes / extent_bytes + 1) * extent_bytes);
  std::uint32_t late_ = 0;
  std::uint64_t late_from_ = 0;
  std::uint32_t often_late_percent_ = 0;
  std::uint64_t refused_before_ = 0;
  std::uint64_t part_bytes_ = extent_bytes;
  Random seldom_{3};
};

std::vector<std::byte> pattern(std::size_t size_bytes, std::uint8_t first) {
  std::vector<std::byte> bytes(size_bytes);
  for (std::size_t i = 0; i < size_bytes; ++i) {
    bytes[i] = static_cast<std::byte>(first + i * 11);
  }
  return bytes;
}

// Side b has such a region, and so has side a. The parameter is whether the wire loses nothing.
class NotNow : public testing::TestWithParam<bool> {
 protected:
  static std::unique_ptr<MemoryRegion> make(Side& side, Bytes names, Extents& extents) {
    auto region = side.register_memory(names, every_access & ~flush_persistence);
    EXPECT_TRUE(region->translate_with(extents));
    return region;
  }

  // Posts one request and waits for its completion.
  WorkCompletion run(SendWork work, Sge piece = {}) {
    if (piece.size_bytes != 0) {
      work.pieces = {&piece, 1};
    }
    EXPECT_TRUE(nics_.a.send(work).ok());
    nics_.run();
    const std::vector<WorkCompletion> all = nics_.a.sent();
    EXPECT_EQ(all.size(), 1u);
    return all.empty() ? WorkCompletion{.status = WorkStatus::general_error} : all.front();
  }
  WorkStatus write(std::size_t size_bytes, std::uint64_t offset, std::uint8_t first) {
    const std::vector<std::byte> bytes = pattern(size_bytes, first);
    std::ranges::copy(bytes, nics_.a.memory.begin());
    return run({.opcode = Opcode::write, .remote = far_->remote(offset)},
               nics_.a.piece(0, size_bytes))
        .status;
  }
  WorkStatus read(std::size_t size_bytes, std::uint64_t offset) {
    return run({.opcode = Opcode::read, .remote = far_->remote(offset)},
               nics_.a.piece(0, size_bytes))
        .status;
  }
  WorkStatus add(std::uint64_t offset, std::uint64_t summand) {
    return run({.opcode = Opcode::fetch_add, .remote = far_->remote(offset), .operand = summand},
               nics_.a.piece(0, word_bytes))
        .status;
  }
  std::vector<std::byte> near(std::size_t size_bytes) const {
    return {nics_.a.memory.begin(),
            nics_.a.memory.begin() + static_cast<std::ptrdiff_t>(size_bytes)};
  }
  std::uint64_t told_to_wait() const { return nics_.b.nic.counters().rnr_naks_sent; }

  TwoNics nics_{{.lossless = GetParam()}};
  Extents far_extents_;
  Extents near_extents_;
  std::vector<std::byte> far_names_ = std::vector<std::byte>(room_bytes);
  std::vector<std::byte> near_names_ = std::vector<std::byte>(room_bytes);
  std::unique_ptr<MemoryRegion> far_ = make(nics_.b, far_names_, far_extents_);
  std::unique_ptr<MemoryRegion> near_ = make(nics_.a, near_names_, near_extents_);
};

TEST_P(NotNow, a_packet_may_lie_in_parts) {
  EXPECT_EQ(write(300, 40, 1), WorkStatus::success);
  EXPECT_EQ(far_extents_.get(40, 300), pattern(300, 1));
  far_extents_.put(5000, pattern(3000, 7));
  EXPECT_EQ(read(3000, 5000), WorkStatus::success);
  EXPECT_EQ(near(3000), pattern(3000, 7));
  EXPECT_EQ(told_to_wait(), 0u);
  EXPECT_EQ(far_names_, std::vector<std::byte>(room_bytes)) << "its addresses are names alone";
}

TEST_P(NotNow, a_write_comes_again) {
  far_extents_.be_late(3);
  EXPECT_EQ(write(200, 80, 5), WorkStatus::success);
  EXPECT_EQ(far_extents_.get(80, 200), pattern(200, 5));
  EXPECT_EQ(told_to_wait(), 3u);
}

TEST_P(NotNow, a_large_write_goes_on_from_the_packet_that_was_late) {
  std::vector<PacketSequence> told;
  nics_.b.wire.choose([&](const Packet& packet) {
    if ((packet.syndrome & 0xe0) == syndrome_rnr) {
      told.push_back(packet.sequence);
    }
    return Fate{0};
  });
  const PacketSequence third = psn_add(nics_.a.qp->address().first_packet, 2);
  far_extents_.be_late(2, 2500);
  EXPECT_EQ(write(5000, 100, 9), WorkStatus::success);
  EXPECT_EQ(far_extents_.get(100, 5000), pattern(5000, 9));
  EXPECT_EQ(told, (std::vector<PacketSequence>{third, third}));
}

TEST_P(NotNow, a_read_comes_again) {
  far_extents_.put(64, pattern(700, 3));
  far_extents_.be_late(2);
  EXPECT_EQ(read(700, 64), WorkStatus::success);
  EXPECT_EQ(near(700), pattern(700, 3));
  EXPECT_EQ(told_to_wait(), 2u);
}

TEST_P(NotNow, a_large_read_goes_on_from_the_packet_that_was_late) {
  far_extents_.put(0, pattern(6000, 2));
  far_extents_.be_late(2, 2500);
  EXPECT_EQ(read(6000, 0), WorkStatus::success);
  EXPECT_EQ(near(6000), pattern(6000, 2));
  EXPECT_EQ(told_to_wait(), 2u);
}

TEST_P(NotNow, an_atomic_is_executed_once) {
  far_extents_.put(96, pattern(8, 0));
  const std::uint64_t before = far_extents_.word(96);
  far_extents_.be_late(4);
  EXPECT_EQ(add(96, 5), WorkStatus::success);
  EXPECT_EQ(far_extents_.word(96), before + 5);
  EXPECT_EQ(nics_.a.word(0), before);
  EXPECT_EQ(told_to_wait(), 4u);
}

TEST_P(NotNow, an_atomic_write_and_a_flush_come_again) {
  far_extents_.be_late(2);
  EXPECT_EQ(run({.opcode = Opcode::atomic_write, .remote = far_->remote(8), .operand = 77}).status,
            WorkStatus::success);
  EXPECT_EQ(far_extents_.word(8), 77u);
  far_extents_.be_late(2);
  EXPECT_EQ(run({.opcode = Opcode::flush,
                 .remote = far_->remote(0),
                 .flush_bytes = 500,
                 .flush_placement = FlushPlacement::visibility})
                .status,
            WorkStatus::success);
  EXPECT_EQ(told_to_wait(), 4u);
}

TEST_P(NotNow, a_send_waits_for_its_receive_to_be_there) {
  const Sge into = far_->piece(30, 400);
  ASSERT_TRUE(nics_.b.receive(1, {into}).ok());
  far_extents_.be_late(3);
  const std::vector<std::byte> bytes = pattern(400, 4);
  std::ranges::copy(bytes, nics_.a.memory.begin());
  EXPECT_EQ(run({.opcode = Opcode::send}, nics_.a.piece(0, 400)).status, WorkStatus::success);
  EXPECT_EQ(far_extents_.get(30, 400), bytes);
  ASSERT_EQ(nics_.b.received().size(), 1u);
  EXPECT_EQ(told_to_wait(), 3u);
}

TEST_P(NotNow, the_initiators_own_memory_may_be_late) {
  near_extents_.put(10, pattern(2500, 6));
  near_extents_.be_late(3);
  EXPECT_EQ(
      run({.opcode = Opcode::write, .remote = far_->remote(0)}, near_->piece(10, 2500)).status,
      WorkStatus::success);
  EXPECT_EQ(far_extents_.get(0, 2500), pattern(2500, 6));
  near_extents_.be_late(3);
  EXPECT_EQ(
      run({.opcode = Opcode::read, .remote = far_->remote(0)}, near_->piece(5000, 2500)).status,
      WorkStatus::success);
  EXPECT_EQ(near_extents_.get(5000, 2500), pattern(2500, 6));
  near_extents_.be_late(3);
  const std::uint64_t before = far_extents_.word(0);
  EXPECT_EQ(run({.opcode = Opcode::fetch_add, .remote = far_->remote(0), .operand = 1},
                near_->piece(48, word_bytes))
                .status,
            WorkStatus::success);
  EXPECT_EQ(far_extents_.word(0), before + 1);
  EXPECT_EQ(near_extents_.word(48), before);
}

TEST_P(NotNow, what_follows_waits_too) {
  far_extents_.be_late(3);
  nics_.a.fill(0, 64, 1);
  nics_.a.fill(64, 64, 2);
  const Sge first = nics_.a.piece(0, 64);
  const Sge second = nics_.a.piece(64, 64);
  const Sge back = nics_.a.piece(128, 64);
  const std::array works = {
      SendWork{.id = 1, .opcode = Opcode::write, .pieces = {&first, 1}, .remote = far_->remote(0)},
      SendWork{.id = 2, .opcode = Opcode::write, .pieces = {&second, 1}, .remote = far_->remote(0)},
      SendWork{.id = 3, .opcode = Opcode::read, .pieces = {&back, 1}, .remote = far_->remote(0)}};
  ASSERT_TRUE(nics_.a.qp->post_send(works).ok());
  nics_.run();
  const std::vector<WorkCompletion> sent = nics_.a.sent();
  ASSERT_EQ(sent.size(), 3u);
  for (std::size_t i = 0; i < sent.size(); ++i) {
    EXPECT_EQ(sent[i].id, i + 1);
    EXPECT_EQ(sent[i].status, WorkStatus::success);
  }
  EXPECT_TRUE(std::ranges::equal(nics_.a.at(128, 64), nics_.a.at(64, 64)));
}

TEST_P(NotNow, a_refusal_is_an_error_of_the_access) {
  far_extents_.refuse_before(1000);
  EXPECT_EQ(write(100, 1000, 1), WorkStatus::success);
  EXPECT_EQ(write(100, 960, 1), WorkStatus::remote_access_error);
}

TEST_P(NotNow, a_packet_in_too_many_parts_is_refused) {
  far_extents_.be_scattered(4);
  EXPECT_EQ(write(4 * limits::parts, 0, 1), WorkStatus::success);
  EXPECT_EQ(far_extents_.get(0, 4 * limits::parts), pattern(4 * limits::parts, 1));
  EXPECT_EQ(write(4 * limits::parts + 1, 0, 1), WorkStatus::remote_access_error);
}

TEST_P(NotNow, a_word_in_two_parts_cannot_be_changed_at_once) {
  // The extent's end is at a multiple of eight, so the names are what is askew.
  auto askew = nics_.b.register_memory(Bytes(far_names_).subspan(word_bytes / 2),
                                       every_access & ~flush_persistence);
  ASSERT_TRUE(askew->translate_with(far_extents_));
  const std::uint64_t offset = extent_bytes - word_bytes / 2;
  EXPECT_EQ(run({.opcode = Opcode::fetch_add, .remote = askew->remote(offset), .operand = 1},
                nics_.a.piece(0, word_bytes))
                .status,
            WorkStatus::remote_operation_error);
}

TEST_P(NotNow, many_requests_are_executed_once_and_in_order) {
  Random random(11);
  Random losses(12);
  if (!GetParam()) {
    const auto lose = [&](const Packet&) { return losses.chance(3, 100) ? Fate{} : Fate{0}; };
    nics_.a.wire.choose(lose);
    nics_.b.wire.choose(lose);
  }
  far_extents_.be_late_often(20);
  std::vector<std::byte> model(room_bytes);
  for (std::uint8_t round = 0; round < 150; ++round) {
    const std::size_t size_bytes = 1 + random.below(3000);
    const std::uint64_t offset = random.below(room_bytes - size_bytes);
    const std::uint64_t counter = word_bytes * random.below(room_bytes / word_bytes);
    const std::vector<std::byte> bytes = pattern(size_bytes, round);
    std::ranges::copy(bytes, nics_.a.memory.begin());
    std::ranges::copy(bytes, model.begin() + static_cast<std::ptrdiff_t>(offset));
    const Sge from = nics_.a.piece(0, size_bytes);
    const Sge value = nics_.a.piece(4096, word_bytes);
    const Sge into = nics_.a.piece(8192, size_bytes);
    const std::array works = {
        SendWork{.opcode = Opcode::write, .pieces = {&from, 1}, .remote = far_->remote(offset)},
        SendWork{.opcode = Opcode::fetch_add,
                 .pieces = {&value, 1},
                 .remote = far_->remote(counter),
                 .operand = 3},
        SendWork{.opcode = Opcode::read, .pieces = {&into, 1}, .remote = far_->remote(offset)}};
    ASSERT_TRUE(nics_.a.qp->post_send(works).ok());
    nics_.run(200'000'000);
    const std::vector<WorkCompletion> sent = nics_.a.sent();
    ASSERT_EQ(sent.size(), works.size()) << "round " << int{round};
    for (std::size_t i = 0; i < works.size(); ++i) {
      ASSERT_EQ(sent[i].status, WorkStatus::success) << "round " << int{round};
      ASSERT_EQ(sent[i].opcode, works[i].opcode);
    }
    std::byte* const word = model.data() + counter;
    EXPECT_EQ(nics_.a.word(4096), load<std::uint64_t>(word)) << "round " << int{round};
    store(word, load<std::uint64_t>(word) + 3);
    EXPECT_TRUE(std::ranges::equal(nics_.a.at(8192, size_bytes),
                                   ConstBytes(model).subspan(offset, size_bytes)))
        << "round " << int{round};
  }
  EXPECT_EQ(far_extents_.get(0, room_bytes), model);
}

INSTANTIATE_TEST_SUITE_P(Wires, NotNow, testing::Bool(),
                         [](const auto& of) { return of.param ? "lossless" : "lossy"; });

}  // namespace
}  // namespace remora::fabric::nic
