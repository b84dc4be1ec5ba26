// One side of the benchmark: a device with a queue pair and a region of memory on it.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "base/result.h"
#include "fabric/device.h"
#include "fabric/nic/device/nic.h"
#include "pmem/open_region.h"
#include "runtime/runtime.h"

namespace remora::lab {

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
  // The same on a device that is there already. Where its FLUSH does not take memory that is
  // volatile, this side's is flushed to visibility.
  static Result<std::unique_ptr<Side>> create(std::unique_ptr<fabric::Device> device,
                                              std::uint64_t memory_bytes, std::uint64_t depth);

  Introduction introduction() const;
  Status connect(const Introduction& peer);

  fabric::QueuePair& queue_pair() { return *queue_pair_; }
  fabric::CompletionQueue& completions() { return *completions_; }
  fabric::MemoryRegion& memory() { return *memory_; }
  Region& region() { return *region_; }
  fabric::Device& device() { return *device_; }
  const Introduction& peer() const { return peer_; }
  const fabric::DeviceAttributes& attributes() const { return device_->attributes(); }
  fabric::DeviceCounters counters() const { return device_->counters(); }
  // What a FLUSH of memory that was made as this side's was can ask for.
  fabric::FlushPlacement flush_placement() const { return flush_placement_; }

 private:
  Side() = default;
  Status prepare(std::uint64_t memory_bytes, std::uint64_t depth);
  Status register_memory();

  fabric::nic::PlainDma dma_;
  std::unique_ptr<fabric::Device> device_;
  fabric::FlushPlacement flush_placement_ = fabric::FlushPlacement::persistence;
  std::unique_ptr<Region> region_;
  std::unique_ptr<fabric::ProtectionDomain> domain_;
  std::unique_ptr<fabric::CompletionQueue> completions_;
  std::unique_ptr<fabric::MemoryRegion> memory_;
  std::unique_ptr<fabric::QueuePair> queue_pair_;
  Introduction peer_;
};

// What a target does about messages that arrive, made in its process, as long as the object lives.
using Answering = std::function<std::shared_ptr<void>(Runtime& runtime, Side& side)>;

// Keeps receives posted on the target, for SEND and WRITE with IMM.
class Replenisher final : public Poller {
 public:
  Replenisher(Runtime& runtime, Side& side, std::uint64_t size_bytes, std::uint64_t depth);
  bool poll() override;

 private:
  void post();

  Side& side_;
  const std::uint64_t size_bytes_;
  std::array<fabric::WorkCompletion, 32> completions_;
};

Answering replenishing(std::uint64_t size_bytes, std::uint64_t depth);

}  // namespace remora::lab
