// Node: one simulated machine. It has a place on the network, persistent memory, a software RNIC,
// and whatever runs on it; its power can be cut while the others go on. The loop, and so time, is
// shared by all nodes.
//
// At a power cut everything that ran on the node ends where it is: its flows are abandoned, its
// programs (objects in its DRAM, with their queue pairs and regions) and its NIC are destroyed, and
// nothing of that sends a packet or touches the persistent memory. That holds afterwards one of the
// images that the crash model allows, chosen by the seed. Peers are not told.
//
// One thread, the loop's. Loop and network outlive the node.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/random.h"
#include "fabric/nic/device/nic.h"
#include "fabric/nic/wire/sim/sim_network.h"
#include "fabric/nic/wire/sim/sim_wire.h"
#include "lab/memory/crash_memory.h"
#include "lab/memory/crash_region.h"
#include "lab/world/crash_dma.h"
#include "lab/world/mapped_actor.h"
#include "lab/world/posted_sites.h"
#include "runtime/flows.h"
#include "runtime/virtual_loop.h"

namespace remora::lab {

struct NodeOptions {
  std::size_t memory_bytes = 64 * page_bytes;
  Platform platform = {};
  std::uint64_t seed = 1;
  PlacementDelays placement = {};
  // Where the persist calls of its programs are counted and muted, and the FLUSHes and ATOMIC
  // WRITEs that they post; outlives the node. Null: nowhere.
  SiteTable* sites = nullptr;
  // Nodes with the same host are processes of one machine: they reach each other's memory by the
  // short way too. The host outlives the nodes.
  MappedHost* host = nullptr;
  ActorOptions actor = {};
  // Planted in its NIC (fabric/nic/faults.h).
  Faults faults = {};
};

class Node {
 public:
  // Powered on, with memory that is all zero.
  Node(VirtualLoop& loop, fabric::nic::sim::SimNetwork& network, const NodeOptions& options);
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;
  // As a power cut.
  ~Node();

  bool powered() const { return machine_ != nullptr; }
  fabric::nic::sim::NodeId id() const { return wire_.id(); }
  fabric::Gid gid() const { return wire_.gid(); }
  CrashMemory& memory() { return memory_; }

  // What is there while there is power.
  fabric::nic::Nic& nic();
  // The persistent memory as the NIC and the programs of the node share it.
  CrashRegion& region();
  // The process, on a node that has a host.
  MappedActor& actor();

  // Makes an object that lives in the node's DRAM, and owns it until the power is cut.
  template <typename Program, typename... Arguments>
  Program& start(Arguments&&... arguments) {
    auto program = std::make_shared<Program>(std::forward<Arguments>(arguments)...);
    machine().programs.push_back(program);
    return *program;
  }

  // Lets a task run on the node until it finishes, or the power is cut.
  void spawn(Task<void> task) { machine().flows.keep(std::move(task)); }

  // Not from inside a flow, an event or a poller of the loop.
  void cut_power();
  // The same, with an image of the caller's choice.
  void cut_power(ConstBytes image);
  // With the image that the cut left.
  void power_on();
  // Its processes are killed, and it goes on: memory is as it is seen (crash_memory.h, KILLS).
  // Packets that are on their way are lost. Not from inside a flow, an event or a poller.
  void kill();

 private:
  // Runs the group commits that somebody asked for, on page media.
  class Committer final : public Poller {
   public:
    explicit Committer(CrashMemory& memory) : memory_(memory) {}
    bool poll() override {
      memory_.run_requested_commits();
      return false;
    }

   private:
    CrashMemory& memory_;
  };

  // All that needs power. Members are destroyed from the last to the first.
  struct Machine {
    Machine(Node& node, std::uint64_t seed);
    ~Machine();
    fabric::nic::sim::SimWire& with_actor(Node& node, std::uint64_t seed);

    CrashRegion region;
    Committer committer;
    CrashDma dma;
    std::optional<MappedActor> actor;
    PostedSites posted;
    fabric::nic::Nic nic;
    std::vector<std::shared_ptr<void>> programs;
    Flows flows;
  };

  Machine& machine();
  std::vector<std::byte> choose_image();

  VirtualLoop& loop_;
  fabric::nic::sim::SimNetwork& network_;
  fabric::nic::sim::SimWire& wire_;
  const NodeOptions options_;
  Random random_;
  CrashMemory memory_;
  std::unique_ptr<Machine> machine_;
};

}  // namespace remora::lab
