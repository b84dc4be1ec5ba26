#include "tests/fabric/verbs_world.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

#include "base/check.h"
#include "pmem/open_region.h"
#include "runtime/poll_loop.h"
#include "tests/fabric/far_memory.h"

namespace remora::fabric::contract {

namespace {

constexpr std::size_t dax_alignment = 2 << 20;  // a device DAX maps whole huge pages

// Persistent memory without a file system, which a device may pin.
class DeviceDax final : public Region {
 public:
  explicit DeviceDax(const std::string& path) {
    const int descriptor = open(path.c_str(), O_RDWR | O_CLOEXEC);
    REMORA_CHECK(descriptor >= 0, "cannot open the device DAX");
    void* mapped = mmap(nullptr, dax_alignment, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    close(descriptor);
    REMORA_CHECK(mapped != MAP_FAILED, "cannot map the device DAX");
    mapped_ = Bytes(static_cast<std::byte*>(mapped), dax_alignment);
    std::ranges::fill(mapped_.first(far_bytes), std::byte{0});
    lines_ = std::move(adopt_mapping(mapped_.first(far_bytes))).value();
    strategy_ = lines_->strategy();
    strategy_.survives_power_cut = true;
  }
  ~DeviceDax() override {
    lines_.reset();
    munmap(mapped_.data(), mapped_.size());
  }

  Bytes bytes() override { return lines_->bytes(); }
  const Strategy& strategy() const override { return strategy_; }
  void flush(ConstBytes range, Site site = Site::current()) override { lines_->flush(range, site); }
  [[nodiscard]] Ticket drain(Site site = Site::current()) override { return lines_->drain(site); }
  void copy(std::byte* to, ConstBytes from, Site site = Site::current()) override {
    lines_->copy(to, from, site);
  }
  bool persistent(Ticket ticket) const override { return lines_->persistent(ticket); }
  [[nodiscard]] Status wait(Ticket ticket) override { return lines_->wait(ticket); }
  void request(Ticket ticket) override { lines_->request(ticket); }

 private:
  Bytes mapped_;
  std::unique_ptr<Region> lines_;
  Strategy strategy_;
};

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
                                 : std::make_unique<DeviceDax>(dax_path)),
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
