#include "fabric/nic/wire/sim/sim_network.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "fabric/nic/packet/packet.h"
#include "fabric/nic/wire/sim/sim_wire.h"
#include "runtime/virtual_loop.h"

namespace remora::fabric::nic::sim {
namespace {

// A NIC that only notes what it is handed.
class Listener final : public Poller, public PacketSink {
 public:
  Listener(Runtime& runtime, SimWire& wire) : runtime_(runtime), wire_(wire) {
    runtime.add_poller(*this);
  }

  bool poll() override { return wire_.poll(*this, budget) != 0; }
  void receive(LinkId from, ConstBytes packet) override {
    numbers.push_back(load<std::uint32_t>(packet.data() + 4));
    links.push_back(from);
    times_ns.push_back(runtime_.now_ns());
  }
  void link_down(LinkId link) override { down.push_back(link); }

  std::size_t budget = 4;
  std::vector<std::uint32_t> numbers;
  std::vector<LinkId> links;
  std::vector<std::uint64_t> times_ns;
  std::vector<LinkId> down;

 private:
  Runtime& runtime_;
  SimWire& wire_;
};

struct Net {
  explicit Net(std::uint64_t seed = 1, const SimNetworkOptions& options = {})
      : loop({.seed = seed}),
        network(loop, *load_nic_profile("connectx-5"), *load_memory_profile("optane"), Random(seed),
                options) {
    network.add_node();
    network.add_node();
  }

  SimWire& a() { return network.node(0); }
  SimWire& b() { return network.node(1); }

  static bool send(SimWire& from, NodeId to, std::uint32_t number, std::size_t size_bytes = 64) {
    const Bytes packet = from.reserve(to, size_bytes);
    if (packet.empty()) {
      return false;
    }
    packet[0] = std::byte{static_cast<std::uint8_t>(PacketOpcode::write_only)};
    store(packet.data() + 4, number);
    from.commit();
    return true;
  }
  void run() { loop.run_for(never_ns); }

  VirtualLoop loop;
  SimNetwork network;
};

std::vector<std::uint32_t> up_to(std::uint32_t count) {
  std::vector<std::uint32_t> numbers(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    numbers[i] = i;
  }
  return numbers;
}

TEST(SimNetwork, finds_nodes_by_their_identity) {
  Net net;
  EXPECT_NE(net.a().gid(), net.b().gid());
  EXPECT_EQ(net.a().link_to(net.b().gid()), 1u);
  EXPECT_EQ(net.a().link_to(net.a().gid()), 0u);
  EXPECT_EQ(net.a().link_to(Gid{}), std::nullopt);
}

TEST(SimNetwork, delivers_once_in_order_and_later) {
  Net net;
  Listener listener(net.loop, net.b());
  for (std::uint32_t i = 0; i < 100; ++i) {
    ASSERT_TRUE(Net::send(net.a(), 1, i));
  }
  EXPECT_TRUE(listener.numbers.empty());
  net.run();
  EXPECT_EQ(listener.numbers, up_to(100));
  EXPECT_EQ(listener.links, std::vector<LinkId>(100, 0));
  EXPECT_GT(listener.times_ns.front(), 500u);
  EXPECT_LT(listener.times_ns.front(), 2'000u);
}

TEST(SimNetwork, a_short_packet_overtakes_no_long_one) {
  Net net;
  Listener listener(net.loop, net.b());
  for (std::uint32_t i = 0; i < 100; ++i) {
    ASSERT_TRUE(Net::send(net.a(), 1, i, i % 3 == 0 ? 4096 : 28));
  }
  net.run();
  EXPECT_EQ(listener.numbers, up_to(100));
}

TEST(SimNetwork, bandwidth_bounds_the_rate) {
  Net net;
  Listener listener(net.loop, net.b());
  for (std::uint32_t i = 0; i < 100; ++i) {
    ASSERT_TRUE(Net::send(net.a(), 1, i, 4096));
  }
  net.run();
  const std::uint64_t span_ns = listener.times_ns.back() - listener.times_ns.front();
  EXPECT_NEAR(static_cast<double>(span_ns), 99 * 4096 * 8 / 100.0, 200.0);  // 100 Gbit/s
}

TEST(SimNetwork, a_full_send_queue_gives_no_credit_until_a_packet_has_left) {
  Net net(1, {.send_queue_packets = 4});
  Listener listener(net.loop, net.b());
  std::uint32_t sent = 0;
  while (Net::send(net.a(), 1, sent)) {
    ++sent;
  }
  EXPECT_EQ(sent, 4u);
  net.loop.step();  // the event at which there is room
  EXPECT_TRUE(Net::send(net.a(), 1, sent));
  net.run();
  EXPECT_EQ(listener.numbers, up_to(5));
}

TEST(SimNetwork, a_full_receive_queue_drops) {
  Net net(1, {.send_queue_packets = 256, .receive_queue_packets = 10});
  Listener listener(net.loop, net.b());
  for (std::uint32_t i = 0; i < 20; ++i) {
    ASSERT_TRUE(Net::send(net.a(), 1, i));
  }
  net.run();
  EXPECT_EQ(listener.numbers, up_to(10));
  EXPECT_EQ(net.network.counters().overflowed, 10u);
}

TEST(SimNetwork, loses_as_often_as_it_is_told) {
  Net net;
  net.network.set_faults({.loss_ppm = 250'000});
  Listener listener(net.loop, net.b());
  for (std::uint32_t i = 0; i < 4000; ++i) {
    ASSERT_TRUE(Net::send(net.a(), 1, i));
    net.run();
  }
  EXPECT_NEAR(static_cast<double>(listener.numbers.size()), 3000.0, 150.0);
  EXPECT_TRUE(std::is_sorted(listener.numbers.begin(), listener.numbers.end()));
  EXPECT_EQ(net.network.counters().lost + listener.numbers.size(), 4000u);
}

TEST(SimNetwork, duplicates_and_reorders_but_loses_nothing) {
  Net net;
  net.network.set_faults({.duplicate_ppm = 100'000, .reorder_ppm = 100'000});
  Listener listener(net.loop, net.b());
  for (std::uint32_t i = 0; i < 200; ++i) {
    ASSERT_TRUE(Net::send(net.a(), 1, i));
  }
  net.run();
  EXPECT_FALSE(std::is_sorted(listener.numbers.begin(), listener.numbers.end()));
  EXPECT_EQ(listener.numbers.size(), 200 + net.network.counters().duplicated);
  EXPECT_GT(net.network.counters().duplicated, 5u);
  std::sort(listener.numbers.begin(), listener.numbers.end());
  listener.numbers.erase(std::unique(listener.numbers.begin(), listener.numbers.end()),
                         listener.numbers.end());
  EXPECT_EQ(listener.numbers, up_to(200));
}

TEST(SimNetwork, a_spike_delays_and_keeps_the_order) {
  Net net;
  net.network.set_faults({.spike_ppm = 50'000});
  Listener listener(net.loop, net.b());
  for (std::uint32_t i = 0; i < 200; ++i) {
    ASSERT_TRUE(Net::send(net.a(), 1, i));
  }
  net.run();
  EXPECT_EQ(listener.numbers, up_to(200));
  EXPECT_GT(listener.times_ns.back(), 100'000u);
}

TEST(SimNetwork, a_partition_stops_even_what_is_on_its_way) {
  Net net;
  Listener listener(net.loop, net.b());
  ASSERT_TRUE(Net::send(net.a(), 1, 0));
  net.network.partition(1, 0);
  ASSERT_TRUE(Net::send(net.a(), 1, 1));
  net.run();
  EXPECT_TRUE(listener.numbers.empty());
  EXPECT_TRUE(listener.down.empty());
  net.network.heal(0, 1);
  ASSERT_TRUE(Net::send(net.a(), 1, 2));
  net.run();
  EXPECT_EQ(listener.numbers, std::vector<std::uint32_t>{2});
}

TEST(SimNetwork, a_node_without_power_takes_nothing_and_tells_nobody) {
  Net net;
  Listener a(net.loop, net.a());
  Listener b(net.loop, net.b());
  ASSERT_TRUE(Net::send(net.a(), 1, 0));
  net.network.power_off(1);
  EXPECT_EQ(net.a().link_to(net.b().gid()), 1u);
  ASSERT_TRUE(Net::send(net.a(), 1, 1));
  EXPECT_FALSE(Net::send(net.b(), 0, 2));
  net.run();
  EXPECT_TRUE(a.down.empty());
  EXPECT_TRUE(b.numbers.empty());
  net.network.power_on(1);
  ASSERT_TRUE(Net::send(net.a(), 1, 3));
  net.run();
  EXPECT_EQ(b.numbers, std::vector<std::uint32_t>{3});
}

TEST(SimNetwork, a_power_cut_takes_what_has_not_left) {
  Net net;
  Listener a(net.loop, net.a());
  for (std::uint32_t i = 0; i < 100; ++i) {
    ASSERT_TRUE(Net::send(net.b(), 0, i, 4096));
  }
  net.loop.run_for(10'000);  // some 28 of them have left
  net.network.power_off(1);
  net.network.power_on(1);
  net.run();
  EXPECT_GT(a.numbers.size(), 10u);
  EXPECT_LT(a.numbers.size(), 50u);
}

TEST(SimNetwork, a_peer_that_is_cut_off_is_told_and_heard_no_more) {
  Net net;
  Listener a(net.loop, net.a());
  Listener b(net.loop, net.b());
  ASSERT_TRUE(Net::send(net.b(), 0, 0));
  net.a().cut_off(1);
  EXPECT_EQ(net.a().link_to(net.b().gid()), std::nullopt);
  EXPECT_FALSE(Net::send(net.a(), 1, 1));
  net.run();
  EXPECT_EQ(a.down, std::vector<LinkId>{1});
  EXPECT_EQ(b.down, std::vector<LinkId>{0});
  EXPECT_TRUE(a.numbers.empty());
}

std::uint64_t trace_of(std::uint64_t seed) {
  Net net(seed);
  net.network.set_faults(
      {.loss_ppm = 50'000, .duplicate_ppm = 50'000, .reorder_ppm = 50'000, .spike_ppm = 10'000});
  Listener listener(net.loop, net.b());
  for (std::uint32_t i = 0; i < 200; ++i) {
    Net::send(net.a(), 1, i);
  }
  net.run();
  for (const std::uint32_t number : listener.numbers) {
    net.loop.trace("packet", number);
  }
  return net.loop.trace_hash();
}

TEST(SimNetwork, the_seed_decides_everything) {
  EXPECT_EQ(trace_of(1), trace_of(1));
  EXPECT_NE(trace_of(1), trace_of(2));
}

}  // namespace
}  // namespace remora::fabric::nic::sim
