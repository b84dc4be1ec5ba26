// MappedActor: the short cut of one host, in the simulated world. A node's programs work on the
// crash memory of another node as if both were processes of one machine: as CPU stores of an actor
// of its own, piece by piece over virtual time. Between two pieces the actor may stop for a while,
// be stopped by a test, or die, and the rest of its copy happens late or never.
//
// It keeps the rules of src/fabric/nic/wire/mapped: rights are looked at once, when an operation
// begins; a target that takes them back asks quiet() whether an operation is still under way, and
// release() lets one that moves finish, and ends an actor that stands still. With `epochs` off (a
// planted mistake) neither looks.
//
// One thread, the loop's. Everything follows from the seed.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "fabric/nic/shortcut/shortcut.h"
#include "fabric/nic/wire/sim/sim_wire.h"
#include "lab/memory/crash_memory.h"
#include "lab/memory/crash_region.h"
#include "lab/world/crash_dma.h"
#include "runtime/runtime.h"
#include "runtime/timer.h"

namespace remora::lab {

class MappedActor;

// Which nodes are processes of one machine.
using MappedHost = std::map<fabric::nic::sim::NodeId, MappedActor*>;

struct ActorOptions {
  std::uint64_t shortest_ns = 20;  // between two pieces
  std::uint64_t longest_ns = 400;
  std::uint64_t largest_piece_bytes = 512;
  std::uint64_t stops_one_in = 64;  // pieces; 0: never by itself
  std::uint64_t longest_stop_ns = 200'000;
  bool epochs = true;
};

class MappedActor final : public fabric::nic::Shortcut {
 public:
  // The shortcut of this wire from here on, until it goes; made before the NIC, gone after it. All
  // that is referred to outlives it.
  MappedActor(Runtime& runtime, MappedHost& host, fabric::nic::sim::SimWire& wire,
              CrashMemory& memory, CrashDma& dma, Random random, const ActorOptions& options = {});
  MappedActor(const MappedActor&) = delete;
  MappedActor& operator=(const MappedActor&) = delete;
  ~MappedActor() override;

  // The process stands still, wherever it is, until it goes on; its NIC does not know.
  void stop();
  void resume();
  // It is gone: what it was in the middle of stays as it is.
  void die();
  // The machine is gone: nobody works on its memory any more either. Nodes of one host share their
  // machine, so they lose power together; a peer's operation that is under way never completes.
  void power_off();
  // Whether it is in the middle of an operation.
  bool is_inside() const;

  void attach(fabric::nic::ShortcutTarget* target) override { target_ = target; }
  std::unique_ptr<fabric::nic::Lane> open_lane(fabric::nic::Connection& connection,
                                               fabric::nic::Lane::Owner& owner) override;
  void retire(fabric::QpNumber) override {}  // rights are looked at when an operation begins
  bool quiet(fabric::QpNumber own) const override;
  void release(fabric::RemoteKey key) override;
  void renew(fabric::RemoteKey) override {}
  std::string describe() const override;

 private:
  class ActorLane;

  Runtime& runtime_;
  MappedHost& host_;
  fabric::nic::sim::SimWire& wire_;
  CrashMemory& memory_;
  CrashDma& dma_;
  Random random_;
  const ActorOptions options_;
  fabric::nic::ShortcutTarget* target_ = nullptr;
  std::list<ActorLane*> lanes_;
  bool stopped_ = false;
  bool dead_ = false;
};

}  // namespace remora::lab
