#include "tests/lives/stations.h"

#include "fabric/nic/device/nic.h"
#include "fabric/nic/dma/plain_dma.h"
#include "fabric/nic/wire/joined/mapped_wire.h"
#include "pmem/open_region.h"

namespace remora::fabric::lives {
namespace {

// A peer that stands still inside an operation is ended after this time.
constexpr std::uint64_t stall_ns = 20'000'000;

// Whatever has its links by rings.
class LinkedStation : public Station {
 public:
  Device& device() override { return device_; }
  int wake_fd() const override { return wire_.wake_fd(); }
  Status listen(const std::string& path) override { return wire_.listen(path); }
  Result<nic::LinkId> connect(const std::string& path) override {
    return loop_.block_on(wire_.connect(path));
  }
  Status send_control(nic::LinkId link, ConstBytes bytes) override {
    return wire_.send_control(link, bytes);
  }
  void cut_off(nic::LinkId link) override { wire_.cut_off(link); }
  std::size_t links() const override { return wire_.links(); }

 protected:
  LinkedStation(PollLoop& loop, nic::ring::RingWire& wire)
      : loop_(loop), wire_(wire), device_(loop, wire, dma_) {}

 private:
  PollLoop& loop_;
  nic::ring::RingWire& wire_;
  nic::PlainDma dma_;
  nic::Nic device_;
};

// What a station has before it is one, and after.
struct RingParts {
  RingParts(PollLoop& loop, nic::LinkOwner& owner, std::size_t memory_bytes)
      : dram(memory_bytes), ring(nic::ring::RingWire::create(loop, &owner).value()) {}

  std::vector<std::byte> dram;
  std::unique_ptr<nic::ring::RingWire> ring;
};

class RingStation final : private RingParts, public LinkedStation {
 public:
  RingStation(PollLoop& loop, nic::LinkOwner& owner, std::size_t memory_bytes)
      : RingParts(loop, owner, memory_bytes), LinkedStation(loop, *ring) {}

  Bytes memory() override { return dram; }
};

// The same with memory that can be lent, and lends all that it can.
struct LendingParts {
  LendingParts(PollLoop& loop, nic::LinkOwner& owner, std::size_t memory_bytes)
      : region(make_dram(memory_bytes).value()),
        ring(
            nic::ring::RingWire::create(loop, &owner, {.lending = {.from_bytes = cache_line_bytes}})
                .value()) {}

  std::unique_ptr<Region> region;
  std::unique_ptr<nic::ring::RingWire> ring;
};

class LendingStation final : private LendingParts, public LinkedStation {
 public:
  LendingStation(PollLoop& loop, nic::LinkOwner& owner, std::size_t memory_bytes)
      : LendingParts(loop, owner, memory_bytes), LinkedStation(loop, *ring) {}

  Bytes memory() override { return region->bytes(); }
  Region* persistence() override { return region.get(); }
};

struct MappedParts {
  MappedParts(PollLoop& loop, nic::LinkOwner& owner, std::size_t memory_bytes)
      : region(make_dram(memory_bytes).value()),
        mapped(nic::joined::MappedWire::create(loop, &owner, options()).value()) {}

  nic::joined::MappedWireOptions options() {
    nic::joined::MappedWireOptions options;
    options.target.stall_ns = stall_ns;
    options.target.on_stall = [this](const nic::HostIdentity&) { ++stalls; };
    options.initiator.inside = [this] {
      if (inside) {
        inside();
      }
    };
    return options;
  }

  std::function<void()> inside;
  std::uint64_t stalls = 0;
  std::unique_ptr<Region> region;
  std::unique_ptr<nic::joined::MappedWire> mapped;
};

class MappedStation final : private MappedParts, public LinkedStation {
 public:
  MappedStation(PollLoop& loop, nic::LinkOwner& owner, std::size_t memory_bytes)
      : MappedParts(loop, owner, memory_bytes), LinkedStation(loop, mapped->wire()) {}

  Bytes memory() override { return region->bytes(); }
  Region* persistence() override { return region.get(); }
  bool call_inside(const std::function<void()>& function) override {
    inside = function;
    return true;
  }
  std::uint64_t ended() const override { return stalls; }
};

template <typename Kind>
std::unique_ptr<Station> make(PollLoop& loop, nic::LinkOwner& owner, std::size_t memory_bytes) {
  return std::make_unique<Kind>(loop, owner, memory_bytes);
}

}  // namespace

const std::vector<WireKind>& all_wires() {
  static const std::vector<WireKind> wires = {
      {"ring", false, make<RingStation>},
      {"ring_lending", false, make<LendingStation>},
      {"mapped", true, make<MappedStation>},
  };
  return wires;
}

}  // namespace remora::fabric::lives
