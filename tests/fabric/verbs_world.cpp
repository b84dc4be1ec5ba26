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

// Wherever far is.
class VerbsWorld : public World {
 public:
  explicit VerbsWorld(const verbs::VerbsOptions& options) : near_(opened(options)) {}

  Runtime& runtime() override { return loop_; }
  Device& near() override { return *near_; }
  bool survives(std::size_t, ConstBytes) override { return true; }
  bool tells_survival() const override { return false; }
  bool exact_time() const override { return false; }
  bool places_late() const override { return false; }

  bool works_by_itself() const override { return true; }
  bool ends_short_receives() const override { return true; }
  bool says(WorkStatus expected, WorkStatus got) const override {
    return got == expected || (near_is_rxe() && is_rxe(expected, got));
  }

  // The kernel shows what it read of a port's counters for so long.
  DeviceCounters near_counters() override {
    (void)loop_.run_for(20'000'000);
    return near_->counters();
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

 protected:
  bool near_is_rxe() const { return near_->attributes().name.starts_with("rxe"); }

 private:
  PollLoop loop_;
  std::unique_ptr<verbs::VerbsDevice> near_;
};

class OneMachine final : public VerbsWorld {
 public:
  OneMachine(const verbs::VerbsOptions& options, const std::string& dax_path)
      : VerbsWorld(options),
        target_(dax_path.empty() ? std::move(make_dram(far_bytes)).value()
                                 : std::make_unique<DeviceDax>(dax_path, far_bytes)),
        far_(opened(options)) {}

  Device& far() override { return *far_; }
  Region& far_region() override { return *target_; }
  // The port counts the answer too.
  std::uint64_t packets_of_a_wrong_read() const override { return near_is_rxe() ? 2 : 0; }
  void cut_wire() override { far_->fall_silent(); }
  void kill_far() override { far_->fall_silent(); }

 private:
  std::unique_ptr<Region> target_;
  std::unique_ptr<verbs::VerbsDevice> far_;
};

class TwoMachines final : public VerbsWorld {
 public:
  TwoMachines(const verbs::VerbsOptions& options, std::unique_ptr<FarMachine> far)
      : VerbsWorld(options), far_(std::move(far)) {}

  Device& far() override { return *far_; }
  Region& far_region() override { return far_->region(); }
  ConstBytes look(Bytes bytes) override { return far_->look(bytes); }
  void changed(ConstBytes bytes) override { far_->changed(bytes); }
  std::uint64_t packets_of_a_wrong_read() const override { return near_is_rxe() ? 1 : 0; }
  // One of two emulated machines may stand still for a while, and must not be taken for dead.
  ConnectOptions connect_options() const override { return {.timeout_ns = 134'000'000}; }
  void cut_wire() override { far_->fall_silent(); }
  void kill_far() override { far_->fall_silent(); }

 private:
  std::unique_ptr<FarMachine> far_;
};

}  // namespace

std::unique_ptr<World> make_verbs_world(const verbs::VerbsOptions& options,
                                        const std::string& dax_path) {
  return std::make_unique<OneMachine>(options, dax_path);
}

std::unique_ptr<World> make_two_machines_world(const verbs::VerbsOptions& options, FarTalk& talk) {
  Result<std::unique_ptr<FarMachine>> far = FarMachine::open(talk, options.flush.value());
  EXPECT_TRUE(far.ok()) << far.status().message();
  return std::make_unique<TwoMachines>(options, std::move(far).value());
}

}  // namespace remora::fabric::contract
