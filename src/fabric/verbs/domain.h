// Domain: the protection domain of a verbs device, and how memory is registered in it.
#pragma once

#include <infiniband/verbs.h>

#include <array>
#include <map>
#include <memory>

#include "fabric/device.h"

namespace remora::fabric::verbs {

class Context;

// What the domain, its regions and its queue pairs share. It goes with the last of them: libibverbs
// keeps a domain that something was made from.
class DomainCore {
 public:
  static Result<std::shared_ptr<DomainCore>> create(Context& context);
  DomainCore(const DomainCore&) = delete;
  DomainCore& operator=(const DomainCore&) = delete;
  ~DomainCore();

  ibv_pd* domain() const { return domain_; }
  // Eight bytes that answers may be stored to which nobody looks at.
  ibv_sge scratch(std::uint32_t size_bytes) const {
    return {reinterpret_cast<std::uintptr_t>(scratch_bytes_.data()), size_bytes, scratch_->lkey};
  }

  void remember(LocalKey key, Bytes bytes, AccessFlags access) {
    registered_[key] = {bytes, access};
  }
  void forget(LocalKey key) { registered_.erase(key); }
  // Whether the device may read these bytes by their key, or store to them if that is asked for.
  bool covers(const Sge& piece, bool stores) const;

 private:
  struct Registered {
    Bytes bytes;
    AccessFlags access = 0;
  };

  DomainCore() = default;

  ibv_pd* domain_ = nullptr;
  ibv_mr* scratch_ = nullptr;
  alignas(word_bytes) std::array<std::byte, word_bytes> scratch_bytes_ = {};
  std::map<LocalKey, Registered> registered_;
};

class Domain final : public ProtectionDomain {
 public:
  // A device that has no domain left gives one that registers and creates nothing, and says why.
  explicit Domain(Context& context);

  Result<std::unique_ptr<MemoryRegion>> register_memory(Bytes bytes, AccessFlags access,
                                                        Region* persistence) override;
  Result<std::unique_ptr<QueuePair>> create_queue_pair(const QueuePairOptions& options) override;

 private:
  Context& context_;
  const Result<std::shared_ptr<DomainCore>> core_;
};

}  // namespace remora::fabric::verbs
