// SimNetwork: the network of the simulated world. Its nodes are wires for software RNICs; all run
// on one loop in virtual time. Packets take the time that a hardware profile says, and meet the
// faults that are switched on, by chance from one seed: the same seed and the same calls give the
// same run.
//
// Without faults packets between two nodes arrive once and in order. The network never tells a NIC
// that a peer has died: it finds out by its timers.
//
// One thread, the loop's. Nothing blocks. The network outlives the NICs that use its nodes, and the
// loop outlives the network. Packet buffers are kept and used again.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "base/random.h"
#include "fabric/nic/wire/sim/nic_timing.h"
#include "fabric/nic/wire/sim/profile.h"
#include "fabric/types.h"
#include "runtime/runtime.h"

namespace remora::fabric::nic::sim {

class SimWire;

using NodeId = std::uint32_t;

// What may happen to packets, in millionths of them.
struct SimFaults {
  std::uint32_t loss_ppm = 0;
  std::uint32_t duplicate_ppm = 0;
  std::uint32_t reorder_ppm = 0;  // overtaken by those sent within reorder_ns after it
  std::uint32_t spike_ppm = 0;    // it and those behind it are late, by up to spike_ns
  std::uint64_t reorder_ns = 20'000;
  std::uint64_t spike_ns = 1'000'000;
  std::uint32_t control_loss_ppm = 0;  // of acknowledgements alone
};

struct SimNetworkOptions {
  std::uint32_t send_queue_packets = 256;        // of a node, not yet on the link; then no credit
  std::uint32_t receive_queue_packets = 65'536;  // on their way to a node; more are dropped
};

// What became of packets, counted since the network was made.
struct SimNetworkCounters {
  std::uint64_t sent = 0;
  std::uint64_t delivered = 0;
  std::uint64_t lost = 0;  // by the loss fault
  std::uint64_t duplicated = 0;
  std::uint64_t reordered = 0;
  std::uint64_t spikes = 0;
  std::uint64_t cut = 0;  // by a partition, a power cut, a link that was cut off
  std::uint64_t overflowed = 0;
};

class SimNetwork {
 public:
  SimNetwork(Runtime& runtime, const NicProfile& nic, const MemoryProfile& memory, Random random,
             const SimNetworkOptions& options = {});
  SimNetwork(const SimNetwork&) = delete;
  SimNetwork& operator=(const SimNetwork&) = delete;
  ~SimNetwork();

  // A node, powered on. The network owns it.
  SimWire& add_node();
  SimWire& node(NodeId id) { return *nodes_[id]; }
  std::size_t node_count() const { return nodes_.size(); }

  void set_faults(const SimFaults& faults) { faults_ = faults; }
  const SimFaults& faults() const { return faults_; }

  // No packet passes between the two, in either direction, nor do those arrive that are on their
  // way.
  void partition(NodeId a, NodeId b) { partitions_.insert(pair_of(a, b)); }
  void heal(NodeId a, NodeId b) { partitions_.erase(pair_of(a, b)); }

  // The node's power is cut: its queues, its links and what is on its way to it are gone. What has
  // left it arrives. Nobody is told. Its NIC must be destroyed, and may be so afterwards.
  void power_off(NodeId id);
  // The node is back, with its identity and empty queues; for a new NIC.
  void power_on(NodeId id);

  const SimNetworkCounters& counters() const { return counters_; }

 private:
  friend class SimWire;

  struct Packet {
    std::vector<std::byte> bytes;  // as long as the longest packet can be
    std::size_t size_bytes = 0;
    NodeId from = 0;
    std::uint32_t life = 0;  // of the sender, which counts its power-ons
    PacketKind kind = PacketKind::request;
    std::uint64_t left_ns = 0;

    ConstBytes content() const { return ConstBytes(bytes).first(size_bytes); }
  };
  using PacketPtr = std::unique_ptr<Packet>;

  static std::pair<NodeId, NodeId> pair_of(NodeId a, NodeId b) {
    return a < b ? std::pair(a, b) : std::pair(b, a);
  }

  PacketPtr take_packet();
  void give_back(PacketPtr packet);
  PacketPtr copy_of(const Packet& packet);

  // Carries a packet that leaves `from` at packet->left_ns.
  void carry(PacketPtr packet, NodeId to);
  void deliver(PacketPtr packet, NodeId to, std::uint64_t arrives_ns);
  // Whether the packet still exists when it arrives.
  bool survives(const Packet& packet, NodeId to) const;
  bool hit(std::uint32_t ppm) { return ppm != 0 && random_.chance(ppm, 1'000'000); }
  void drop(PacketPtr packet, std::uint64_t& counter);

  Runtime& runtime_;
  const NicProfile nic_;
  const MemoryProfile memory_;
  const SimNetworkOptions options_;
  Random random_;
  Random identities_;
  SimFaults faults_;
  SimNetworkCounters counters_;
  std::vector<std::unique_ptr<SimWire>> nodes_;
  std::map<Gid, NodeId> by_gid_;
  std::set<std::pair<NodeId, NodeId>> partitions_;
  std::vector<PacketPtr> free_packets_;
};

}  // namespace remora::fabric::nic::sim
