#include "fabric/verbs/domain.h"

#include <cerrno>
#include <utility>

#include "fabric/registration.h"
#include "fabric/verbs/address.h"
#include "fabric/verbs/context.h"
#include "fabric/verbs/queue_pair.h"
#include "fabric/verbs/shared_queue.h"

namespace remora::fabric::verbs {
namespace {

constexpr AccessFlags flush_rights = flush_visibility | flush_persistence;

class Registration final : public MemoryRegion {
 public:
  Registration(std::shared_ptr<DomainCore> domain, ibv_mr* memory, Bytes bytes, AccessFlags access)
      : domain_(std::move(domain)), memory_(memory), bytes_(bytes), access_(access) {}
  Registration(const Registration&) = delete;
  Registration& operator=(const Registration&) = delete;
  ~Registration() override {
    domain_->forget(memory_->lkey);
    ibv_dereg_mr(memory_);
  }

  Bytes bytes() const override { return bytes_; }
  LocalKey local_key() const override { return memory_->lkey; }
  RemoteKey remote_key() const override { return memory_->rkey; }
  AccessFlags access() const override { return access_; }

 private:
  const std::shared_ptr<DomainCore> domain_;
  ibv_mr* const memory_;
  const Bytes bytes_;
  const AccessFlags access_;
};

Status registration_failure(int error, AccessFlags access) {
  if (error == EOPNOTSUPP) {
    return Status(Code::unsupported,
                  "the kernel does not pin this memory for a device: files on a DAX file system "
                  "may move; use device DAX (/dev/dax…), or a device that pages on demand");
  }
  if (error == EINVAL && (access & flush_persistence) != 0) {
    return Status(Code::unsupported,
                  "the device refuses the right flush_persistence on this memory: its FLUSH takes "
                  "persistent memory alone (device DAX)");
  }
  if (error == ENOMEM) {
    return Status(Code::no_space,
                  "the kernel pins no more memory for this process; raise its limit (ulimit -l)");
  }
  return os_failure("cannot register memory with the device", error);
}

}  // namespace

Result<std::shared_ptr<DomainCore>> DomainCore::create(Context& context) {
  std::shared_ptr<DomainCore> core(new DomainCore());
  core->domain_ = ibv_alloc_pd(context.device());
  if (core->domain_ == nullptr) {
    return os_failure("cannot make a protection domain", errno);
  }
  core->scratch_ = ibv_reg_mr(core->domain_, core->scratch_bytes_.data(),
                              core->scratch_bytes_.size(), IBV_ACCESS_LOCAL_WRITE);
  if (core->scratch_ == nullptr) {
    return os_failure("cannot register memory with the device", errno);
  }
  return core;
}

DomainCore::~DomainCore() {
  if (scratch_ != nullptr) {
    ibv_dereg_mr(scratch_);
  }
  if (domain_ != nullptr) {
    ibv_dealloc_pd(domain_);
  }
}

bool DomainCore::covers(const Sge& piece, bool stores) const {
  const auto found = registered_.find(piece.key);
  if (found == registered_.end() || (stores && (found->second.access & local_write) == 0)) {
    return false;
  }
  const Bytes bytes = found->second.bytes;
  const auto offset = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(piece.address) -
                                                 reinterpret_cast<std::uintptr_t>(bytes.data()));
  return within(offset, piece.size_bytes, bytes.size());
}

Domain::Domain(Context& context) : context_(context), core_(DomainCore::create(context)) {}

// Rights have the numbers of libibverbs. Those to flush are for peers, which may have a FLUSH where
// this side has none; then memory that the device does not flush to persistence is taken without.
Result<std::unique_ptr<MemoryRegion>> Domain::register_memory(Bytes bytes, AccessFlags access,
                                                              Region* persistence) {
  REMORA_TRY(core_.status());
  if (const char* reason = why_not_register(bytes, access, persistence)) {
    return Status(Code::invalid_argument, reason);
  }
  if ((access & past_caches) != 0) {
    return Status(
        Code::unsupported,
        "libibverbs has no way to keep what peers write out of the CPU's caches; register "
        "without past_caches, and let a CPU flush what they write");
  }
  if ((access & flushes_writes) != 0) {
    return Status(Code::unsupported,
                  "no RDMA device makes persistent by itself what peers write (RFlush); register "
                  "without flushes_writes, and let a CPU flush it");
  }
  const FlushMethod method = context_.methods().flush;
  if ((access & flush_persistence) != 0) {
    if (const char* reason = why_not_persistent(persistence->strategy(), method)) {
      return Status(Code::unsupported, reason);
    }
  }
  AccessFlags asked = context_.grants_flush() ? access : access & ~flush_rights;
  ibv_mr* memory = ibv_reg_mr((*core_)->domain(), bytes.data(), bytes.size(), asked);
  if (memory == nullptr && errno == EINVAL && method != FlushMethod::native &&
      (asked & flush_persistence) != 0) {
    asked &= ~flush_persistence;
    memory = ibv_reg_mr((*core_)->domain(), bytes.data(), bytes.size(), asked);
  }
  if (memory == nullptr && errno == EOPNOTSUPP && context_.pages_on_demand()) {
    memory = ibv_reg_mr((*core_)->domain(), bytes.data(), bytes.size(),
                        asked | AccessFlags{IBV_ACCESS_ON_DEMAND});
  }
  if (memory == nullptr) {
    return registration_failure(errno, asked);
  }
  (*core_)->remember(memory->lkey, bytes, access);
  return std::unique_ptr<MemoryRegion>(
      std::make_unique<Registration>(*core_, memory, bytes, access));
}

Result<std::unique_ptr<QueuePair>> Domain::create_queue_pair(const QueuePairOptions& options) {
  REMORA_TRY(core_.status());
  return Qp::create(context_, *core_, options);
}

Result<std::unique_ptr<AddressHandle>> Domain::create_address_handle(const Gid& peer) {
  REMORA_TRY(core_.status());
  return Address::create(context_, *core_, peer);
}

Result<std::unique_ptr<SharedReceives>> Domain::create_shared_receives(
    const SharedReceivesOptions& options) {
  REMORA_TRY(core_.status());
  return SharedQueue::create(context_, *core_, options);
}

}  // namespace remora::fabric::verbs
