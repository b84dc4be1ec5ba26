// Links between processes that die, stop and come back.
#include <gtest/gtest.h>

#include "fabric/nic/wire/ring/ring_testing.h"
#include "fabric/nic/wire/ring/ring_wire.h"

namespace remora::fabric::nic::ring {
namespace {

const RingWireOptions small_ring = {.shape = {.ring_bytes = 4096, .mtu_bytes = 1024}};

// A process that connects, sends back every packet, and lives until it is killed or its link ends.
void echo_until_down(const std::string& path) {
  PollLoop loop({.spin_turns = 50});
  Station station(loop, small_ring);
  station.on_packet = [&](LinkId from) { station.send(from, station.packets.back()); };
  const Result<LinkId> link = loop.block_on(station.wire->connect(path));
  if (!link.ok()) {
    ::_exit(2);
  }
  ::_exit(station.run_until([&] { return !station.downs.empty(); }) ? 0 : 3);
}

// A process that listens, sends a word to whom it lets in, and waits to be killed.
void listen_for_ever(const std::string& path) {
  PollLoop loop({.spin_turns = 50});
  Station station(loop, small_ring);
  if (!station.wire->listen(path).ok()) {
    ::_exit(2);
  }
  station.run_until([&] { return !station.ups.empty(); });
  station.send(station.ups[0], "welcome");
  station.run_until([] { return false; });
}

class RingProcess : public testing::Test {
 protected:
  std::string path() const { return folder_.file("s"); }
  void listen() { ASSERT_TRUE(station_.wire->listen(path()).ok()); }
  bool up(std::size_t count) {
    return station_.run_until([&] { return station_.ups.size() == count; });
  }
  // Both the NIC's side and the owner's are told.
  bool down(std::size_t count) {
    return station_.run_until([&] { return station_.downs.size() == count; });
  }

  TestFolder folder_;
  PollLoop loop_{{.spin_turns = 50}};
  Station station_{loop_, small_ring};
};

TEST_F(RingProcess, exchanges_packets_with_another) {
  listen();
  Child child([&] { echo_until_down(path()); });
  ASSERT_TRUE(up(1));
  for (std::size_t i = 0; i < 200; ++i) {
    ASSERT_TRUE(station_.send(station_.ups[0], std::to_string(i)));
    ASSERT_TRUE(station_.run_until([&] { return station_.packets.size() == i + 1; }));
    EXPECT_EQ(station_.packets[i], std::to_string(i));
  }
  EXPECT_EQ(station_.peers[0].identity.pid, child.pid());
  station_.wire->cut_off(station_.ups[0]);
  EXPECT_EQ(child.wait(), 0);
}

TEST_F(RingProcess, notices_that_a_connector_was_killed) {
  listen();
  Child child([&] { echo_until_down(path()); });
  ASSERT_TRUE(up(1));
  child.kill();
  ASSERT_TRUE(down(2));
  EXPECT_EQ(station_.downs[0], station_.ups[0]);
  EXPECT_EQ(station_.wire->links(), 0u);
}

TEST_F(RingProcess, notices_that_a_listener_was_killed_and_another_takes_its_place) {
  for (std::size_t round = 1; round <= 2; ++round) {
    Child child([&] { listen_for_ever(path()); });
    ASSERT_TRUE(
        station_.run_until([&] { return loop_.block_on(station_.wire->connect(path())).ok(); }));
    ASSERT_TRUE(station_.run_until([&] { return station_.packets.size() == round; }));
    child.kill();
    ASSERT_TRUE(down(2 * round));
    EXPECT_TRUE(std::filesystem::exists(path()));  // the second listener finds it stale
  }
}

TEST_F(RingProcess, cuts_off_a_peer_that_is_stopped) {
  listen();
  Child child([&] { echo_until_down(path()); });
  ASSERT_TRUE(up(1));
  child.stop();
  int sent = 0;
  while (station_.send(station_.ups[0], std::string(500, 'x'))) {
    ASSERT_LT(++sent, 100);
  }
  EXPECT_TRUE(station_.downs.empty());
  station_.wire->cut_off(station_.ups[0]);
  ASSERT_TRUE(down(2));
  const std::size_t packets = station_.packets.size();
  child.resume();
  EXPECT_EQ(child.wait(), 0);  // it finds its link gone
  loop_.run_for(1'000'000);
  EXPECT_EQ(station_.packets.size(), packets);
  EXPECT_EQ(link_mappings(), 0u);
}

TEST_F(RingProcess, goes_on_with_a_peer_that_was_stopped_for_a_while) {
  listen();
  Child child([&] { echo_until_down(path()); });
  ASSERT_TRUE(up(1));
  child.stop();
  std::size_t sent = 0;
  while (station_.send(station_.ups[0], std::string(300, 'x'))) {
    ++sent;
  }
  child.resume();
  // The station sleeps until there is room: a bell of the peer wakes it.
  ASSERT_TRUE(
      station_.run_until([&] { return station_.send(station_.ups[0], std::string(300, 'y')); }));
  EXPECT_TRUE(station_.run_until([&] { return station_.packets.size() >= sent / 2; }));
  EXPECT_TRUE(station_.downs.empty());
}

TEST_F(RingProcess, leaks_nothing_over_many_lives_and_deaths) {
  listen();
  loop_.run_for(1'000'000);
  const std::size_t descriptors = open_descriptors();
  for (std::size_t round = 1; round <= 200; ++round) {
    Child child([&] { echo_until_down(path()); });
    ASSERT_TRUE(up(round)) << round;
    station_.send(station_.ups.back(), "x");
    child.kill();
    ASSERT_TRUE(down(2 * round)) << round;
    ASSERT_EQ(open_descriptors(), descriptors) << round;
    ASSERT_EQ(link_mappings(), 0u) << round;
  }
}

TEST_F(RingProcess, outlives_one_that_dies_at_any_moment_of_the_handshake) {
  listen();
  const std::size_t descriptors = open_descriptors();
  for (int round = 0; round < 50; ++round) {
    Child child([&] { echo_until_down(path()); });
    loop_.run_for(static_cast<std::uint64_t>(round) * 20'000);
    child.kill();
  }
  Child last([&] { echo_until_down(path()); });
  ASSERT_TRUE(station_.run_until(
      [&] { return !station_.peers.empty() && station_.peers.back().identity.pid == last.pid(); }));
  ASSERT_TRUE(station_.run_until([&] { return station_.wire->links() == 1; }));
  last.kill();
  ASSERT_TRUE(station_.run_until([&] { return station_.wire->links() == 0; }));
  ASSERT_TRUE(station_.run_until([&] { return open_descriptors() == descriptors; }));
}

}  // namespace
}  // namespace remora::fabric::nic::ring
