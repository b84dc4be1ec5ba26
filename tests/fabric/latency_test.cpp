// What the simulated wire makes of a hardware profile: the modelled latency of each verb, one at a
// time on an idle network, must be one that such hardware could show.
#include <fmt/format.h>

#include <iostream>

#include "fabric/nic/device/nic.h"
#include "fabric/nic/dma/plain_dma.h"
#include "fabric/nic/wire/sim/profile.h"
#include "fabric/nic/wire/sim/sim_wire.h"
#include "runtime/virtual_loop.h"
#include "tests/fabric/crash_target.h"
#include "tests/fabric/pair.h"

namespace remora::fabric::contract {
namespace {

class ProfileWorld final : public World {
 public:
  explicit ProfileWorld(const std::string& nic_name)
      : network_(loop_, *nic::sim::load_nic_profile(nic_name),
                 *nic::sim::load_memory_profile("optane"), Random(1)) {}

  Runtime& runtime() override { return loop_; }
  Device& near() override { return near_; }
  Device& far() override { return far_; }
  Region& far_region() override { return target_.region(); }
  bool survives(std::size_t offset, ConstBytes bytes) override {
    return target_.survives(offset, bytes);
  }
  bool exact_time() const override { return true; }
  bool places_late() const override { return false; }
  bool run_until(const std::function<bool()>& holds) override {
    while (!holds()) {
      if (loop_.step() != RunState::running) {
        return holds();
      }
    }
    return true;
  }
  void cut_wire() override {}
  void kill_far() override {}

 private:
  VirtualLoop loop_;
  nic::sim::SimNetwork network_;
  CrashTarget target_{1};
  nic::PlainDma dma_{&loop_};
  nic::Nic near_{loop_, network_.add_node(), dma_};
  nic::Nic far_{loop_, network_.add_node(), dma_};
};

struct Latencies {
  std::uint64_t write_ns;
  std::uint64_t read_ns;
  std::uint64_t send_ns;   // until the sender's completion
  std::uint64_t flush_ns;  // WRITE and FLUSH to persistence, posted together
};

std::uint64_t span_of(Pair& pair, std::vector<SendWork> works) {
  const std::uint64_t begin_ns = pair.world().runtime().now_ns();
  const std::size_t before = pair.near.sends.size();
  for (const SendWork& work : works) {
    pair.post(work);
  }
  pair.wait_sends(before + works.size());
  EXPECT_TRUE(all_succeeded(pair.near.sends));
  return pair.world().runtime().now_ns() - begin_ns;
}

Latencies measure(const std::string& nic_name, std::size_t size) {
  ProfileWorld world(nic_name);
  Pair pair(world);
  pair.post_receive(1, 0, 65'536);
  pair.post_receive(2, 0, 65'536);
  // Translations are fetched once.
  (void)span_of(pair, {pair.write(0, 0, 0, size), pair.send(1, 0, size)});
  Latencies got{};
  got.write_ns = span_of(pair, {pair.write(2, 0, 0, size)});
  got.read_ns = span_of(pair, {pair.read(3, 0, 0, size)});
  got.send_ns = span_of(pair, {pair.send(4, 0, size)});
  got.flush_ns = span_of(pair, {pair.write(5, 0, 0, size), pair.flush(6, 0, size)});
  EXPECT_EQ(world.near().counters().retransmissions, 0u) << "a perfect wire needs none";
  return got;
}

TEST(ModelledLatency, of_each_verb_is_plausible) {
  for (const char* nic_name : {"connectx-3", "connectx-4", "connectx-5"}) {
    for (const std::size_t size : {64u, 4096u, 65'536u}) {
      const Latencies got = measure(nic_name, size);
      std::cout << fmt::format(
          "modelled {}, {:>5} B: WRITE {:.2f} us, READ {:.2f} us, SEND {:.2f} us, WRITE + FLUSH "
          "{:.2f} us\n",
          nic_name, size, static_cast<double>(got.write_ns) / 1e3,
          static_cast<double>(got.read_ns) / 1e3, static_cast<double>(got.send_ns) / 1e3,
          static_cast<double>(got.flush_ns) / 1e3);
      const std::uint64_t least_ns = 1'200 + size / 13;  // 13 GB/s is beyond all three
      EXPECT_GT(got.write_ns, least_ns);
      EXPECT_LT(got.write_ns, 3'000 + size / 2);
      EXPECT_GT(got.read_ns, least_ns);
      EXPECT_LT(got.read_ns, 3'000 + size / 2);
      EXPECT_GT(got.flush_ns, got.write_ns);
    }
  }
}

}  // namespace
}  // namespace remora::fabric::contract
