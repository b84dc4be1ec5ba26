#include "fabric/nic/device/nic.h"

#include "fabric/nic/device/domain.h"
#include "fabric/nic/device/nic_core.h"

namespace remora::fabric::nic {

Nic::Nic(Runtime& runtime, Wire& wire, Dma& dma, NicOptions options)
    : core_(std::make_unique<NicCore>(runtime, wire, dma, options)) {}

Nic::~Nic() = default;

const DeviceAttributes& Nic::attributes() const {
  return core_->attributes();
}

DeviceCounters Nic::counters() const {
  return core_->counters();
}

std::unique_ptr<ProtectionDomain> Nic::create_domain() {
  return std::make_unique<Domain>(*core_, core_->next_domain());
}

Result<std::unique_ptr<CompletionQueue>> Nic::create_completion_queue(std::uint32_t capacity) {
  if (capacity == 0 || capacity > limits::completions) {
    return Status(Code::invalid_argument, "a completion queue of this size cannot be made");
  }
  return std::unique_ptr<CompletionQueue>(
      std::make_unique<Completions>(capacity, core_->engine().overruns));
}

}  // namespace remora::fabric::nic
