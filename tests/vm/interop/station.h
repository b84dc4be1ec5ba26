// Station: one end of an interoperation test: a device on either wire, memory, and one queue pair.
// `roce` is Remora's software RNIC over UDP; `verbs` is what libibverbs lists, in the laboratory
// the kernel's rxe. Each case has a station of its own on either side, since a queue pair that
// failed is of no more use.
//
// One thread. What waits, waits for a bounded time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "fabric/device.h"
#include "fabric/nic/device/nic.h"
#include "fabric/nic/dma/plain_dma.h"
#include "fabric/nic/wire/roce/roce_wire.h"
#include "fabric/verbs/verbs_device.h"
#include "pmem/region.h"
#include "runtime/poll_loop.h"

namespace remora::fabric::interop {

inline constexpr std::size_t station_bytes = 4 << 20;

struct StationOptions {
  std::string wire = "roce";  // or verbs, or verbs:DEVICE
  std::string address = {};   // roce: an address of this machine
  std::string dax = {};       // verbs: memory is this device DAX; otherwise it is volatile
  std::uint32_t mtu_bytes = 1024;
  bool peer_is_rxe = false;  // roce: FLUSH is checked as Linux's rxe does it
};

class Station {
 public:
  // On roce, so many of a million packets that come are taken for lost, by the seed.
  static Result<std::unique_ptr<Station>> open(const StationOptions& options,
                                               std::uint32_t loss_ppm, std::uint64_t loss_seed);
  ~Station();

  Status connect(const QueuePairAddress& peer, const ConnectOptions& options);

  // Lets the device work until it holds; false if it does not for a minute or two.
  bool run_until(const std::function<bool()>& holds);

  Device& device() { return *device_; }
  QueuePair& qp() { return *qp_; }
  CompletionQueue& queue() { return *queue_; }
  const MemoryRegion& region() const { return *region_; }
  Bytes memory() { return memory_->bytes(); }
  // The memory stays.
  void forget_region() { region_.reset(); }
  // Packets that were thrown away on purpose.
  std::uint64_t lost() const { return wire_ == nullptr ? 0 : wire_->counters().lost_on_purpose; }
  // For people: the device, and how it does what not every one can.
  std::string description() const;

 private:
  explicit Station(const StationOptions& options) : options_(options) {}
  Status make_device(std::uint32_t loss_ppm, std::uint64_t loss_seed);
  Status make_memory();

  const StationOptions options_;
  PollLoop loop_;
  nic::PlainDma dma_;
  std::unique_ptr<nic::roce::RoceWire> wire_;  // of roce
  std::unique_ptr<Region> memory_;
  std::unique_ptr<Device> device_;
  std::unique_ptr<ProtectionDomain> domain_;
  std::unique_ptr<MemoryRegion> region_;
  std::unique_ptr<CompletionQueue> queue_;
  std::unique_ptr<QueuePair> qp_;
};

}  // namespace remora::fabric::interop
