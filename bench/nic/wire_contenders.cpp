#include <cstdio>
#include <fstream>
#include <utility>

#include "bench/nic/child.h"
#include "bench/nic/fabric_contender.h"
#include "bench/nic/wires.h"
#include "lab/measured/nic/ring_target.h"
#include "lab/measured/nic/roce_target.h"
#include "runtime/poll_loop.h"

namespace remora::bench {
namespace {

enum class Way : bool { ring, mapped };

class WireContender : public FabricContender {
 public:
  WireContender(Way way, std::unique_ptr<lab::RingTarget> target)
      : target_(std::move(target)), client_(loop_, way == Way::mapped) {}

  Status connect() {
    REMORA_TRY_RESULT(side, client_.connect(target_->path(), local_bytes, most_depth));
    side_ = std::move(side).value();
    return Status();
  }

  std::string name() const override { return "ring"; }
  pid_t process() const override { return target_->process(); }

 protected:
  Runtime& runtime() override { return loop_; }
  lab::Side& side() override { return *side_; }

 private:
  std::unique_ptr<lab::RingTarget> target_;
  PollLoop loop_;
  lab::RingClient client_;
  std::unique_ptr<lab::Side> side_;
};

// Where this process has mapped nameless memory of the target's size, to write to it: the wire did
// that, and nobody else here.
Bytes find_mapped_target() {
  std::ifstream maps("/proc/self/maps");
  Bytes found;
  for (std::string line; std::getline(maps, line);) {
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx", &begin, &end) == 2 && end - begin == target_bytes &&
        line.find(" rw-s ") != line.npos && line.find("memfd:") != line.npos) {
      found = Bytes(reinterpret_cast<std::byte*>(begin), target_bytes);
    }
  }
  return found;
}

// The short cut alone: a run of which a part went by the rings would be a measurement of both.
class MappedContender final : public WireContender {
 public:
  using WireContender::WireContender;

  Status look() {
    view_ = find_mapped_target();
    if (view_.empty()) {
      return Status(Code::unsupported,
                    "the target's memory is not mapped here, so the wire mapped goes by the rings");
    }
    touch(view_);
    return Status();
  }

  std::string name() const override { return "mapped"; }
  Bytes view() override { return view_; }
  bool is_one_sided() const override { return true; }

  Status run(const Shape& shape, std::uint64_t operations) override {
    const std::uint64_t before = side().counters().requests_by_wire;
    REMORA_TRY(WireContender::run(shape, operations));
    return side().counters().requests_by_wire == before
               ? Status()
               : Status(Code::unsupported, "operations on mapped went by the rings");
  }

 private:
  Bytes view_;
};

// What is forked runs where its parent runs: the parent is on the far core while it starts it.
template <typename Wire>
Result<std::unique_ptr<Wire>> start(Way way, int near_core, int far_core) {
  REMORA_TRY(pin_to_core(far_core));
  Result<std::unique_ptr<lab::RingTarget>> target =
      lab::RingTarget::start(way == Way::mapped, target_bytes, most_depth,
                             lab::replenishing(most_operation_bytes, most_depth));
  REMORA_TRY(pin_to_core(near_core));
  REMORA_TRY(target.status());
  auto contender = std::make_unique<Wire>(way, std::move(target).value());
  REMORA_TRY(contender->connect());
  return contender;
}

class RoceContender final : public FabricContender {
 public:
  explicit RoceContender(std::unique_ptr<lab::RoceTarget> target) : target_(std::move(target)) {}

  Status connect() {
    REMORA_TRY_RESULT(side, target_->connect(loop_, local_bytes, most_depth));
    side_ = std::move(side).value();
    return Status();
  }

  std::string name() const override { return "roce"; }
  pid_t process() const override { return target_->process(); }

 protected:
  Runtime& runtime() override { return loop_; }
  lab::Side& side() override { return *side_; }

 private:
  std::unique_ptr<lab::RoceTarget> target_;
  PollLoop loop_;
  std::unique_ptr<lab::Side> side_;
};

}  // namespace

Result<std::unique_ptr<Contender>> start_roce(int near_core, int far_core) {
  REMORA_TRY(pin_to_core(far_core));
  Result<std::unique_ptr<lab::RoceTarget>> target = lab::RoceTarget::start(
      target_bytes, most_depth, lab::replenishing(most_operation_bytes, most_depth));
  REMORA_TRY(pin_to_core(near_core));
  REMORA_TRY(target.status());
  auto contender = std::make_unique<RoceContender>(std::move(target).value());
  REMORA_TRY(contender->connect());
  return std::unique_ptr<Contender>(std::move(contender));
}

Result<std::unique_ptr<Contender>> start_ring(int near_core, int far_core) {
  REMORA_TRY_RESULT(ring, start<WireContender>(Way::ring, near_core, far_core));
  return std::unique_ptr<Contender>(std::move(ring).value());
}

Result<std::unique_ptr<Contender>> start_mapped(int near_core, int far_core) {
  REMORA_TRY_RESULT(mapped, start<MappedContender>(Way::mapped, near_core, far_core));
  REMORA_TRY((*mapped)->look());
  return std::unique_ptr<Contender>(std::move(mapped).value());
}

}  // namespace remora::bench
