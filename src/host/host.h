// Host: what a protocol is handed, and all that it may use: time and chance (the runtime), the
// fabric, persistent memory, CPU, planted faults. Protocol code asks for nothing else, so the
// object that serves in the product is the one that the crash world cuts the power of.
//
// CPU work is done and charged in one call. In real worlds the costs are zero, and the work itself
// takes the time; in virtual time they come from a hardware profile and queue on the host's core: a
// busy server is busy in the model too. Charging does not wait. Whoever posts or answers waits for
// `charged()` first, so that what is sent leaves when the core has done what it was charged for.
//
// One thread, the loop's. What is handed in outlives the host.
#pragma once

#include <cstdint>

#include "base/bytes.h"
#include "base/crc32c.h"
#include "base/faults.h"
#include "fabric/device.h"
#include "host/write_back.h"
#include "pmem/region.h"
#include "runtime/aside.h"
#include "runtime/runtime.h"

namespace remora {

// What CPU work costs in virtual time; all zero where time is real.
struct HostCosts {
  std::uint64_t crc_ns_per_kb = 0;
  std::uint64_t copy_ns_per_kb = 0;
  std::uint64_t request_ns = 0;   // parse one small request
  std::uint64_t post_ns = 0;      // one call that posts to the NIC, however many requests it posts
  std::uint64_t poll_ns = 0;      // one poll of a completion queue that finds something
  std::uint64_t allocate_ns = 0;  // space for one object
  std::uint64_t index_ns = 0;     // one look into a hash table
  std::uint64_t flush_line_ns = 0;
  std::uint64_t fence_ns = 0;
  WriteBack* write_back = nullptr;  // says what lines cost, in place of flush_line_ns
};

// Where charged time went, by kind, for those who break a latency down into its parts.
struct HostTally {
  std::uint64_t crc_ns = 0;
  std::uint64_t copy_ns = 0;
  std::uint64_t persist_ns = 0;  // flushes and fences
  std::uint64_t other_ns = 0;
};

// Small pieces of work that have a cost and no function of their own.
enum class Work : std::uint8_t { request, post, poll, allocate, index };

class Host {
 public:
  // A host without persistent memory (a client) has no region. A tally, if there is one, counts
  // what is charged, on every core.
  Host(Runtime& runtime, fabric::Device& device, Region* region = nullptr,
       const Faults& faults = Faults(), const HostCosts& costs = {}, CoreId core = 0,
       HostTally* tally = nullptr, Aside* worker = nullptr, Region* worker_region = nullptr)
      : runtime_(runtime),
        device_(device),
        region_(region),
        faults_(faults),
        costs_(costs),
        core_(core),
        tally_(tally),
        worker_(worker),
        worker_region_(worker_region) {}

  // The same host on another core: its charges queue there.
  Host on_core(CoreId core) const {
    return Host(runtime_, device_, region_, faults_, costs_, core, tally_, worker_, worker_region_);
  }
  // The same host with this mistake planted, or none.
  Host with_faults(const Faults& faults) const {
    return Host(runtime_, device_, region_, faults, costs_, core_, tally_, worker_, worker_region_);
  }
  // The same host with a thread for long pieces of background work, which reaches the persistent
  // memory through a region of its own where threads have one each, as in the crash world.
  Host with_worker(Aside* worker, Region* its_region = nullptr) const {
    return Host(runtime_, device_, region_, faults_, costs_, core_, tally_, worker, its_region);
  }

  // Where background work of this host is charged: the next core, as the papers give it a thread.
  Host background() const { return on_core(core_ + 1); }

  Runtime& runtime() const { return runtime_; }
  fabric::Device& device() const { return device_; }
  Region& region() const { return *region_; }
  bool has_region() const { return region_ != nullptr; }
  const Faults& faults() const { return faults_; }
  CoreId core() const { return core_; }
  // Null where all is done on the loop's thread.
  Aside* worker() const { return worker_; }
  // The persistent memory, as the worker's thread flushes and drains it.
  Region& worker_region() const { return worker_region_ != nullptr ? *worker_region_ : *region_; }
  std::uint64_t now_ns() const { return runtime_.now_ns(); }

  void charge(Work work) const { charge_ns(cost_of(work)); }
  void charge_ns(std::uint64_t cost_ns,
                 std::uint64_t HostTally::*kind = &HostTally::other_ns) const {
    if (cost_ns != 0) {
      runtime_.charge(core_, cost_ns);
      if (tally_ != nullptr) {
        tally_->*kind += cost_ns;
      }
    }
  }
  // When the core will have done all that it was charged for; 0 where nothing is charged.
  std::uint64_t charged_until_ns() const { return runtime_.charge(core_, 0); }
  CpuTime charged() const { return runtime_.cpu(core_, 0); }

  std::uint32_t crc(ConstBytes bytes, std::uint32_t seed = 0) const {
    charge_crc(bytes.size());
    return crc32c(bytes, seed);
  }
  // For checksums and copies that the caller makes itself.
  void charge_crc(std::size_t size_bytes) const {
    charge_ns(per_kb(costs_.crc_ns_per_kb, size_bytes), &HostTally::crc_ns);
  }
  void charge_copy(std::size_t size_bytes) const {
    charge_ns(per_kb(costs_.copy_ns_per_kb, size_bytes), &HostTally::copy_ns);
  }

  void flush(ConstBytes range, Site site = Site::current()) const {
    charge_flush(range);
    region_->flush(range, site);
  }
  Ticket drain(Site site = Site::current()) const {
    charge_ns(costs_.fence_ns, &HostTally::persist_ns);
    return region_->drain(site);
  }
  Ticket persist(ConstBytes range, Site site = Site::current()) const {
    flush(range, site);
    return drain(site);
  }
  // Copies into persistent memory and flushes.
  void copy(std::byte* to, ConstBytes from, Site site = Site::current()) const {
    charge_copy(from.size());
    region_->copy(to, from, site);
    if (costs_.write_back != nullptr) {
      costs_.write_back->changed({to, from.size()});
    }
    charge_flush({to, from.size()});
  }

 private:
  static std::uint64_t per_kb(std::uint64_t ns_per_kb, std::size_t size_bytes) {
    return ns_per_kb * size_bytes / 1024;
  }
  void charge_flush(ConstBytes range) const {
    charge_ns(costs_.write_back == nullptr
                  ? costs_.flush_line_ns * lines(range)
                  : costs_.write_back->write_back_ns(range, charged_until_ns()),
              &HostTally::persist_ns);
  }
  static std::uint64_t lines(ConstBytes range) {
    const std::uint64_t begin = reinterpret_cast<std::uintptr_t>(range.data());
    return range.empty() ? 0 : (begin + range.size() - 1) / 64 - begin / 64 + 1;
  }
  std::uint64_t cost_of(Work work) const {
    switch (work) {
      case Work::request:
        return costs_.request_ns;
      case Work::post:
        return costs_.post_ns;
      case Work::poll:
        return costs_.poll_ns;
      case Work::allocate:
        return costs_.allocate_ns;
      case Work::index:
        return costs_.index_ns;
    }
    return 0;
  }

  Runtime& runtime_;
  fabric::Device& device_;
  Region* region_;
  const Faults faults_;
  const HostCosts costs_;
  const CoreId core_;
  HostTally* tally_;
  Aside* worker_;
  Region* worker_region_;
};

}  // namespace remora
