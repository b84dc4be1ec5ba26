#include "fabric/nic/wire/ring/byte_ring.h"

#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "base/random.h"

namespace remora::fabric::nic::ring {
namespace {

// A ring in plain memory, with both of its ends.
class Ring {
 public:
  explicit Ring(std::size_t capacity_bytes, std::size_t max_packet_bytes)
      : capacity_bytes_(capacity_bytes),
        memory_(new (std::align_val_t{128}) std::byte[capacity_bytes]()),
        producer(control, data(), max_packet_bytes),
        consumer(control, data(), max_packet_bytes) {}
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;
  ~Ring() { ::operator delete[](memory_, std::align_val_t{128}); }

  Bytes data() { return {memory_, capacity_bytes_}; }
  std::uint32_t& size_word(std::size_t offset) {
    return *reinterpret_cast<std::uint32_t*>(memory_ + offset);
  }

  bool send(const std::string& packet, const std::string& rider = {}) {
    const Bytes room = producer.reserve(packet.size(), as_bytes(rider));
    if (room.empty()) {
      return false;
    }
    std::memcpy(room.data(), packet.data(), packet.size());
    producer.commit();
    return true;
  }
  std::string take() {
    const std::string packet(as_text(consumer.peek()));
    if (!packet.empty()) {
      (void)consumer.consume();
    }
    return packet;
  }

  RingControl control = {};

 private:
  std::size_t capacity_bytes_;
  std::byte* memory_;

 public:
  RingProducer producer;
  RingConsumer consumer;
};

std::string packet_of(std::size_t size_bytes, char fill) {
  return std::string(size_bytes, fill);
}

TEST(ByteRing, is_empty_at_first) {
  Ring ring(1024, 256);
  EXPECT_TRUE(ring.consumer.peek().empty());
  EXPECT_FALSE(ring.consumer.broken());
}

TEST(ByteRing, hands_over_packets_in_order) {
  Ring ring(1024, 256);
  ASSERT_TRUE(ring.send("a"));
  ASSERT_TRUE(ring.send(packet_of(200, 'b')));
  EXPECT_EQ(ring.take(), "a");
  EXPECT_EQ(ring.take(), packet_of(200, 'b'));
  EXPECT_EQ(ring.take(), "");
}

TEST(ByteRing, shows_nothing_before_the_commit) {
  Ring ring(1024, 256);
  ring.producer.reserve(10);
  EXPECT_EQ(ring.take(), "");
  ring.producer.reserve(20);  // replaces it
  ring.producer.commit();
  ring.producer.commit();  // nothing is reserved
  EXPECT_EQ(ring.take().size(), 20u);
  EXPECT_EQ(ring.take(), "");
}

TEST(ByteRing, shows_the_same_packet_until_it_is_consumed) {
  Ring ring(1024, 256);
  ASSERT_TRUE(ring.send("x"));
  EXPECT_EQ(as_text(ring.consumer.peek()), "x");
  EXPECT_EQ(ring.take(), "x");
}

std::vector<std::string> seen_ahead(const RingConsumer& consumer, std::size_t count) {
  std::vector<std::string> seen;
  consumer.look_ahead(count, [&](ConstBytes packet) { seen.emplace_back(as_text(packet)); });
  return seen;
}

TEST(ByteRing, looks_ahead_at_what_is_there_and_takes_nothing) {
  Ring ring(1024, 256);
  EXPECT_TRUE(seen_ahead(ring.consumer, 4).empty());
  ASSERT_TRUE(ring.send("a"));
  ASSERT_TRUE(ring.send(packet_of(200, 'b')));
  ASSERT_TRUE(ring.send("c"));
  EXPECT_EQ(seen_ahead(ring.consumer, 2), (std::vector<std::string>{"a", packet_of(200, 'b')}));
  EXPECT_EQ(seen_ahead(ring.consumer, 9).size(), 3u);
  EXPECT_EQ(ring.take(), "a");
  EXPECT_EQ(seen_ahead(ring.consumer, 9), (std::vector<std::string>{packet_of(200, 'b'), "c"}));
}

TEST(ByteRing, looks_ahead_no_further_than_the_end_or_a_size_that_cannot_be) {
  Ring ring(1024, 256);
  for (int i = 0; i < 14; ++i) {
    ASSERT_TRUE(ring.send("x"));
    ASSERT_EQ(ring.take(), "x");
  }
  ASSERT_TRUE(ring.send("last"));
  ASSERT_TRUE(ring.send(packet_of(200, 'w')));  // behind a skip
  EXPECT_EQ(seen_ahead(ring.consumer, 9), (std::vector<std::string>{"last"}));
  ring.size_word(14 * 64) = 257;
  EXPECT_TRUE(seen_ahead(ring.consumer, 9).empty());
}

TEST(ByteRing, keeps_a_packet_whole_across_the_wrap) {
  for (std::size_t size = 1; size <= 320; size += 5) {
    Ring ring(1024, 320);
    for (int i = 0; i < 100; ++i) {
      const std::string packet = packet_of(size, static_cast<char>('a' + i % 26));
      ASSERT_TRUE(ring.send(packet)) << size << " " << i;
      ASSERT_EQ(ring.take(), packet) << size << " " << i;
    }
  }
}

TEST(ByteRing, gives_a_small_packet_one_line_and_the_payload_of_a_write_lines_of_its_own) {
  EXPECT_EQ(byte_ring::record_bytes(1), 64u);
  EXPECT_EQ(byte_ring::record_bytes(60), 64u);
  EXPECT_EQ(byte_ring::record_bytes(61), 128u);
  EXPECT_EQ(byte_ring::record_bytes(28 + 64), 128u);
  EXPECT_EQ(byte_ring::packet_offset(60), 4u);
  // The payload of a WRITE, and of the answer to a READ, in lines of its own.
  for (const std::size_t headers : {28u, 16u}) {
    for (const std::size_t payload : {64u, 4096u}) {
      EXPECT_EQ((byte_ring::packet_offset(headers + payload) + headers) % 64, 0u);
    }
  }
  Ring ring(1024, 320);
  const Bytes room = ring.producer.reserve(28 + 64);
  EXPECT_EQ(room.data() + 28, ring.data().data() + 64);
}

TEST(ByteRing, takes_no_more_than_fits_and_goes_on_when_there_is_room) {
  Ring ring(1024, 280);
  int sent = 0;
  while (ring.send(packet_of(80, 'a'))) {
    ++sent;
  }
  EXPECT_EQ(sent, 7);  // one line stays free for the cleared size word
  EXPECT_TRUE(ring.producer.waits_for_room());
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(ring.take().size(), 80u);
  }
  EXPECT_TRUE(ring.send("b"));
  EXPECT_FALSE(ring.producer.broken());
}

TEST(ByteRing, never_takes_old_bytes_for_a_packet) {
  // Packets full of bytes that look like size words of small packets.
  Ring ring(1024, 320);
  std::string tricky;
  for (int i = 0; i < 80; ++i) {
    tricky += std::string("\x08\0\0\0", 4);
  }
  Random random(7);
  for (int i = 0; i < 2000; ++i) {
    const std::string packet = tricky.substr(0, random.between(1, 320));
    ASSERT_TRUE(ring.send(packet));
    ASSERT_EQ(ring.take(), packet);
    ASSERT_EQ(ring.take(), "");
  }
}

TEST(ByteRing, carries_the_largest_packet_wherever_the_wrap_is) {
  for (std::size_t lines = 0; lines < 16; ++lines) {
    Ring ring(1024, 320);
    for (std::size_t i = 0; i < lines; ++i) {
      ASSERT_TRUE(ring.send("s"));
      ASSERT_EQ(ring.take(), "s");
    }
    EXPECT_TRUE(ring.send(packet_of(320, 'L'))) << lines;
    EXPECT_EQ(ring.take(), packet_of(320, 'L'));
  }
}

TEST(ByteRing, wakes_a_consumer_that_sleeps_once) {
  Ring ring(1024, 256);
  ASSERT_TRUE(ring.consumer.arm());
  EXPECT_FALSE(ring.control.consumer_sleeps == 0);
  ASSERT_TRUE(ring.send("x"));
  EXPECT_TRUE(ring.producer.must_wake_consumer());
  EXPECT_FALSE(ring.producer.must_wake_consumer());
  EXPECT_FALSE(ring.consumer.arm());  // there is a packet
  EXPECT_FALSE(ring.producer.must_wake_consumer());
}

TEST(ByteRing, wakes_a_producer_that_waits_for_room) {
  Ring ring(1024, 256);
  while (ring.send(packet_of(200, 'a'))) {
  }
  ASSERT_TRUE(ring.send("small"));  // does not end the waiting of the large one
  ASSERT_TRUE(ring.producer.waits_for_room());
  ASSERT_TRUE(ring.producer.arm());
  bool woken = false;
  while (!ring.consumer.peek().empty()) {
    woken |= ring.consumer.consume();
  }
  EXPECT_TRUE(woken);
  EXPECT_FALSE(ring.producer.arm());  // there is room now
  EXPECT_TRUE(ring.send(packet_of(200, 'a')));
}

TEST(ByteRing, breaks_on_a_size_that_cannot_be) {
  for (const std::uint32_t size : {257u, 1016u, 1017u, 1u << 31, 0xfffffffeu}) {
    Ring ring(1024, 256);
    ring.size_word(0) = size;
    EXPECT_TRUE(ring.consumer.peek().empty()) << size;
    EXPECT_TRUE(ring.consumer.broken()) << size;
  }
}

TEST(ByteRing, breaks_on_a_packet_that_would_pass_the_end) {
  Ring ring(1024, 256);
  for (int i = 0; i < 14; ++i) {
    ASSERT_TRUE(ring.send("x"));
    ASSERT_EQ(ring.take(), "x");
  }
  ring.size_word(14 * 64) = 125;  // 124 would fit
  EXPECT_TRUE(ring.consumer.peek().empty());
  EXPECT_TRUE(ring.consumer.broken());
}

TEST(ByteRing, breaks_on_skips_that_lead_nowhere) {
  Ring at_start(1024, 256);
  at_start.size_word(0) = byte_ring::size_of_skip;
  EXPECT_TRUE(at_start.consumer.peek().empty());
  EXPECT_TRUE(at_start.consumer.broken());

  Ring twice(1024, 256);
  ASSERT_TRUE(twice.send("x"));
  ASSERT_EQ(twice.take(), "x");
  twice.size_word(64) = byte_ring::size_of_skip;
  twice.size_word(0) = byte_ring::size_of_skip;
  EXPECT_TRUE(twice.consumer.peek().empty());
  EXPECT_TRUE(twice.consumer.broken());
}

TEST(ByteRing, stays_broken) {
  Ring ring(1024, 256);
  ring.size_word(0) = 300;
  EXPECT_TRUE(ring.consumer.peek().empty());
  ring.size_word(0) = 8;
  EXPECT_TRUE(ring.consumer.peek().empty());
  EXPECT_TRUE(ring.consumer.broken());
}

TEST(ByteRing, breaks_on_a_position_that_cannot_be) {
  for (const std::uint64_t consumed :
       {std::uint64_t{1} << 40, ~std::uint64_t{0}, std::uint64_t{897}}) {
    Ring ring(1024, 280);
    while (ring.send(packet_of(80, 'a'))) {
    }
    ring.control.consumed = consumed;
    EXPECT_TRUE(ring.producer.reserve(80).empty()) << consumed;
    EXPECT_TRUE(ring.producer.broken()) << consumed;
    ring.control.consumed = 896;
    EXPECT_TRUE(ring.producer.reserve(80).empty());
  }
}

TEST(ByteRing, breaks_on_a_position_that_goes_back) {
  Ring ring(1024, 280);
  for (int lap = 0; lap < 3; ++lap) {
    while (ring.send(packet_of(80, 'a'))) {
    }
    while (!ring.take().empty()) {
    }
  }
  while (ring.send(packet_of(80, 'a'))) {
  }
  ring.control.consumed = 0;
  EXPECT_TRUE(ring.producer.reserve(80).empty());
  EXPECT_TRUE(ring.producer.broken());
}

// A peer that scribbles over all of the shared memory cannot make either end leave its bounds or
// work without end; AddressSanitizer watches.
TEST(ByteRing, survives_a_peer_that_writes_anything_anywhere) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Random random(seed);
    Ring ring(1024, 256);
    unsigned sum = 0;
    for (int step = 0; step < 200; ++step) {
      const std::uint64_t line = random.below(16);
      switch (random.below(4)) {
        case 0:
          ring.size_word(line * 64) = static_cast<std::uint32_t>(random.below(300));
          break;
        case 1:
          ring.size_word(line * 64) = static_cast<std::uint32_t>(random.next());
          break;
        case 2:
          ring.control.consumed = random.chance(1, 2) ? random.below(4096) : random.next();
          break;
        default:
          break;
      }
      for (const std::byte byte : ring.consumer.peek()) {
        sum += std::to_integer<unsigned>(byte);
      }
      ring.consumer.look_ahead(random.below(20), [&](ConstBytes packet) {
        for (const std::byte byte : packet) {
          sum += std::to_integer<unsigned>(byte);
        }
      });
      (void)ring.consumer.consume();
      const Bytes room = ring.producer.reserve(random.between(1, 256));
      std::fill(room.begin(), room.end(), std::byte{1});
      ring.producer.commit();
    }
    EXPECT_GE(sum, 0u);
  }
}

// What both ends do against a plain queue, in every order that a seed gives.
TEST(ByteRing, behaves_as_a_queue) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    Random random(seed);
    Ring ring(std::size_t{1024} << random.below(3), 320);
    std::deque<std::string> model;
    for (int step = 0; step < 2000; ++step) {
      if (random.chance(1, 2)) {
        const std::string packet =
            packet_of(random.between(1, 320), static_cast<char>('a' + step % 26));
        if (ring.send(packet)) {
          model.push_back(packet);
        } else {
          ASSERT_FALSE(model.empty()) << "seed " << seed << ": no room in an empty ring";
        }
      } else {
        ASSERT_EQ(ring.take(), model.empty() ? "" : model.front()) << "seed " << seed;
        if (!model.empty()) {
          model.pop_front();
        }
      }
    }
  }
}

// The packet with this number: both threads know it from the seed.
std::string numbered_packet(std::uint64_t number) {
  Random random(number);
  std::string packet(random.between(8, 320),
                     static_cast<char>('a' + static_cast<int>(number % 26)));
  std::memcpy(packet.data(), &number, sizeof number);
  return packet;
}

TEST(ByteRing, carries_everything_between_two_threads) {
  constexpr std::uint64_t count = 20'000;
  Ring ring(2048, 320);
  std::thread producing([&] {
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::string packet = numbered_packet(i);
      while (!ring.send(packet)) {
        std::this_thread::yield();
      }
    }
  });
  std::uint64_t wrong = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    std::string packet;
    while ((packet = ring.take()).empty()) {
      std::this_thread::yield();
    }
    wrong += packet != numbered_packet(i) ? 1u : 0u;
  }
  producing.join();
  EXPECT_EQ(wrong, 0u);
  EXPECT_EQ(ring.take(), "");
}

// --- Riders ---

const std::string rider = "sixteen bytes...";

TEST(ByteRing, carries_a_rider_with_a_packet_of_any_size_wherever_it_lies) {
  Ring ring(1024, 320);
  for (int lap = 0; lap < 40; ++lap) {
    for (const std::size_t size : {1u, 43u, 44u, 45u, 60u, 61u, 200u, 304u}) {
      const std::string packet = packet_of(size, static_cast<char>('a' + lap % 26));
      ASSERT_TRUE(ring.send(packet, rider));
      ASSERT_EQ(as_text(ring.consumer.peek()), packet);
      ASSERT_EQ(seen_ahead(ring.consumer, 1), std::vector<std::string>{packet});
      ASSERT_EQ(as_text(ring.consumer.rider()), rider);
      ASSERT_EQ(ring.take(), packet);
      ASSERT_TRUE(ring.send("alone"));
      ASSERT_EQ(as_text(ring.consumer.peek()), "alone");
      ASSERT_TRUE(ring.consumer.rider().empty());
      ASSERT_EQ(ring.take(), "alone");
    }
  }
}

TEST(ByteRing, takes_one_line_for_a_small_packet_and_its_rider) {
  using byte_ring::Shape;
  EXPECT_EQ((Shape{44, true}.record_bytes()), 64u);
  EXPECT_EQ((Shape{45, true}.record_bytes()), 128u);
  EXPECT_EQ((Shape{45, true}.packet_offset()), 128u - 45u);
  EXPECT_EQ((Shape{60, false}.record_bytes()), 64u);
}

TEST(ByteRing, breaks_on_a_rider_without_a_packet_or_with_one_that_cannot_be) {
  for (const std::uint32_t size : {0u, 321u, 1000u, 0x7fffffffu}) {
    Ring ring(1024, 320);
    ring.size_word(0) = byte_ring::with_rider | size;
    EXPECT_TRUE(seen_ahead(ring.consumer, 1).empty());
    EXPECT_TRUE(ring.consumer.peek().empty());
    EXPECT_TRUE(ring.consumer.broken()) << size;
  }
}

// Both sides really sleep; a lost wake-up would leave the test hanging.
TEST(ByteRing, loses_no_wake_up_between_two_threads) {
  constexpr int count = 20'000;
  Ring ring(1024, 320);
  std::atomic<std::uint32_t> consumer_bell = 0;
  std::atomic<std::uint32_t> producer_bell = 0;
  const auto ring_bell = [](std::atomic<std::uint32_t>& bell) {
    ++bell;
    bell.notify_one();
  };
  std::thread producing([&] {
    for (int i = 0; i < count; ++i) {
      std::uint32_t heard = producer_bell;
      while (!ring.send(packet_of(300, 'p'))) {
        if (ring.producer.arm()) {
          producer_bell.wait(heard);
        }
        heard = producer_bell;
      }
      // The cheap question may miss one that falls asleep at this moment, never one that slept.
      if (ring.producer.must_wake_sleeper() || ring.producer.must_wake_consumer()) {
        ring_bell(consumer_bell);
      }
    }
  });
  for (int i = 0; i < count; ++i) {
    std::uint32_t heard = consumer_bell;
    while (ring.consumer.peek().empty()) {
      if (ring.consumer.arm()) {
        consumer_bell.wait(heard);
      }
      heard = consumer_bell;
    }
    if (ring.consumer.consume()) {
      ring_bell(producer_bell);
    }
  }
  producing.join();
}

}  // namespace
}  // namespace remora::fabric::nic::ring
