// Domain: the protection domain of a verbs device, and how memory is registered in it.
#pragma once

#include <infiniband/verbs.h>

#include <array>
#include <map>
#include <memory>

#include "fabric/device.h"

namespace remora::fabric::verbs {

class Context;

class Domain final : public ProtectionDomain {
 public:
  // A device that has no domain left gives one that registers and creates nothing, and says why.
  static std::unique_ptr<ProtectionDomain> create(Context& context);
  Domain(const Domain&) = delete;
  Domain& operator=(const Domain&) = delete;
  ~Domain() override;

  Result<std::unique_ptr<MemoryRegion>> register_memory(Bytes bytes, AccessFlags access,
                                                        Region* persistence) override;
  Result<std::unique_ptr<QueuePair>> create_queue_pair(const QueuePairOptions& options) override;

  ibv_pd* domain() const { return domain_; }
  // Whether the device may read these bytes by their key, or store to them if that is asked for.
  bool covers(const Sge& piece, bool stores) const;
  void forget(LocalKey key) { registered_.erase(key); }
  // Eight bytes that answers may be stored to which nobody looks at.
  ibv_sge scratch(std::uint32_t size_bytes) const {
    return {reinterpret_cast<std::uintptr_t>(scratch_bytes_.data()), size_bytes, scratch_->lkey};
  }

 private:
  struct Registered {
    Bytes bytes;
    AccessFlags access;
  };

  explicit Domain(Context& context) : context_(context) {}
  Status prepare();

  Context& context_;
  ibv_pd* domain_ = nullptr;
  ibv_mr* scratch_ = nullptr;
  alignas(word_bytes) std::array<std::byte, word_bytes> scratch_bytes_ = {};
  std::map<LocalKey, Registered> registered_;
  Status failure_;
};

}  // namespace remora::fabric::verbs
