#include "fabric/nic/device/domain.h"

#include <utility>

#include "fabric/nic/device/nic_core.h"
#include "fabric/nic/queue_pair/shared_queue.h"
#include "fabric/registration.h"

namespace remora::fabric::nic {
namespace {

// Every packet asks for its key again, so a region that goes is used no more.
class Registration final : public MemoryRegion {
 public:
  Registration(NicCore& core, const RegisteredMemory& what)
      : core_(core), memory_(core.engine().memory), what_(what) {}
  Registration(const Registration&) = delete;
  Registration& operator=(const Registration&) = delete;
  ~Registration() override {
    if (what_.key != 0) {
      memory_.remove(what_);
      if (Lender* lender = core_.engine().lender) {
        lender->withdraw(offered_);
      }
      if (Shortcut* shortcut = core_.engine().shortcut) {
        shortcut->release(what_.key);
      }
      // What peers were told has arrived must not land in memory that is used for something else.
      core_.place_all(what_.domain);
    }
    if (past_caches_) {
      core_.engine().dma.go_by_caches(what_.bytes);
    }
  }

  // False where the access asks for what this device cannot keep.
  bool keeps_past_caches() {
    past_caches_ = (what_.access & fabric::past_caches) != 0 &&
                   core_.engine().shortcut == nullptr &&
                   core_.engine().dma.go_past_caches(what_.bytes);
    return past_caches_ == ((what_.access & fabric::past_caches) != 0);
  }

  bool add(Keys& keys) {
    if (!memory_.add(what_, keys)) {
      return false;
    }
    Lender* const lender = core_.engine().lender;
    if (lender == nullptr || what_.persistence == nullptr) {
      return true;
    }
    if (const auto backing = what_.persistence->backing()) {
      offered_ = what_.bytes;
      const auto into = static_cast<std::uint64_t>(offered_.data() - what_.persistence->data());
      lender->offer(offered_, {backing->descriptor, backing->offset + into});
    }
    return true;
  }

  Bytes bytes() const override { return what_.bytes; }
  LocalKey local_key() const override { return what_.key; }
  RemoteKey remote_key() const override { return what_.key; }
  AccessFlags access() const override { return what_.access; }
  // The device's table leads to what_ itself.
  bool guard_with(Guard& guard) override {
    what_.guard = &guard;
    what_.asks = true;
    return true;
  }
  bool translate_with(Translation& translation) override {
    if ((what_.access & flushes_writes) != 0) {
      return false;
    }
    what_.translation = &translation;
    what_.asks = true;
    memory_.changed();
    return true;
  }
  // Nobody has learnt anything of the bytes behind the end. Peers that execute requests themselves
  // learn of them when they ask again.
  bool extend(std::size_t size_bytes) override {
    const Bytes longer(what_.bytes.data(), size_bytes);
    const bool is_fit = size_bytes >= what_.bytes.size() && !past_caches_ &&
                        why_not_register(longer, what_.access, what_.persistence) == nullptr;
    if (is_fit) {
      what_.bytes = longer;
      memory_.changed();
      if (Shortcut* shortcut = core_.engine().shortcut) {
        shortcut->renew(what_.key);
      }
    }
    return is_fit;
  }

 private:
  NicCore& core_;
  Memory& memory_;
  RegisteredMemory what_;
  ConstBytes offered_;  // to peers, to be read where it lies
  bool past_caches_ = false;
};

}  // namespace

Result<std::unique_ptr<MemoryRegion>> Domain::register_memory(Bytes bytes, AccessFlags access,
                                                              Region* persistence) {
  if (const char* reason = why_not_register(bytes, access, persistence)) {
    return Status(Code::invalid_argument, reason);
  }
  Engine& engine = core_.engine();
  auto region = std::make_unique<Registration>(
      core_, RegisteredMemory{.bytes = bytes,
                              .access = access,
                              .domain = id_,
                              .persistence = persistence,
                              .asks = (access & flushes_writes) != 0});
  if (!region->keeps_past_caches()) {
    return Status(Code::unsupported,
                  "nothing here keeps what peers write out of the CPU's caches; register without "
                  "past_caches, and let a CPU flush what they write");
  }
  if (!region->add(engine.keys)) {
    return Status(Code::no_space, "the device has no region left");
  }
  return std::unique_ptr<MemoryRegion>(std::move(region));
}

Result<std::unique_ptr<QueuePair>> Domain::create_queue_pair(const QueuePairOptions& options) {
  return core_.create(id_, options);
}

Result<std::unique_ptr<AddressHandle>> Domain::create_address_handle(const Gid& peer) {
  return core_.create_address(id_, peer);
}

Result<std::unique_ptr<SharedReceives>> Domain::create_shared_receives(
    const SharedReceivesOptions& options) {
  if (options.max_receives == 0 || options.max_receives > limits::work_requests ||
      options.max_pieces > limits::pieces) {
    return Status(Code::invalid_argument,
                  "the options exceed the limits of the device; see its attributes");
  }
  return std::unique_ptr<SharedReceives>(std::make_unique<SharedQueue>(id_, options));
}

}  // namespace remora::fabric::nic
