#include "fabric/nic/wire/ring/ring_wire.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <set>

#include "fabric/nic/wire/ring/ring_testing.h"

namespace remora::fabric::nic::ring {
namespace {

const RingWireOptions small_wire = {.shape = {.ring_bytes = 4096, .mtu_bytes = 1024},
                                    .max_links = 8};

// Two wires on one loop, one of which listens.
class RingWireTest : public testing::Test {
 protected:
  RingWireTest() { REMORA_CHECK(server_.wire->listen(path()).ok(), "the test needs a listener"); }

  std::string path() const { return folder_.file("s"); }
  Result<LinkId> connect(Station& station) { return loop_.block_on(station.wire->connect(path())); }
  LinkId connected(Station& station) {
    const Result<LinkId> link = connect(station);
    EXPECT_TRUE(link.ok()) << link.status().message();
    return link.ok() ? *link : 0;
  }
  LinkId server_link() const { return server_.ups.back(); }

  TestFolder folder_;
  PollLoop loop_{{.spin_turns = 50}};
  Station server_{loop_, small_wire};
  Station client_{loop_, small_wire};
};

TEST_F(RingWireTest, says_what_it_is) {
  EXPECT_STREQ(client_.wire->traits().name, "ring");
  EXPECT_TRUE(client_.wire->traits().links.lossless);
  EXPECT_EQ(client_.wire->mtu_bytes(), 1024u);
  EXPECT_NE(client_.wire->gid(), server_.wire->gid());
  EXPECT_EQ(server_.wire->listen(folder_.file("t")).code(), Code::in_use);
}

TEST_F(RingWireTest, connects_two_devices) {
  const LinkId link = connected(client_);
  EXPECT_EQ(client_.wire->link_to(server_.wire->gid()), link);
  EXPECT_EQ(server_.wire->link_to(client_.wire->gid()), server_link());
  EXPECT_EQ(server_.wire->link_to(server_.wire->gid()), std::nullopt);
  EXPECT_EQ(server_.wire->peer(server_link())->identity.pid, ::getpid());
  EXPECT_EQ(client_.ups.size(), 1u);
}

TEST_F(RingWireTest, agrees_on_the_verbs_that_both_sides_offer) {
  RingWireOptions fewer = small_wire;
  fewer.agreed = {.verbs = vendor_verb(DurableVerb::sflush), .flush_worth = FlushWorth::pushed};
  Station without(loop_, fewer);
  const LinkId all = connected(client_);
  EXPECT_EQ(client_.wire->traits(all).agreed.verbs, all_vendor_verbs);
  EXPECT_EQ(client_.wire->traits(all).agreed.flush_worth, FlushWorth::persistent);
  const LinkId some = connected(without);
  EXPECT_EQ(without.wire->traits(some).agreed.verbs, vendor_verb(DurableVerb::sflush));
  EXPECT_EQ(without.wire->traits(some).agreed.flush_worth, FlushWorth::persistent);
  EXPECT_EQ(server_.wire->traits(server_link()).agreed.verbs, vendor_verb(DurableVerb::sflush));
  EXPECT_EQ(server_.wire->traits(server_link()).agreed.flush_worth, FlushWorth::pushed);
}

TEST_F(RingWireTest, carries_packets_both_ways_while_the_loop_sleeps_between) {
  const LinkId link = connected(client_);
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(client_.send(link, "ping"));
    ASSERT_TRUE(server_.run_until([&] { return server_.packets.size() == std::size_t(i) + 1; }));
    ASSERT_TRUE(server_.send(server_link(), "pong"));
    ASSERT_TRUE(client_.run_until([&] { return client_.packets.size() == std::size_t(i) + 1; }));
  }
  EXPECT_EQ(server_.packets.back(), "ping");
  EXPECT_EQ(client_.packets.back(), "pong");
}

TEST_F(RingWireTest, hands_over_a_rider_before_the_packet_that_carried_it) {
  const LinkId link = connected(client_);
  ASSERT_TRUE(client_.wire->traits(link).carries_riders);
  ASSERT_TRUE(client_.send(link, "one", "this is a rider."));
  ASSERT_TRUE(client_.send(link, "two"));
  ASSERT_TRUE(server_.run_until([&] { return server_.packets.size() == 3; }));
  EXPECT_EQ(server_.packets, (std::vector<std::string>{"this is a rider.", "one", "two"}));
}

// Cut off by what the rider said, it is not heard any more.
TEST_F(RingWireTest, hands_over_no_packet_of_a_link_that_its_rider_has_ended) {
  const LinkId link = connected(client_);
  server_.on_packet = [&](LinkId from) { server_.wire->cut_off(from); };
  ASSERT_TRUE(client_.send(link, "packet", "this is a rider."));
  ASSERT_TRUE(server_.run_until([&] { return !server_.downs.empty(); }));
  EXPECT_EQ(server_.packets, std::vector<std::string>{"this is a rider."});
}

// A flush does not wait for its packets to leave the processor, so one that falls asleep meanwhile
// is woken by the next poll, or by who goes to sleep, or away.
TEST_F(RingWireTest, wakes_who_falls_asleep_behind_a_flush) {
  const LinkId link = connected(client_);
  enum class By : std::uint8_t { poll, arming, leaving };
  for (const By by : {By::poll, By::arming, By::leaving}) {
    server_.polls_packets = false;
    ASSERT_TRUE(client_.send(link, "ping"));
    ASSERT_EQ(server_.wire->poll(server_, 64), 1u);
    ASSERT_TRUE(server_.wire->arm_wake());
    pollfd readable = {.fd = server_.wire->wake_fd(), .events = POLLIN, .revents = 0};
    ASSERT_EQ(::poll(&readable, 1, 0), 0);
    if (by == By::poll) {
      (void)client_.wire->poll(client_, 64);
    } else if (by == By::arming) {
      (void)client_.wire->arm_wake();
    } else {
      client_.wire->pause_begins();
    }
    EXPECT_EQ(::poll(&readable, 1, 0), 1);
    while (server_.wire->poll()) {
    }
  }
}

TEST_F(RingWireTest, gives_no_room_when_the_peer_does_not_read) {
  const LinkId link = connected(client_);
  std::size_t sent = 0;
  while (client_.send(link, std::string(1024 + max_header_bytes, 'x'))) {
    ASSERT_LT(++sent, 100u);
  }
  EXPECT_GE(sent, 2u);
  EXPECT_TRUE(server_.run_until([&] { return server_.packets.size() == sent; }));
  EXPECT_TRUE(client_.send(link, "more"));
  EXPECT_TRUE(client_.downs.empty());
}

TEST_F(RingWireTest, carries_control_messages) {
  const LinkId link = connected(client_);
  ASSERT_TRUE(client_.wire->send_control(link, as_bytes("queue pair 7")).ok());
  ASSERT_TRUE(server_.wire->send_control(server_link(), as_bytes("queue pair 9")).ok());
  EXPECT_TRUE(client_.run_until(
      [&] { return server_.controls.size() == 1 && client_.controls.size() == 1; }));
  EXPECT_EQ(server_.controls[0], "queue pair 7");
  EXPECT_EQ(client_.controls[0], "queue pair 9");
}

TEST_F(RingWireTest, refuses_a_second_link_between_the_same_two) {
  connected(client_);
  EXPECT_EQ(connect(client_).code(), Code::in_use);
  EXPECT_EQ(server_.refusals.size(), 1u);
  EXPECT_EQ(client_.wire->links(), 1u);
}

TEST_F(RingWireTest, refuses_a_link_to_itself) {
  EXPECT_EQ(connect(server_).code(), Code::invalid_argument);
}

TEST_F(RingWireTest, tells_the_connector_why_it_is_not_let_in) {
  server_.admission = Status(Code::permission_denied, "members only");
  const Result<LinkId> link = connect(client_);
  EXPECT_EQ(link.code(), Code::permission_denied);
  EXPECT_EQ(link.status().message(), "the listener refused the link: members only");
}

TEST_F(RingWireTest, takes_only_as_many_links_as_it_has_slots) {
  std::vector<std::unique_ptr<Station>> stations;
  for (std::uint32_t i = 0; i < small_wire.max_links; ++i) {
    stations.push_back(std::make_unique<Station>(loop_, small_wire));
    connected(*stations.back());
  }
  EXPECT_EQ(connect(client_).code(), Code::no_space);
  stations.pop_back();
  ASSERT_TRUE(server_.run_until([&] { return server_.wire->links() == small_wire.max_links - 1; }));
  connected(client_);
}

TEST_F(RingWireTest, gives_up_on_a_peer_that_says_nothing) {
  RingWireOptions hasty = small_wire;
  hasty.handshake_ns = 1'000'000;
  Station server(loop_, hasty);
  ASSERT_TRUE(server.wire->listen(folder_.file("hasty")).ok());
  const std::size_t descriptors = open_descriptors();
  const Result<HostSocket> silent = HostSocket::connect(folder_.file("hasty"));
  ASSERT_TRUE(silent.ok());
  ASSERT_TRUE(server.run_until([&] { return !server.refusals.empty(); }));
  EXPECT_EQ(server.refusals[0].code(), Code::timed_out);
  EXPECT_EQ(open_descriptors(), descriptors + 1);
}

// Who waits at the door is not asked for again and again.
TEST_F(RingWireTest, rests_while_it_has_no_descriptor_for_who_comes) {
  const Result<HostSocket> waiting = HostSocket::connect(path());
  ASSERT_TRUE(waiting.ok());
  rlimit usual = {};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &usual), 0);
  const int next = ::dup(0);
  ASSERT_GE(next, 0);
  ::close(next);
  const rlimit none = {.rlim_cur = static_cast<rlim_t>(next), .rlim_max = usual.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  const std::uint64_t begin_ns = loop_.now_ns();
  const bool was_refused = server_.run_until([&] { return !server_.refusals.empty(); });
  loop_.run_for(10'000'000);
  const std::uint64_t pauses = (loop_.now_ns() - begin_ns) / Door::rest_ns;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &usual), 0);
  ASSERT_TRUE(was_refused);
  EXPECT_LE(server_.refusals.size(), pauses + 1);
  const std::size_t descriptors = open_descriptors();
  EXPECT_TRUE(server_.run_until([&] { return open_descriptors() == descriptors + 1; }));
}

TEST_F(RingWireTest, gives_up_on_a_listener_that_says_nothing) {
  const Result<HostListener> silent = HostListener::open(folder_.file("silent"));
  ASSERT_TRUE(silent.ok());
  RingWireOptions hasty = small_wire;
  hasty.handshake_ns = 1'000'000;
  Station station(loop_, hasty);
  const std::size_t descriptors = open_descriptors();
  EXPECT_EQ(loop_.block_on(station.wire->connect(folder_.file("silent"))).code(), Code::timed_out);
  EXPECT_EQ(open_descriptors(), descriptors);
  EXPECT_EQ(link_mappings(), 0u);
}

TEST_F(RingWireTest, outlives_a_crowd_that_says_nothing) {
  RingWireOptions hasty = small_wire;
  hasty.handshake_ns = 20'000'000;
  Station server(loop_, hasty);
  ASSERT_TRUE(server.wire->listen(folder_.file("hasty")).ok());
  std::vector<HostSocket> crowd;
  while (crowd.size() < 2 * limits::handshakes) {
    Result<HostSocket> socket = HostSocket::connect(folder_.file("hasty"));
    if (socket.ok()) {
      crowd.push_back(std::move(*socket));
    } else {
      ASSERT_EQ(socket.code(), Code::no_space);
      loop_.run_for(1'000'000);
    }
  }
  ASSERT_TRUE(server.run_until([&] { return server.refusals.size() == crowd.size(); }));
  // Who stands still while it shakes hands is one of them.
  bool is_connected = false;
  for (int attempts = 0; attempts < 100 && !is_connected; ++attempts) {
    is_connected = loop_.block_on(client_.wire->connect(folder_.file("hasty"))).ok();
  }
  EXPECT_TRUE(is_connected);
}

TEST_F(RingWireTest, ends_a_connect_when_the_wire_goes) {
  const Result<HostListener> silent = HostListener::open(folder_.file("silent"));
  ASSERT_TRUE(silent.ok());
  auto station = std::make_unique<Station>(loop_, small_wire);
  Task<Result<LinkId>> connecting = station->wire->connect(folder_.file("silent"));
  station.reset();
  EXPECT_EQ(loop_.block_on(std::move(connecting)).code(), Code::closed);
}

TEST_F(RingWireTest, hands_over_what_was_sent_before_the_peer_closed) {
  auto leaver = std::make_unique<Station>(loop_, small_wire);
  const LinkId link = connected(*leaver);
  ASSERT_TRUE(leaver->send(link, "last words"));
  leaver.reset();
  ASSERT_TRUE(server_.run_until([&] { return !server_.downs.empty(); }));
  EXPECT_EQ(server_.packets, std::vector<std::string>{"last words"});
  EXPECT_EQ(server_.downs[0], server_link());
  EXPECT_EQ(link_mappings(), 0u);
}

TEST_F(RingWireTest, cuts_a_peer_off_on_both_sides) {
  const LinkId link = connected(client_);
  ASSERT_TRUE(client_.send(link, "before"));
  server_.wire->cut_off(server_link());
  EXPECT_FALSE(client_.send(link, "after"));  // at once, by the shared memory
  EXPECT_FALSE(server_.send(server_link(), "after"));
  EXPECT_EQ(server_.wire->link_to(client_.wire->gid()), std::nullopt);
  ASSERT_TRUE(client_.run_until([&] { return !client_.downs.empty() && !server_.downs.empty(); }));
  EXPECT_TRUE(server_.packets.empty());
  EXPECT_EQ(client_.wire->send_control(link, as_bytes("x")).code(), Code::closed);
  EXPECT_EQ(link_mappings(), 0u);
  connected(client_);
}

TEST_F(RingWireTest, may_cut_off_the_peer_whose_packet_it_reads) {
  const LinkId link = connected(client_);
  server_.on_packet = [&](LinkId from) {
    EXPECT_FALSE(server_.wire->reserve(from, 100).empty());
    server_.wire->cut_off(from);
    server_.wire->commit();
    server_.wire->flush();
  };
  ASSERT_TRUE(client_.send(link, "one"));
  ASSERT_TRUE(client_.send(link, "two"));
  ASSERT_TRUE(server_.run_until([&] { return !server_.downs.empty(); }));
  EXPECT_EQ(server_.packets, std::vector<std::string>{"one"});
}

TEST_F(RingWireTest, never_gives_an_id_twice) {
  std::set<LinkId> seen;
  for (int i = 0; i < 50; ++i) {
    const LinkId link = connected(client_);
    EXPECT_TRUE(seen.insert(link).second);
    client_.wire->cut_off(link);
    const std::size_t lost = static_cast<std::size_t>(i) + 1;
    ASSERT_TRUE(client_.run_until([&] {
      return client_.wire->links() + server_.wire->links() == 0;
    })) << lost;
    EXPECT_TRUE(client_.wire->reserve(link, 8).empty());
  }
}

TEST_F(RingWireTest, serves_a_quiet_link_beside_a_busy_one) {
  const LinkId busy = connected(client_);
  Station quiet(loop_, small_wire);
  const LinkId link = connected(quiet);
  while (client_.send(busy, "noise")) {
  }
  ASSERT_TRUE(quiet.send(link, "word"));
  server_.packets.clear();
  server_.wire->poll(server_, 1);
  server_.wire->poll(server_, 2 * limits::packets_per_link);
  EXPECT_EQ(std::count(server_.packets.begin(), server_.packets.end(), "word"), 1);
}

TEST_F(RingWireTest, takes_a_link_down_whose_ring_is_corrupt) {
  // A peer that keeps to the handshake and to nothing after it.
  Result<HostHandshake> hostile =
      HostHandshake::connect(path(), {.gid = {6}, .shape = small_wire.shape});
  ASSERT_TRUE(hostile.ok());
  ASSERT_TRUE(server_.run_until([&] { return server_.ups.size() == 1; }));
  Result<std::optional<HostLink>> link = hostile->step([](const HostPeer&) { return Status(); });
  ASSERT_TRUE(link.ok() && link->has_value());
  std::byte* record = (*link)->producer().reserve(8).data() - byte_ring::size_word_bytes;
  store(record, std::uint32_t{100'000});
  ASSERT_TRUE(server_.run_until([&] { return !server_.downs.empty(); }));
  EXPECT_TRUE(server_.packets.empty());
  EXPECT_TRUE((*link)->revoked());
}

TEST_F(RingWireTest, takes_a_link_down_that_talks_nonsense_on_its_socket) {
  Result<HostHandshake> hostile =
      HostHandshake::connect(path(), {.gid = {6}, .shape = small_wire.shape});
  ASSERT_TRUE(hostile.ok());
  ASSERT_TRUE(server_.run_until([&] { return server_.ups.size() == 1; }));
  Result<std::optional<HostLink>> link = hostile->step([](const HostPeer&) { return Status(); });
  ASSERT_TRUE(link.ok() && link->has_value());
  ASSERT_EQ(::send((*link)->descriptor(), "nonsense", 8, 0), 8);
  EXPECT_TRUE(server_.run_until([&] { return !server_.downs.empty(); }));
}

TEST(RingWire, refuses_options_that_cannot_be) {
  PollLoop loop;
  EXPECT_EQ(RingWire::create(loop, nullptr, {.shape = {1000, 256}}).code(), Code::invalid_argument);
  EXPECT_EQ(RingWire::create(loop, nullptr, {.max_links = 257}).code(), Code::invalid_argument);
  EXPECT_TRUE(RingWire::create(loop, nullptr).ok());
}

}  // namespace
}  // namespace remora::fabric::nic::ring
