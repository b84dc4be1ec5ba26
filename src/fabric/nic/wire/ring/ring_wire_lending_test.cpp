// Payload that stays where it lies, between two wires.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <thread>

#include "base/racy_copy.h"
#include "fabric/nic/wire/ring/ring_testing.h"
#include "fabric/nic/wire/ring/ring_wire.h"
#include "pmem/open_region.h"

namespace remora::fabric::nic::ring {
namespace {

constexpr std::size_t lent_bytes = 4096;
constexpr std::size_t client_bytes = 8 * lent_bytes;
const std::string front(28, 'h');

class RingLending : public testing::Test {
 protected:
  explicit RingLending(const RingWireOptions& client = {}, const RingWireOptions& server = {},
                       std::size_t memory_size = client_bytes)
      : memory_(make_dram(memory_size).value()), server_(loop_, server), client_(loop_, client) {
    REMORA_CHECK(server_.wire->listen(folder_.file("s")).ok(), "the test needs a listener");
    std::ranges::fill(memory_->bytes(), std::byte{'a'});
    client_.wire->offer(memory_->bytes(), *memory_->backing());
    link_ = loop_.block_on(client_.wire->connect(folder_.file("s"))).value();
    REMORA_CHECK(server_.run_until([&] { return !server_.ups.empty(); }), "no link");
  }

  Bytes payload(std::size_t at = 0) {
    return memory_->bytes().subspan(at * lent_bytes, lent_bytes);
  }
  bool show() {
    client_.wire->show_all(link_);
    return client_.run_until([&] { return client_.wire->has_seen_all(link_); });
  }
  bool received(std::size_t count) {
    return server_.run_until([&] { return server_.packets.size() >= count; });
  }
  static std::string whole(char fill) { return front + std::string(lent_bytes, fill); }

  const TestFolder folder_;
  PollLoop loop_{{.spin_turns = 50}};
  std::unique_ptr<Region> memory_;
  Station server_;
  Station client_;
  LinkId link_ = 0;
};

TEST_F(RingLending, begins_when_the_peer_has_seen_the_memory) {
  EXPECT_EQ(client_.wire->traits(link_).lent_from_bytes, limits::lent_bytes_min);
  EXPECT_FALSE(client_.lend(link_, front, payload()));  // it is shown now
  ASSERT_TRUE(client_.run_until([&] { return client_.wire->has_seen_all(link_); }));
  ASSERT_TRUE(client_.lend(link_, front, payload()));
  ASSERT_TRUE(client_.send(link_, "behind it"));
  ASSERT_TRUE(received(2));
  EXPECT_EQ(server_.packets, (std::vector<std::string>{whole('a'), "behind it"}));
  EXPECT_EQ(client_.wire->packets_lent(), 1u);
}

TEST_F(RingLending, shows_what_is_there_when_it_is_taken) {
  ASSERT_TRUE(show());
  server_.polls_packets = false;
  ASSERT_TRUE(client_.lend(link_, front, payload()));
  std::ranges::fill(payload(), std::byte{'b'});
  server_.polls_packets = true;
  ASSERT_TRUE(received(1));
  EXPECT_EQ(server_.packets[0], whole('b'));
}

TEST_F(RingLending, shows_what_was_there_at_a_recall) {
  ASSERT_TRUE(show());
  server_.polls_packets = false;
  ASSERT_TRUE(client_.lend(link_, front, payload(0)));
  ASSERT_TRUE(client_.lend(link_, front, payload(1)));
  client_.wire->recall();
  std::ranges::fill(memory_->bytes(), std::byte{'b'});
  ASSERT_TRUE(client_.lend(link_, front, payload(1)));
  server_.polls_packets = true;
  ASSERT_TRUE(received(3));
  EXPECT_EQ(server_.packets, (std::vector<std::string>{whole('a'), whole('a'), whole('b')}));
}

TEST_F(RingLending, ends_for_memory_that_is_withdrawn) {
  ASSERT_TRUE(show());
  server_.polls_packets = false;
  ASSERT_TRUE(client_.lend(link_, front, payload()));
  client_.wire->recall();
  client_.wire->withdraw(memory_->bytes());
  EXPECT_FALSE(client_.lend(link_, front, payload()));
  memory_ = make_dram(client_bytes).value();  // perhaps at the same place
  client_.wire->offer(memory_->bytes(), *memory_->backing());
  EXPECT_FALSE(client_.lend(link_, front, payload()));
  server_.polls_packets = true;
  ASSERT_TRUE(received(1));
  EXPECT_EQ(server_.packets[0], whole('a'));
  ASSERT_TRUE(show());
  ASSERT_TRUE(client_.lend(link_, front, payload()));
  ASSERT_TRUE(received(2));
  EXPECT_EQ(server_.packets[1], whole('\0'));
}

TEST_F(RingLending, is_for_whole_lines_of_enough_bytes_on_offer_at_whole_words) {
  ASSERT_TRUE(show());
  EXPECT_FALSE(client_.lend(link_, front, payload().first(1024)));
  EXPECT_FALSE(client_.lend(link_, front, payload().first(lent_bytes - 4)));
  EXPECT_FALSE(client_.lend(link_, front, memory_->bytes().subspan(4, lent_bytes)));
  const std::vector<std::byte> elsewhere(lent_bytes);
  EXPECT_FALSE(client_.lend(link_, front, elsewhere));
  EXPECT_TRUE(client_.lend(link_, front, memory_->bytes().subspan(8, lent_bytes)));
}

TEST_F(RingLending, keeps_what_a_lender_left_that_closed_its_wire) {
  auto third = std::make_unique<Station>(loop_);
  third->wire->offer(memory_->bytes(), *memory_->backing());
  const LinkId link = loop_.block_on(third->wire->connect(folder_.file("s"))).value();
  third->wire->show_all(link);
  ASSERT_TRUE(server_.run_until([&] { return third->wire->has_seen_all(link); }));
  server_.polls_packets = false;
  ASSERT_TRUE(third->lend(link, front, payload()));
  third.reset();
  std::ranges::fill(memory_->bytes(), std::byte{'b'});
  server_.polls_packets = true;
  ASSERT_TRUE(received(1));
  EXPECT_EQ(server_.packets[0], whole('a'));
}

// Payload that takes long to copy, between two processors.
class RingLendingLarge : public RingLending {
 protected:
  static constexpr std::size_t large_bytes = 1 << 20;
  static constexpr RingShape shape = {.ring_bytes = 16 << 20, .mtu_bytes = large_bytes};

  RingLendingLarge() : RingLending({.shape = shape}, {.shape = shape}, large_bytes) {}

  static std::vector<std::uint64_t> words_of(std::uint64_t with) {
    return std::vector<std::uint64_t>(large_bytes / word_bytes, with);
  }
  void fill(const std::vector<std::uint64_t>& words) {
    racy_copy(memory_->bytes(), std::as_bytes(std::span(words)));
  }
  static bool is_filled(const std::string& packet, std::uint64_t with) {
    for (std::size_t at = front.size(); at < packet.size(); at += word_bytes) {
      if (std::memcmp(packet.data() + at, &with, word_bytes) != 0) {
        return false;
      }
    }
    return packet.size() == front.size() + large_bytes;
  }
  void wait_for(std::uint64_t microseconds) {
    const std::uint64_t end_ns = loop_.now_ns() + 1000 * microseconds;
    while (loop_.now_ns() < end_ns) {
    }
  }
};

// A lender that has its loans back at any time and changes its memory then.
TEST_F(RingLendingLarge, never_shows_what_came_after_a_recall) {
  constexpr std::uint64_t packets = 300;
  ASSERT_TRUE(show());
  std::atomic<std::uint64_t> received = 0;
  std::uint64_t wrong = 0;
  server_.on_packet = [&](LinkId) {
    wrong += is_filled(server_.packets.back(), received) ? 0u : 1u;
    server_.packets.clear();
    ++received;
  };
  std::thread borrower([&] {
    while (received < packets && server_.downs.empty()) {
      (void)server_.wire->poll(server_, 16);
    }
  });
  for (std::uint64_t number = 0; number < packets; ++number) {
    while (received < number && server_.downs.empty()) {
    }
    fill(words_of(number));
    EXPECT_TRUE(client_.lend(link_, front, memory_->bytes()));
    wait_for(number % 50);
    client_.wire->recall();
  }
  borrower.join();
  EXPECT_EQ(wrong, 0u);
}

// The same of one that cuts the borrower off.
TEST_F(RingLendingLarge, never_shows_what_came_after_it_was_cut_off) {
  const std::vector<std::uint64_t> first = words_of('a');
  const std::vector<std::uint64_t> second = words_of('b');
  for (std::uint64_t round = 0; round < 40; ++round) {
    fill(first);
    auto third = std::make_unique<Station>(loop_, RingWireOptions{.shape = shape});
    third->wire->offer(memory_->bytes(), *memory_->backing());
    const LinkId link = loop_.block_on(third->wire->connect(folder_.file("s"))).value();
    third->wire->show_all(link);
    ASSERT_TRUE(server_.run_until([&] { return third->wire->has_seen_all(link); }));
    std::atomic<bool> ends = false;
    std::thread borrower([&] {
      while (!ends) {
        (void)server_.wire->poll(server_, 16);
      }
    });
    EXPECT_TRUE(third->lend(link, front, memory_->bytes()));
    wait_for(round % 50);
    third->wire->cut_off(link);
    fill(second);
    wait_for(500);
    ends = true;
    borrower.join();
    third.reset();
    for (const std::string& packet : server_.packets) {
      ASSERT_TRUE(is_filled(packet, 'a')) << round;
    }
    server_.packets.clear();
  }
}

// A process that keeps to the handshake and to nothing after it.
class HostileLender : public RingLending {
 protected:
  HostLink enter() {
    HandshakeTerms terms{.gid = {9, 9, 9}, .features = feature_lending};
    HostHandshake handshake = HostHandshake::connect(folder_.file("s"), terms).value();
    std::optional<HostLink> link;
    const bool is_up = server_.run_until([&] {
      Result<std::optional<HostLink>> step =
          handshake.step([](const HostPeer&) { return Status(); });
      REMORA_CHECK(step.ok(), "the server refused");
      if (*step) {
        link.emplace(std::move(**step));
      }
      return link.has_value();
    });
    REMORA_CHECK(is_up, "no link");
    return std::move(*link);
  }
  bool is_cut_off() {
    return server_.run_until([&] { return !server_.downs.empty(); }) && server_.packets.empty();
  }
  // Shows its memory, and waits until that was seen.
  bool show(HostLink& link, std::uint32_t number) {
    const LendingMessage message = {.kind = static_cast<std::uint16_t>(LendingKind::show),
                                    .number = number,
                                    .size_bytes = client_bytes};
    std::array<std::byte, frame_bytes_max> buffer;
    return link.send_lending(object_bytes(message), memory_->backing()->descriptor).ok() &&
           server_.run_until([&] {
             const HostLink::Control answer = link.poll_control(buffer);
             return answer.got == HostSocket::Got::message &&
                    answer.frame.kind == FrameKind::lending;
           });
  }
  void refer(HostLink& link, const byte_ring::Loan& loan, std::size_t size_bytes) {
    const Bytes room = link.producer().reserve(front.size() + size_bytes);
    const std::vector<std::byte> from(loan.size_bytes);
    REMORA_CHECK(link.producer().lend(loan, from), "the ring does not take the loan");
    std::ranges::copy(as_bytes(front), room.begin());
    link.producer().commit();
    link.ring_bell();
  }
};

TEST_F(HostileLender, is_cut_off_when_it_refers_to_what_it_did_not_show) {
  HostLink link = enter();
  refer(link, {.offset = 0, .memory = 1, .size_bytes = lent_bytes}, lent_bytes);
  EXPECT_TRUE(is_cut_off());
}

TEST_F(HostileLender, is_cut_off_when_it_refers_beyond_what_it_showed) {
  HostLink link = enter();
  ASSERT_TRUE(show(link, 1));
  refer(link, {.offset = client_bytes - 64, .memory = 1, .size_bytes = lent_bytes}, lent_bytes);
  EXPECT_TRUE(is_cut_off());
}

// Headers that would be longer than any.
TEST_F(HostileLender, is_cut_off_when_it_lends_less_than_the_payload) {
  HostLink link = enter();
  ASSERT_TRUE(show(link, 1));
  refer(link, {.offset = 0, .memory = 1, .size_bytes = 64}, lent_bytes);
  EXPECT_TRUE(is_cut_off());
}

TEST_F(HostileLender, is_cut_off_when_it_talks_nonsense) {
  HostLink link = enter();
  ASSERT_TRUE(link.send_lending(as_bytes(std::string("nonsense")), -1).ok());
  EXPECT_TRUE(is_cut_off());
}

// Nothing comes of what nobody asked for: what follows is served.
TEST_F(HostileLender, may_have_seen_what_it_was_not_shown) {
  HostLink link = enter();
  const LendingMessage seen = {.kind = static_cast<std::uint16_t>(LendingKind::seen), .number = 77};
  ASSERT_TRUE(link.send_lending(object_bytes(seen), -1).ok());
  const LendingMessage forget = {.kind = static_cast<std::uint16_t>(LendingKind::forget),
                                 .number = 77};
  ASSERT_TRUE(link.send_lending(object_bytes(forget), -1).ok());
  EXPECT_TRUE(show(link, 1));
  EXPECT_TRUE(server_.downs.empty());
}

class RingLendingToOthers : public RingLending {
 protected:
  RingLendingToOthers() : RingLending({.lending = {.to = ::geteuid() + 1}}) {}
};
TEST_F(RingLendingToOthers, shows_nothing_to_this_user) {
  EXPECT_EQ(client_.wire->traits(link_).lent_from_bytes, ~std::uint32_t{0});
  client_.wire->show_all(link_);
  EXPECT_FALSE(client_.lend(link_, front, payload()));
  EXPECT_FALSE(client_.wire->has_seen_all(link_));
}
// The other side does not know that, and goes on without.
TEST_F(RingLendingToOthers, looks_at_nothing_that_this_user_shows) {
  server_.wire->offer(memory_->bytes(), *memory_->backing());
  server_.wire->show_all(server_.ups.back());
  ASSERT_TRUE(server_.send(server_.ups.back(), "ordinary"));
  ASSERT_TRUE(client_.run_until([&] { return client_.packets.size() == 1; }));
  ASSERT_TRUE(client_.send(link_, "as well"));
  ASSERT_TRUE(received(1));
  EXPECT_FALSE(server_.wire->has_seen_all(server_.ups.back()));
  EXPECT_TRUE(client_.downs.empty() && server_.downs.empty());
}

class RingLendingToNobody : public RingLending {
 protected:
  RingLendingToNobody() : RingLending({}, {.lending = {.to = {}}}) {}
};
TEST_F(RingLendingToNobody, is_agreed_on_by_both) {
  client_.wire->show_all(link_);
  EXPECT_FALSE(client_.lend(link_, front, payload()));
  ASSERT_TRUE(client_.send(link_, "ordinary"));
  ASSERT_TRUE(received(1));
}

}  // namespace
}  // namespace remora::fabric::nic::ring
