#include "tests/fabric/mapped_world.h"

#include <gtest/gtest.h>

#include <string>

#include "fabric/nic/device/nic.h"
#include "fabric/nic/dma/plain_dma.h"
#include "fabric/nic/wire/joined/mapped_wire.h"
#include "runtime/poll_loop.h"
#include "tests/fabric/mirrored_target.h"
#include "tests/fabric/temporary_folder.h"

namespace remora::fabric::contract {

namespace {

class MappedWorld final : public World {
 public:
  MappedWorld(std::uint64_t seed, const Platform& platform) : target_(seed, platform) {
    near_wire_ =
        make_wire({.initiator = {.medium = [this](Bytes mapped) { return target_.view(mapped); }}});
    far_wire_ = make_wire({});
    const std::string path = folder_.path() + "/far.sock";
    const Status listening = far_wire_->wire().listen(path);
    EXPECT_TRUE(listening.ok()) << listening.message();
    near_ = std::make_unique<nic::Nic>(loop_, near_wire_->wire(), near_dma_);
    far_ = std::make_unique<nic::Nic>(loop_, far_wire_->wire(), far_dma_);
    const Result<nic::LinkId> link = loop_.block_on(near_wire_->wire().connect(path));
    EXPECT_TRUE(link.ok()) << link.status().message();
    EXPECT_TRUE(run_until([&] { return far_wire_->wire().links() == 1; }));
  }

  Runtime& runtime() override { return loop_; }
  Device& near() override { return *near_; }
  Device& far() override { return *far_; }
  Region& far_region() override { return target_.region(); }
  bool survives(std::size_t offset, ConstBytes bytes) override {
    return target_.survives(offset, bytes);
  }
  bool exact_time() const override { return false; }
  bool places_late() const override { return false; }
  std::uint64_t error_notices() const override { return 1; }

  void connected(QueuePair& qp, const RemoteAddress& memory) override {
    near_wire_->ask(qp.number(), memory.key);
    EXPECT_TRUE(run_until([&] { return near_wire_->is_mapped(qp.number(), memory.key); }));
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

  void cut_wire() override { cut_off_near(); }
  void kill_far() override { cut_off_near(); }

 private:
  std::unique_ptr<nic::joined::MappedWire> make_wire(nic::joined::MappedWireOptions options) {
    Result<std::unique_ptr<nic::joined::MappedWire>> wire =
        nic::joined::MappedWire::create(loop_, nullptr, std::move(options));
    EXPECT_TRUE(wire.ok()) << wire.status().message();
    return std::move(wire).value();
  }
  void cut_off_near() {
    if (const auto link = far_wire_->wire().link_to(near_wire_->wire().gid())) {
      far_wire_->wire().cut_off(*link);
    }
  }

  TemporaryFolder folder_;
  PollLoop loop_;
  MirroredTarget target_;
  std::unique_ptr<nic::joined::MappedWire> near_wire_;
  std::unique_ptr<nic::joined::MappedWire> far_wire_;
  nic::PlainDma near_dma_;
  nic::PlainDma far_dma_;
  std::unique_ptr<nic::Nic> near_;
  std::unique_ptr<nic::Nic> far_;
};

}  // namespace

std::unique_ptr<World> make_mapped_world(std::uint64_t seed, const Platform& platform) {
  return std::make_unique<MappedWorld>(seed, platform);
}

}  // namespace remora::fabric::contract
