// Records that lend their payload.
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <deque>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "base/random.h"
#include "fabric/nic/wire/ring/byte_ring.h"

namespace remora::fabric::nic::ring {
namespace {

constexpr std::size_t lending_ring_bytes = 8192;
constexpr std::size_t lending_packet_bytes = 1024 + 64;
constexpr std::size_t front_bytes = 28;

// A ring, both of its ends, and memory of the producer's that the consumer can read.
struct LendingRing {
  struct alignas(128) Data {
    std::byte bytes[lending_ring_bytes] = {};
  };

  bool lend(std::size_t offset, std::size_t size_bytes, char head = 'h') {
    const Bytes room = producer.reserve(front_bytes + size_bytes);
    const ConstBytes from = ConstBytes(memory).subspan(offset, size_bytes);
    if (room.empty() ||
        !producer.lend(
            {.offset = offset, .memory = 7, .size_bytes = static_cast<std::uint32_t>(size_bytes)},
            from)) {
      return false;
    }
    std::memset(room.data(), head, front_bytes);
    producer.commit();
    return true;
  }
  bool send(std::size_t size_bytes, char fill) {
    const Bytes room = producer.reserve(size_bytes);
    std::fill(room.begin(), room.end(), static_cast<std::byte>(fill));
    producer.commit();
    return !room.empty();
  }
  // The payload of the next record, from wherever it is.
  std::string take() {
    const ConstBytes packet = consumer.peek();
    if (packet.empty()) {
      return {};
    }
    std::string payload(as_text(packet.subspan(front_bytes)));
    if (const auto loan = consumer.loan()) {
      payload = as_text(ConstBytes(memory).subspan(loan->offset, loan->size_bytes));
    }
    (void)consumer.consume();
    return payload;
  }

  RingControl control = {};
  std::unique_ptr<Data> data = std::make_unique<Data>();
  RingProducer producer{control, data->bytes, lending_packet_bytes};
  RingConsumer consumer{control, data->bytes, lending_packet_bytes};
  std::vector<std::byte> memory = std::vector<std::byte>(4096, std::byte{'m'});
};

TEST(Loan, says_where_the_payload_is) {
  LendingRing ring;
  ASSERT_TRUE(ring.lend(64, 512));
  const ConstBytes packet = ring.consumer.peek();
  ASSERT_EQ(packet.size(), front_bytes + 512);
  EXPECT_EQ(as_text(packet.first(front_bytes)), std::string(front_bytes, 'h'));
  const auto loan = ring.consumer.loan();
  ASSERT_TRUE(loan.has_value());
  EXPECT_EQ(loan->offset, 64u);
  EXPECT_EQ(loan->memory, 7u);
  EXPECT_EQ(loan->size_bytes, 512u);
  EXPECT_TRUE(ring.consumer.is_out());
}

TEST(Loan, takes_one_line_of_the_ring) {
  LendingRing ring;
  std::memset(ring.data->bytes, 0x5a, sizeof ring.data->bytes);
  byte_ring::size_word(ring.data->bytes, 0).store(0);
  ASSERT_TRUE(ring.lend(0, 1024));
  for (std::size_t at = cache_line_bytes; at < cache_line_bytes + 1024; ++at) {
    ASSERT_EQ(ring.data->bytes[at], std::byte{0x5a}) << at;
  }
}

TEST(Loan, is_none_of_an_ordinary_record) {
  LendingRing ring;
  ASSERT_TRUE(ring.send(500, 'x'));
  ASSERT_FALSE(ring.consumer.peek().empty());
  EXPECT_FALSE(ring.consumer.has_loan());
  EXPECT_FALSE(ring.consumer.loan().has_value());
}

TEST(Loan, is_not_shown_ahead) {
  LendingRing ring;
  ASSERT_TRUE(ring.send(100, 'x'));
  ASSERT_TRUE(ring.lend(0, 512));
  ASSERT_TRUE(ring.send(100, 'y'));
  ASSERT_FALSE(ring.consumer.peek().empty());
  std::string seen;
  ring.consumer.look_ahead(
      9, [&](ConstBytes packet) { seen.push_back(static_cast<char>(packet.front())); });
  EXPECT_EQ(seen, "xy");
}

TEST(Loan, is_in_the_record_after_a_recall_whatever_becomes_of_the_memory) {
  LendingRing ring;
  ASSERT_TRUE(ring.lend(0, 512));
  ASSERT_TRUE(ring.lend(512, 1024));
  ring.producer.recall();
  std::fill(ring.memory.begin(), ring.memory.end(), std::byte{'z'});
  ASSERT_FALSE(ring.consumer.peek().empty());
  EXPECT_TRUE(ring.consumer.has_loan());
  EXPECT_FALSE(ring.consumer.loan().has_value());
  EXPECT_EQ(ring.take(), std::string(512, 'm'));
  EXPECT_EQ(ring.take(), std::string(1024, 'm'));
}

TEST(Loan, that_comes_to_its_end_while_it_is_copied_is_noticed) {
  LendingRing ring;
  ASSERT_TRUE(ring.lend(0, 512));
  const ConstBytes packet = ring.consumer.peek();
  ASSERT_TRUE(ring.consumer.loan().has_value());
  ring.producer.recall();
  ring.memory[0] = std::byte{'z'};
  EXPECT_FALSE(ring.consumer.is_out());
  EXPECT_EQ(as_text(packet.subspan(front_bytes)), std::string(512, 'm'));
}

// The places of records that were consumed belong to others, to whom nothing may happen.
TEST(Loan, is_not_recalled_to_a_place_that_is_used_again) {
  LendingRing ring;
  Random random(11);
  std::deque<char> sent;
  for (int i = 0; i < 20'000; ++i) {
    const char fill = static_cast<char>('a' + i % 26);
    const std::uint64_t what = random.below(64);
    if (what == 0) {
      ring.producer.recall();
    } else if (what < 16) {
      if (ring.lend(0, 64 * random.between(1, 16))) {
        sent.push_back('m');
      }
    } else if (what < 40) {
      if (ring.send(front_bytes + random.between(1, 1024), fill)) {
        sent.push_back(fill);
      }
    } else if (const std::string payload = ring.take(); !payload.empty()) {
      ASSERT_FALSE(sent.empty());
      ASSERT_EQ(payload, std::string(payload.size(), sent.front())) << i;
      sent.pop_front();
    }
    ASSERT_FALSE(ring.producer.broken() || ring.consumer.broken());
  }
}

TEST(Loan, is_refused_where_the_record_has_no_room_to_say_so) {
  LendingRing ring;
  // The packet begins too early in its first line.
  ASSERT_FALSE(ring.producer.reserve(560).empty());
  EXPECT_FALSE(ring.producer.lend({.size_bytes = 512}, ConstBytes(ring.memory).first(512)));
  // There is a rider.
  static constexpr std::byte rider[byte_ring::rider_bytes] = {};
  ASSERT_FALSE(ring.producer.reserve(front_bytes + 512, rider).empty());
  EXPECT_FALSE(ring.producer.lend({.size_bytes = 512}, ConstBytes(ring.memory).first(512)));
}

TEST(Loan, is_refused_when_a_part_of_the_ring_is_out_until_that_is_consumed) {
  LendingRing ring;
  std::size_t lent = 0;
  while (ring.lend(0, 1024)) {
    ++lent;
  }
  EXPECT_EQ(lent, lending_ring_bytes / limits::lent_part / 1024);
  ASSERT_TRUE(ring.send(500, 'x'));
  while (!ring.take().empty()) {
  }
  EXPECT_TRUE(ring.lend(0, 1024));
}

TEST(Loan, that_cannot_be_breaks_the_ring) {
  const auto word_with = [](std::uint32_t word) {
    LendingRing ring;
    byte_ring::size_word(ring.data->bytes, 0).store(word);
    return ring.consumer.peek().empty() && ring.consumer.broken();
  };
  EXPECT_TRUE(word_with(byte_ring::with_loan));
  EXPECT_TRUE(word_with(byte_ring::with_loan | 10));
  EXPECT_TRUE(word_with(byte_ring::with_loan | byte_ring::with_rider | (front_bytes + 512)));
  EXPECT_TRUE(word_with(byte_ring::with_loan | 10'000));
  EXPECT_FALSE(word_with(byte_ring::with_loan | (front_bytes + 512)));
}

// A producer that lends, has its loans back at any time and changes its memory then; a consumer
// that copies meanwhile. What the consumer keeps is what was lent.
TEST(Loan, never_shows_what_came_after_a_recall) {
  constexpr std::uint64_t records = 20'000;
  constexpr std::size_t size_bytes = 512;
  LendingRing ring;
  std::uint64_t wrong = 0;
  std::thread borrower([&] {
    std::vector<std::byte> copy(size_bytes);
    for (std::uint64_t expected = 0; expected < records;) {
      const ConstBytes packet = ring.consumer.peek();
      if (packet.empty()) {
        std::this_thread::yield();
        continue;
      }
      const auto loan = ring.consumer.loan();
      if (loan) {
        racy_copy(copy, ConstBytes(ring.memory).subspan(loan->offset, size_bytes));
      }
      if (!loan || !ring.consumer.is_out()) {
        racy_copy(copy, packet.subspan(front_bytes));
      }
      for (std::size_t at = 0; at < size_bytes; at += word_bytes) {
        wrong += load<std::uint64_t>(&copy[at]) == expected ? 0u : 1u;
      }
      (void)ring.consumer.consume();
      ++expected;
    }
  });
  std::vector<std::uint64_t> next(size_bytes / word_bytes);
  for (std::uint64_t number = 0; number < records;) {
    std::fill(next.begin(), next.end(), number);
    racy_copy(ring.memory, std::as_bytes(std::span(next)));
    if (ring.lend(0, size_bytes)) {
      if (number % 3 == 0) {
        std::this_thread::yield();
      }
      ring.producer.recall();
      ++number;
    } else {
      std::this_thread::yield();
    }
  }
  borrower.join();
  EXPECT_EQ(wrong, 0u);
}

}  // namespace
}  // namespace remora::fabric::nic::ring
