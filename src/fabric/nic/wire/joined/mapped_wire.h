// MappedWire: the ring wire with a way around it. Packets go by the rings; READ, WRITE, atomics and
// FLUSH on memory that both processes can map are done by the initiator itself (shortcut.h, and
// mapped_target.h and mapped_initiator.h for the two sides of it; every wire is both).
//
// What can be mapped: memory registered with a Region that has a file behind it (Region::backing:
// pools, and make_dram for memory that need not persist). A key is asked about when it is first
// used; until the answer is there, and for all that cannot be mapped, requests go by the rings. The
// device's counters tell how many went which way.
//
// A peer without this wire, an ordinary RingWire, is served by the rings alone.
//
// One thread, that of the loop. Nothing blocks but what mapped_target.h says.
#pragma once

#include <memory>
#include <string>

#include "fabric/nic/shortcut/shortcut.h"
#include "fabric/nic/wire/mapped/mapped_initiator.h"
#include "fabric/nic/wire/mapped/mapped_target.h"
#include "fabric/nic/wire/ring/ring_wire.h"

namespace remora::fabric::nic::joined {

struct MappedWireOptions {
  ring::RingWireOptions ring = {};  // its side is set by this wire
  mapped::MappedTargetOptions target = {};
  mapped::MappedInitiatorOptions initiator = {};
};

class MappedWire final : private LinkSide, private Shortcut {
 public:
  // As RingWire::create.
  static Result<std::unique_ptr<MappedWire>> create(Runtime& runtime, LinkOwner* owner,
                                                    MappedWireOptions options = {});

  // The wire to make a device on; listening, connecting and control messages are its own too.
  ring::RingWire& wire() { return *ring_; }

  // Asks about a key before its first use; and whether requests with it are short-cut by now.
  void ask(QpNumber own, RemoteKey key) { initiator_.ask(own, key); }
  bool is_mapped(QpNumber own, RemoteKey key) const { return initiator_.is_mapped(own, key); }
  // Rights that peers hold at the moment.
  std::size_t grants() const { return target_.grants(); }
  std::size_t granted_peers() const { return target_.granted_peers(); }

 private:
  MappedWire(Runtime& runtime, MappedWireOptions options);
  Status say(LinkId link, const mapped::MappedMessage& message, int passed);

  const char* wire_name() const override { return "mapped"; }
  Shortcut& shortcut() override { return *this; }
  void side_up(LinkId link, const HostPeer& peer, Descriptor process) override;
  void side_down(LinkId link) override;
  void side_message(LinkId link, ConstBytes bytes, Descriptor passed) override;

  void attach(ShortcutTarget* target) override { target_.attach(target); }
  std::unique_ptr<Lane> open_lane(Connection& connection, Lane::Owner&) override {
    return initiator_.open_lane(connection);
  }
  std::uint64_t executed_by_windows() const override { return initiator_.executed_by_windows(); }
  void retire(QpNumber own) override { target_.retire(own); }
  bool quiet(QpNumber own) const override { return target_.quiet(own); }
  void release(RemoteKey key) override {
    initiator_.forget_short_ways();
    target_.release(key);
  }
  void renew(RemoteKey key) override { target_.renew(key); }
  std::string describe() const override;

  mapped::MappedTarget target_;
  mapped::MappedInitiator initiator_;
  std::unique_ptr<ring::RingWire> ring_;
};

}  // namespace remora::fabric::nic::joined
