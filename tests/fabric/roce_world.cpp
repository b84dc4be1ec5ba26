#include "tests/fabric/roce_world.h"

#include <gtest/gtest.h>

#include "fabric/nic/device/nic.h"
#include "fabric/nic/dma/plain_dma.h"
#include "fabric/nic/wire/roce/roce_net.h"
#include "fabric/nic/wire/roce/roce_wire.h"
#include "runtime/poll_loop.h"
#include "tests/fabric/far_memory.h"

namespace remora::fabric::contract {

namespace {

using Enter = void (TwoNetworks::*)(const std::function<void()>&) const;

nic::roce::RoceWireOptions options_of(const RoceSetting& setting, std::uint64_t seed) {
  return {.local = {nic::roce::parse_address(setting.address).value(), 0},
          .mtu_bytes = setting.mtu_bytes,
          .loss_ppm = setting.loss_ppm,
          .loss_seed = seed};
}

// Runs it in the network of that end, with the address that the end has there.
void at_end(const RoceSetting& setting, bool near,
            const std::function<void(const RoceSetting& here)>& what) {
  if (setting.networks == nullptr) {
    what(setting);
    return;
  }
  RoceSetting here = setting;
  here.address = near ? TwoNetworks::near_address : TwoNetworks::far_address;
  const Enter enter = near ? &TwoNetworks::in_near : &TwoNetworks::in_far;
  (setting.networks.get()->*enter)([&] { what(here); });
}

// Either a wire alone, or with what finds its peer.
struct RoceEnd {
  nic::roce::RoceWire& wire() { return net != nullptr ? net->wire() : *alone; }

  std::unique_ptr<nic::roce::RoceWire> alone;
  std::unique_ptr<nic::roce::RoceNet> net;
};

RoceEnd make_alone(const RoceSetting& setting, std::uint64_t seed, bool near) {
  RoceEnd end;
  at_end(setting, near, [&](const RoceSetting& here) {
    Result<std::unique_ptr<nic::roce::RoceWire>> wire =
        nic::roce::RoceWire::create(options_of(here, seed));
    EXPECT_TRUE(wire.ok()) << wire.status().message();
    end.alone = std::move(wire).value();
  });
  return end;
}

RoceEnd make_listener(Runtime& loop, nic::LinkOwner& owner, const RoceSetting& setting) {
  RoceEnd end;
  at_end(setting, false, [&](const RoceSetting& here) {
    auto net =
        nic::roce::RoceNet::listen(loop, owner, {nic::roce::parse_address(here.address).value(), 0},
                                   {.mtu_bytes = setting.mtu_bytes});
    EXPECT_TRUE(net.ok()) << net.status().message();
    end.net = std::move(net).value();
  });
  return end;
}

RoceEnd make_connector(PollLoop& loop, nic::LinkOwner& owner, const RoceSetting& setting,
                       const nic::roce::IpEndpoint& to) {
  RoceEnd end;
  at_end(setting, true, [&](const RoceSetting&) {
    auto net = loop.block_on(nic::roce::RoceNet::connect(loop, owner, to));
    EXPECT_TRUE(net.ok()) << net.status().message();
    end.net = std::move(net).value();
  });
  return end;
}

// Wakes a loop that has nothing left to do.
struct Patience final : Timer {
  void expire() override { over = true; }
  bool over = false;
};

class RoceWorld final : public World {
 public:
  RoceWorld(std::uint64_t seed, const RoceSetting& setting)
      : loses_(setting.loss_ppm != 0 || setting.is_rough),
        far_end_(setting.introduces ? make_listener(loop_, owner_, setting)
                                    : make_alone(setting, 2 * seed + 1, false)),
        near_end_(setting.introduces
                      ? make_connector(loop_, owner_, setting, far_end_.wire().local())
                      : make_alone(setting, 2 * seed, true)),
        near_wire_(near_end_.wire()),
        far_wire_(far_end_.wire()),
        target_(make_far_memory(seed)) {
    if (!setting.introduces) {
      introduce(near_wire_, far_wire_);
      introduce(far_wire_, near_wire_);
    }
    near_ = std::make_unique<nic::Nic>(loop_, near_wire_, near_dma_);
    far_ = std::make_unique<nic::Nic>(loop_, far_wire_, far_dma_);
    EXPECT_TRUE(!setting.introduces || run_until([&] { return owner_.is_up; }));
  }
  ~RoceWorld() override {
    EXPECT_EQ(near_wire_.counters().bad_icrc + far_wire_.counters().bad_icrc, 0u);
    EXPECT_EQ(near_wire_.counters().malformed + far_wire_.counters().malformed, 0u);
  }

  Runtime& runtime() override { return loop_; }
  Device& near() override { return *near_; }
  Device& far() override { return *far_; }
  Region& far_region() override { return target_->region(); }
  bool survives(std::size_t offset, ConstBytes bytes) override {
    return target_->survives(offset, bytes);
  }
  // With losses, some of the last packets get lost, and time alone tells. Under a sanitizer a turn
  // in which a test looks at all its bytes takes long.
  ConnectOptions connect_options() const override {
#if defined(__SANITIZE_ADDRESS__)
    constexpr std::uint64_t short_ns = 25'000'000;
#else
    constexpr std::uint64_t short_ns = 10'000'000;
#endif
    return {.timeout_ns = loses_ ? short_ns : 100'000'000u};
  }
  bool exact_time() const override {
    return false;
  }
  bool places_late() const override {
    return false;
  }

  bool run_until(const std::function<bool()>& holds) override {
    constexpr std::uint64_t patience_ns = 60'000'000'000;
    Patience patience;
    loop_.arm(patience, loop_.after(patience_ns));
    while (!holds()) {
      if (patience.over) {
        return false;
      }
      loop_.turn();
    }
    return true;
  }

  void cut_wire() override {
    near_wire_.mute(true);
    far_wire_.mute(true);
  }
  void kill_far() override {
    far_wire_.mute(true);
  }

 private:
  static void introduce(nic::roce::RoceWire& to, const nic::roce::RoceWire& peer) {
    const Result<nic::LinkId> link = to.add_link(
        {.endpoint = peer.local(), .gid = peer.gid(), .agreed = {.verbs = all_vendor_verbs}});
    EXPECT_TRUE(link.ok()) << link.status().message();
  }

  // That the listener is told of the link.
  struct Owner final : nic::LinkOwner {
    void link_up(nic::LinkId, const nic::HostPeer&) override { is_up = true; }
    bool is_up = false;
  };

  const bool loses_;
  PollLoop loop_;
  Owner owner_;
  RoceEnd far_end_;
  RoceEnd near_end_;
  nic::roce::RoceWire& near_wire_;
  nic::roce::RoceWire& far_wire_;
  std::unique_ptr<FarMemory> target_;
  nic::PlainDma near_dma_;
  nic::PlainDma far_dma_;
  std::unique_ptr<nic::Nic> near_;
  std::unique_ptr<nic::Nic> far_;
};

}  // namespace

std::unique_ptr<World> make_roce_world(std::uint64_t seed, const RoceSetting& setting) {
  return std::make_unique<RoceWorld>(seed, setting);
}

std::string no_roce_at(const std::string& address) {
  const Result<std::unique_ptr<nic::roce::RoceWire>> wire =
      nic::roce::RoceWire::create(options_of({.address = address}, 1));
  return wire.ok() ? "" : std::string(wire.status().message());
}

}  // namespace remora::fabric::contract
