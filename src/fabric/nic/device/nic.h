// Nic: the software RNIC. It is a Device over a Wire, which carries its packets, and a Dma, which
// touches memory; it does no I/O of its own. The runtime drives it as one of its pollers, in real
// and in virtual time alike.
//
// One thread, the loop's. Posting sends at once, as far as the window and the wire allow; what
// arrives is handled in the loop's turn. After an object has been made, nothing allocates.
//
// Runtime, wire and dma outlive the device. All that was made from the device is destroyed before.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/faults.h"
#include "fabric/device.h"
#include "fabric/nic/dma.h"
#include "fabric/nic/dma/plain_dma.h"
#include "fabric/nic/limits.h"
#include "fabric/nic/overseer.h"
#include "fabric/nic/translation/keys.h"
#include "fabric/nic/wire.h"
#include "runtime/runtime.h"

namespace remora::fabric::nic {

struct NicOptions {
  std::string name = {};  // "soft-" and the wire's name unless given
  Keys keys = Keys::from_system();
  // Refused accesses of one link before it is cut off.
  std::uint32_t access_violation_limit = limits::access_violations;
  // Pages that the pin-down cache holds, at least one set of them; a power of two below it is used.
  std::uint32_t pin_down_entries = limits::cached_pages;
  // What the FLUSH of this device and its peers is worth: in the simulated world it may be less.
  FlushWorth flush_worth = FlushWorth::persistent;
  // Is asked before anything is posted to a queue pair; outlives the device. Null: nobody.
  Overseer* overseer = nullptr;
  // The mistake that is planted in it, of those in fabric/nic/faults.h.
  Faults faults = {};
};

class NicCore;

class Nic final : public Device {
 public:
  Nic(Runtime& runtime, Wire& wire, Dma& dma, NicOptions options = {});
  ~Nic() override;

  const DeviceAttributes& attributes() const override;
  DeviceCounters counters() const override;
  std::unique_ptr<ProtectionDomain> create_domain() override;
  Result<std::unique_ptr<CompletionQueue>> create_completion_queue(std::uint32_t capacity) override;

 private:
  std::unique_ptr<NicCore> core_;
};

}  // namespace remora::fabric::nic
