#include "fabric/nic/wire/sim/sim_network.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "fabric/nic/wire/sim/sim_wire.h"

namespace remora::fabric::nic::sim {

SimNetwork::SimNetwork(Runtime& runtime, const NicProfile& nic, const MemoryProfile& memory,
                       Random random, const SimNetworkOptions& options)
    : runtime_(runtime),
      nic_(nic),
      memory_(memory),
      options_(options),
      random_(random.fork()),
      identities_(random.fork()) {}

SimNetwork::~SimNetwork() = default;

SimWire& SimNetwork::add_node() {
  const auto id = static_cast<NodeId>(nodes_.size());
  Gid gid;
  for (std::uint8_t& byte : gid) {
    byte = static_cast<std::uint8_t>(identities_.next());
  }
  by_gid_[gid] = id;
  return *nodes_.emplace_back(std::make_unique<SimWire>(*this, id, gid));
}

void SimNetwork::power_off(NodeId id) {
  nodes_[id]->switch_off();
}

void SimNetwork::power_on(NodeId id) {
  nodes_[id]->switch_on();
}

SimNetwork::PacketPtr SimNetwork::take_packet() {
  if (free_packets_.empty()) {
    auto packet = std::make_unique<Packet>();
    packet->bytes.resize(nic_.mtu_bytes + max_header_bytes);
    return packet;
  }
  PacketPtr packet = std::move(free_packets_.back());
  free_packets_.pop_back();
  return packet;
}

void SimNetwork::give_back(PacketPtr packet) {
  free_packets_.push_back(std::move(packet));
}

SimNetwork::PacketPtr SimNetwork::copy_of(const Packet& packet) {
  PacketPtr copy = take_packet();
  std::memcpy(copy->bytes.data(), packet.bytes.data(), packet.size_bytes);
  copy->size_bytes = packet.size_bytes;
  copy->from = packet.from;
  copy->life = packet.life;
  copy->kind = packet.kind;
  copy->left_ns = packet.left_ns;
  return copy;
}

void SimNetwork::drop(PacketPtr packet, std::uint64_t& counter) {
  ++counter;
  give_back(std::move(packet));
}

void SimNetwork::carry(PacketPtr packet, NodeId to) {
  ++counters_.sent;
  if (hit(faults_.loss_ppm) ||
      (packet->kind == PacketKind::control && hit(faults_.control_loss_ppm))) {
    drop(std::move(packet), counters_.lost);
    return;
  }
  std::uint64_t arrives_ns = packet->left_ns + nic_.link_latency_ns;
  std::uint64_t& lane_ns = nodes_[packet->from]->lane_out(to, packet->kind);
  if (hit(faults_.spike_ppm)) {
    ++counters_.spikes;
    arrives_ns += random_.between(1, faults_.spike_ns);
  }
  arrives_ns = std::max(arrives_ns, lane_ns);
  lane_ns = arrives_ns;
  if (hit(faults_.duplicate_ppm)) {
    ++counters_.duplicated;
    deliver(copy_of(*packet), to, arrives_ns + random_.between(0, faults_.reorder_ns));
  }
  if (hit(faults_.reorder_ppm)) {
    ++counters_.reordered;
    arrives_ns += random_.between(1, faults_.reorder_ns);
  }
  deliver(std::move(packet), to, arrives_ns);
}

void SimNetwork::deliver(PacketPtr packet, NodeId to, std::uint64_t arrives_ns) {
  SimWire& wire = *nodes_[to];
  if (wire.powered_ && wire.inbound_.size() < options_.receive_queue_packets) {
    wire.arrive(std::move(packet), arrives_ns);
  } else {
    drop(std::move(packet), wire.powered_ ? counters_.overflowed : counters_.cut);
  }
}

bool SimNetwork::survives(const Packet& packet, NodeId to) const {
  const SimWire& from = *nodes_[packet.from];
  const bool same_life = packet.life == from.life_ && from.powered_;
  const bool left = same_life || packet.left_ns <= from.off_at_ns_;
  return left && !partitions_.contains(pair_of(packet.from, to)) &&
         !nodes_[to]->is_cut_off(packet.from);
}

}  // namespace remora::fabric::nic::sim
