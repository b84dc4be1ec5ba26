// Domain: a protection domain of the software RNIC. Keys of one domain are worth nothing in
// another.
#pragma once

#include "fabric/device.h"
#include "fabric/nic/translation/memory.h"

namespace remora::fabric::nic {

class NicCore;

class Domain final : public ProtectionDomain {
 public:
  Domain(NicCore& core, DomainId id) : core_(core), id_(id) {}

  Result<std::unique_ptr<MemoryRegion>> register_memory(Bytes bytes, AccessFlags access,
                                                        Region* persistence) override;
  Result<std::unique_ptr<QueuePair>> create_queue_pair(const QueuePairOptions& options) override;
  Result<std::unique_ptr<AddressHandle>> create_address_handle(const Gid& peer) override;
  Result<std::unique_ptr<SharedReceives>> create_shared_receives(
      const SharedReceivesOptions& options) override;

 private:
  NicCore& core_;
  const DomainId id_;
};

}  // namespace remora::fabric::nic
