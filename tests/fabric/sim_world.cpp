#include "tests/fabric/sim_world.h"

#include "base/random.h"
#include "fabric/nic/device/nic.h"
#include "fabric/nic/wire/sim/profile.h"
#include "fabric/nic/wire/sim/sim_wire.h"
#include "lab/world/crash_dma.h"
#include "lab/world/mapped_actor.h"
#include "runtime/virtual_loop.h"
#include "tests/fabric/crash_target.h"

namespace remora::fabric::contract {

namespace {

class SimWorld final : public World {
 public:
  SimWorld(std::uint64_t seed, const nic::sim::SimFaults& faults, bool one_host)
      : loop_({.seed = seed}),
        network_(loop_, *nic::sim::load_nic_profile("connectx-5"),
                 *nic::sim::load_memory_profile("optane"), Random(seed)),
        near_wire_(network_.add_node()),
        far_wire_(network_.add_node()),
        target_(seed),
        near_dram_(page_bytes, Platform{}, Random(mix(seed + 2))),
        near_dma_(loop_, near_dram_, Random(mix(seed + 3))),
        far_dma_(loop_, target_.memory(), Random(mix(seed + 1))),
        actors_(one_host ? std::make_unique<Actors>(*this, seed) : nullptr),
        near_(loop_, near_wire_, near_dma_, {.keys = nic::Keys::from_seed(2 * seed)}),
        far_(loop_, far_wire_, far_dma_, {.keys = nic::Keys::from_seed(2 * seed + 1)}) {
    network_.set_faults(faults);
  }

  Runtime& runtime() override { return loop_; }
  Device& near() override { return near_; }
  Device& far() override { return far_; }
  Region& far_region() override { return target_.region(); }
  bool survives(std::size_t offset, ConstBytes bytes) override {
    return target_.survives(offset, bytes);
  }
  ConnectOptions connect_options() const override { return {.timeout_ns = 300'000}; }
  bool exact_time() const override { return true; }
  bool places_late() const override { return actors_ == nullptr; }

  bool run_until(const std::function<bool()>& holds) override {
    constexpr std::uint64_t patience_ns = 10'000'000'000;
    const std::uint64_t end_ns = loop_.after(patience_ns);
    while (!holds()) {
      if (loop_.now_ns() > end_ns || loop_.step() != RunState::running) {
        return holds();
      }
    }
    return true;
  }

  void cut_wire() override { network_.partition(near_wire_.id(), far_wire_.id()); }
  void kill_far() override { network_.power_off(far_wire_.id()); }

 private:
  struct Actors {
    Actors(SimWorld& world, std::uint64_t seed)
        : near(world.loop_, world.host_, world.near_wire_, world.near_dram_, world.near_dma_,
               Random(mix(seed + 4))),
          far(world.loop_, world.host_, world.far_wire_, world.target_.memory(), world.far_dma_,
              Random(mix(seed + 5))) {}
    lab::MappedActor near;
    lab::MappedActor far;
  };

  VirtualLoop loop_;
  nic::sim::SimNetwork network_;
  nic::sim::SimWire& near_wire_;
  nic::sim::SimWire& far_wire_;
  CrashTarget target_;
  CrashMemory near_dram_;  // that nobody uses: near's memory is plain
  lab::CrashDma near_dma_;
  lab::CrashDma far_dma_;
  lab::MappedHost host_;
  std::unique_ptr<Actors> actors_;  // where both are processes of one machine
  nic::Nic near_;
  nic::Nic far_;
};

}  // namespace

std::unique_ptr<World> make_sim_world(std::uint64_t seed, const nic::sim::SimFaults& faults) {
  return std::make_unique<SimWorld>(seed, faults, false);
}

std::unique_ptr<World> make_sim_mapped_world(std::uint64_t seed) {
  return std::make_unique<SimWorld>(seed, nic::sim::SimFaults{}, true);
}

}  // namespace remora::fabric::contract
