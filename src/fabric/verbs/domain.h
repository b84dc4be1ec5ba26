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
  // Address handles by their numbers.
  std::uint32_t add(ibv_ah* handle) {
    addresses_[++last_address_] = handle;
    return last_address_;
  }
  void remove_address(std::uint32_t number) { addresses_.erase(number); }
  ibv_ah* find_address(std::uint32_t number) const {
    const auto found = addresses_.find(number);
    return found == addresses_.end() ? nullptr : found->second;
  }
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
  std::map<std::uint32_t, ibv_ah*> addresses_;
  std::uint32_t last_address_ = 0;
};

class Domain final : public ProtectionDomain {
 public:
  // A device that has no domain left gives one that registers and creates nothing, and says why.
  explicit Domain(Context& context);

  Result<std::unique_ptr<MemoryRegion>> register_memory(Bytes bytes, AccessFlags access,
                                                        Region* persistence) override;
  Result<std::unique_ptr<QueuePair>> create_queue_pair(const QueuePairOptions& options) override;
  Result<std::unique_ptr<AddressHandle>> create_address_handle(const Gid& peer) override;
  Result<std::unique_ptr<SharedReceives>> create_shared_receives(
      const SharedReceivesOptions& options) override;

 private:
  Context& context_;
  const Result<std::shared_ptr<DomainCore>> core_;
};

}  // namespace remora::fabric::verbs
