#include "tests/fabric/verbs_world.h"

#include <gtest/gtest.h>
#include <sched.h>

#include "pmem/open_region.h"
#include "runtime/poll_loop.h"
#include "tests/fabric/device_dax.h"
#include "tests/fabric/far_memory.h"

namespace remora::fabric::contract {

namespace {

std::unique_ptr<verbs::VerbsDevice> opened(const verbs::VerbsOptions& options) {
  Result<std::unique_ptr<verbs::VerbsDevice>> device = verbs::VerbsDevice::open(options);
  EXPECT_TRUE(device.ok()) << device.status().message();
  return std::move(device).value();
}

// What the kernel's rxe says instead (Linux 6.12), as verbs_worlds.cpp tells people.
bool is_rxe(WorkStatus expected, WorkStatus got) {
  switch (expected) {
    case WorkStatus::remote_invalid_request:
      return got == WorkStatus::remote_operation_error;
    case WorkStatus::local_length_error:
      return got == WorkStatus::local_qp_operation_error;
    case WorkStatus::remote_access_error:
      return got == WorkStatus::remote_invalid_request;
    default:
      return false;
  }
}

class VerbsWorld final : public World {
 public:
  VerbsWorld(const verbs::VerbsOptions& options, const std::string& dax_path)
      : target_(dax_path.empty() ? std::move(make_dram(far_bytes)).value()
                                 : std::make_unique<DeviceDax>(dax_path, far_bytes)),
        near_(opened(options)),
        far_(opened(options)) {}

  Runtime& runtime() override { return loop_; }
  Device& near() override { return *near_; }
  Device& far() override { return *far_; }
  Region& far_region() override { return *target_; }
  bool survives(std::size_t, ConstBytes) override { return true; }
  bool tells_survival() const override { return false; }
  bool exact_time() const override { return false; }
  bool places_late() const override { return false; }

  bool works_by_itself() const override { return true; }
  bool says(WorkStatus expected, WorkStatus got) const override {
    return got == expected ||
           (near_->attributes().name.starts_with("rxe") && is_rxe(expected, got));
  }

  // The device works by itself; an emulated machine does so slowly.
  bool run_until(const std::function<bool()>& holds) override {
    constexpr std::uint64_t patience_ns = 60'000'000'000;
    const std::uint64_t end_ns = loop_.after(patience_ns);
    while (!holds()) {
      if (loop_.now_ns() > end_ns) {
        return false;
      }
      sched_yield();
    }
    return true;
  }

  void cut_wire() override { far_->fall_silent(); }
  void kill_far() override { far_->fall_silent(); }

 private:
  PollLoop loop_;
  std::unique_ptr<Region> target_;
  std::unique_ptr<verbs::VerbsDevice> near_;
  std::unique_ptr<verbs::VerbsDevice> far_;
};

}  // namespace

std::unique_ptr<World> make_verbs_world(const verbs::VerbsOptions& options,
                                        const std::string& dax_path) {
  return std::make_unique<VerbsWorld>(options, dax_path);
}

}  // namespace remora::fabric::contract
