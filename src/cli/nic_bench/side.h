// One side of the benchmark: a device with a queue pair and a region of memory on it.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/result.h"
#include "fabric/device.h"
#include "fabric/nic/core/nic.h"
#include "pmem/open_region.h"
#include "runtime/runtime.h"

namespace remora::cli {

// What each side tells the other before they can talk. Travels as it is between two processes of
// one program.
struct Introduction {
  fabric::QueuePairAddress queue_pair;
  fabric::RemoteAddress memory;
  std::uint64_t memory_bytes = 0;
};

class Side {
 public:
  // Memory of that size, which a FLUSH can make persistent, and queues for `depth` requests.
  static Result<std::unique_ptr<Side>> create(Runtime& runtime, fabric::nic::Wire& wire,
                                              std::uint64_t memory_bytes, std::uint64_t depth,
                                              fabric::nic::Keys keys);

  Introduction introduction() const;
  Status connect(const Introduction& peer);

  fabric::QueuePair& queue_pair() { return *queue_pair_; }
  fabric::CompletionQueue& completions() { return *completions_; }
  fabric::MemoryRegion& memory() { return *memory_; }
  const Introduction& peer() const { return peer_; }
  const fabric::DeviceAttributes& attributes() const { return nic_.attributes(); }
  fabric::DeviceCounters counters() const { return nic_.counters(); }

 private:
  Side(Runtime& runtime, fabric::nic::Wire& wire, fabric::nic::Keys keys);

  fabric::nic::PlainDma dma_;
  fabric::nic::Nic nic_;
  std::unique_ptr<Region> region_;
  std::unique_ptr<fabric::ProtectionDomain> domain_;
  std::unique_ptr<fabric::CompletionQueue> completions_;
  std::unique_ptr<fabric::MemoryRegion> memory_;
  std::unique_ptr<fabric::QueuePair> queue_pair_;
  Introduction peer_;
};

// Keeps receives posted on the target, for SEND and WRITE with IMM.
class Replenisher final : public Poller {
 public:
  Replenisher(Runtime& runtime, Side& side, std::uint64_t size_bytes, std::uint64_t depth);
  bool poll() override;

 private:
  void post();

  Side& side_;
  const std::uint64_t size_bytes_;
};

}  // namespace remora::cli
