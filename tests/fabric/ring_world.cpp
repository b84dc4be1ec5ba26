#include "tests/fabric/ring_world.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "fabric/nic/device/nic.h"
#include "fabric/nic/dma/plain_dma.h"
#include "fabric/nic/wire/ring/ring_wire.h"
#include "runtime/poll_loop.h"
#include "tests/fabric/far_memory.h"
#include "tests/fabric/mirrored_target.h"
#include "tests/fabric/temporary_folder.h"

namespace remora::fabric::contract {

namespace {

std::unique_ptr<nic::ring::RingWire> make_wire(Runtime& runtime,
                                               const nic::ring::LendingOptions& lending) {
  Result<std::unique_ptr<nic::ring::RingWire>> wire =
      nic::ring::RingWire::create(runtime, nullptr, {.lending = lending});
  EXPECT_TRUE(wire.ok()) << wire.status().message();
  return std::move(wire).value();
}

class RingWorld final : public World {
 public:
  RingWorld(std::unique_ptr<FarMemory> target, const nic::ring::LendingOptions& lending)
      : near_wire_(make_wire(loop_, lending)),
        far_wire_(make_wire(loop_, lending)),
        target_(std::move(target)),
        lends_(lending.to.has_value()) {
    const std::string path = folder_.path() + "/far.sock";
    const Status listening = far_wire_->listen(path);
    EXPECT_TRUE(listening.ok()) << listening.message();
    near_ = std::make_unique<nic::Nic>(loop_, *near_wire_, near_dma_);
    far_ = std::make_unique<nic::Nic>(loop_, *far_wire_, far_dma_);
    const Result<nic::LinkId> link = loop_.block_on(near_wire_->connect(path));
    EXPECT_TRUE(link.ok()) << link.status().message();
    EXPECT_TRUE(run_until([&] { return far_wire_->links() == 1; }));
  }

  Runtime& runtime() override { return loop_; }
  Device& near() override { return *near_; }
  Device& far() override { return *far_; }
  Region& far_region() override { return target_->region(); }
  bool survives(std::size_t offset, ConstBytes bytes) override {
    return target_->survives(offset, bytes);
  }
  bool exact_time() const override { return false; }
  bool places_late() const override { return false; }
  std::uint64_t error_notices() const override { return 1; }
  bool lends() const override { return lends_; }
  void connected(QueuePair&, const RemoteAddress&) override {
    if (lends_) {
      get_seen(*near_wire_, *far_wire_);
      get_seen(*far_wire_, *near_wire_);
    }
  }

  bool run_until(const std::function<bool()>& holds) override {
    constexpr std::uint64_t patience_ns = 20'000'000'000;
    const std::uint64_t end_ns = loop_.after(patience_ns);
    while (!holds()) {
      if (loop_.now_ns() > end_ns) {
        return false;
      }
      loop_.turn();
    }
    return true;
  }

  // On this wire both are the same to near: the link closes.
  void cut_wire() override { cut_off_near(); }
  void kill_far() override { cut_off_near(); }

 private:
  void get_seen(nic::ring::RingWire& lender, const nic::ring::RingWire& borrower) {
    const nic::LinkId link = lender.link_to(borrower.gid()).value();
    lender.show_all(link);
    EXPECT_TRUE(run_until([&] { return lender.has_seen_all(link); }));
  }
  void cut_off_near() {
    if (const std::optional<nic::LinkId> link = far_wire_->link_to(near_wire_->gid())) {
      far_wire_->cut_off(*link);
    }
  }

  TemporaryFolder folder_;
  PollLoop loop_;
  std::unique_ptr<nic::ring::RingWire> near_wire_;
  std::unique_ptr<nic::ring::RingWire> far_wire_;
  std::unique_ptr<FarMemory> target_;
  const bool lends_;
  nic::PlainDma near_dma_;
  nic::PlainDma far_dma_;
  std::unique_ptr<nic::Nic> near_;
  std::unique_ptr<nic::Nic> far_;
};

}  // namespace

std::unique_ptr<World> make_ring_world(std::uint64_t seed) {
  return std::make_unique<RingWorld>(make_far_memory(seed), nic::ring::LendingOptions{.to = {}});
}

std::unique_ptr<World> make_lending_ring_world(std::uint64_t seed) {
  return std::make_unique<RingWorld>(std::make_unique<MirroredTarget>(seed, Platform{}),
                                     nic::ring::LendingOptions{.from_bytes = cache_line_bytes});
}

}  // namespace remora::fabric::contract
