#include "fabric/nic/core/domain.h"

#include <utility>

#include "fabric/nic/core/nic_core.h"
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
      core_.engine().wire.withdraw(offered_);
      if (Shortcut* shortcut = core_.engine().shortcut) {
        shortcut->release(what_.key);
      }
      // What peers were told has arrived must not land in memory that is used for something else.
      core_.place_all(what_.domain);
    }
  }

  bool add(Keys& keys) {
    if (!memory_.add(what_, keys)) {
      return false;
    }
    if (const auto backing =
            what_.persistence == nullptr ? std::nullopt : what_.persistence->backing()) {
      offered_ = what_.bytes;
      const auto into = static_cast<std::uint64_t>(offered_.data() - what_.persistence->data());
      core_.engine().wire.offer(offered_, {backing->descriptor, backing->offset + into});
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
    return true;
  }

 private:
  NicCore& core_;
  Memory& memory_;
  RegisteredMemory what_;
  ConstBytes offered_;  // to peers, to be read where it lies
};

}  // namespace

Result<std::unique_ptr<MemoryRegion>> Domain::register_memory(Bytes bytes, AccessFlags access,
                                                              Region* persistence) {
  if (const char* reason = why_not_register(bytes, access, persistence)) {
    return Status(Code::invalid_argument, reason);
  }
  Engine& engine = core_.engine();
  auto region = std::make_unique<Registration>(
      core_, RegisteredMemory{
                 .bytes = bytes, .access = access, .domain = id_, .persistence = persistence});
  if (!region->add(engine.keys)) {
    return Status(Code::no_space, "the device has no region left");
  }
  return std::unique_ptr<MemoryRegion>(std::move(region));
}

Result<std::unique_ptr<QueuePair>> Domain::create_queue_pair(const QueuePairOptions& options) {
  return core_.create(id_, options);
}

}  // namespace remora::fabric::nic
