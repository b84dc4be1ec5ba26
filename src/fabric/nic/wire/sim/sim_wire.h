// SimWire: one node of a SimNetwork, as the wire of its NIC. Made by SimNetwork::add_node.
//
// Links are the other nodes, and the node itself. When a link had no credit, the loop gets an event
// at the time when it has some again, so that the NIC is polled.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <queue>
#include <vector>

#include "fabric/nic/wire.h"
#include "fabric/nic/wire/sim/sim_network.h"
#include "runtime/timer.h"

namespace remora::fabric::nic::sim {

class SimWire final : public Wire {
 public:
  SimWire(SimNetwork& network, NodeId id, const Gid& gid);

  NodeId id() const { return id_; }
  bool powered() const { return powered_; }
  std::uint64_t pin_down_entries() const { return network_.nic_.pin_down_entries; }

  // A way around this wire for the NIC that is made on it next; null for none.
  void set_shortcut(Shortcut* shortcut) { shortcut_ = shortcut; }

  // What the node's device offers, and what a FLUSH is worth at it; before anybody connects.
  void declare(const Agreed& agreed) { agreed_ = agreed; }

  Gid gid() const { return gid_; }
  WireTraits traits() const override {
    return {.name = "sim",
            .gid = gid_,
            .links = {.mtu_bytes = static_cast<std::uint32_t>(network_.nic_.mtu_bytes),
                      .agreed = agreed_}};
  }
  LinkTraits traits(LinkId link) const override;
  WireParts parts() override { return {.shortcut = shortcut_}; }
  std::optional<LinkId> link_to(const Gid& peer) const override;
  Gid peer_of(LinkId link) const override;
  Bytes reserve(LinkId link, std::size_t size_bytes) override;
  void commit() override;
  void flush() override {}
  std::size_t poll(PacketSink& sink, std::size_t budget) override;
  void charge(Cost cost, std::uint64_t count) override;
  void cut_off(LinkId link) override;

 private:
  friend class SimNetwork;

  // A packet on its way to this node.
  struct Inbound {
    std::uint64_t due_ns;
    std::uint64_t sequence;  // of those due at the same time, the first scheduled comes first
    bool taken_in;           // it is due for the NIC; before, for the receive engine
    mutable SimNetwork::PacketPtr packet;

    bool operator<(const Inbound& other) const {
      return due_ns != other.due_ns ? due_ns > other.due_ns : sequence > other.sequence;
    }
  };

  class Alarm final : public Timer {
   public:
    explicit Alarm(SimWire& wire) : wire_(wire) {}
    void expire() override { wire_.take_in_due(); }

   private:
    SimWire& wire_;
  };

  void arrive(SimNetwork::PacketPtr packet, std::uint64_t due_ns);
  void schedule(SimNetwork::PacketPtr packet, std::uint64_t due_ns, bool taken_in);
  void take_in_due();
  void arm_next();
  bool has_credit();
  bool is_cut_off(LinkId link) const { return link < cut_off_.size() && cut_off_[link]; }
  void switch_off();
  void switch_on();
  // Requests to or from one peer keep their order, and so do answers. The time of the last one:
  // when it arrives at the peer, and when it was taken in from the peer.
  using Lanes = std::map<std::pair<NodeId, bool>, std::uint64_t>;
  std::uint64_t& lane_out(NodeId to, PacketKind kind) { return lanes_out_[{to, is_answer(kind)}]; }
  std::uint64_t& lane_in(NodeId from, PacketKind kind) {
    return lanes_in_[{from, is_answer(kind)}];
  }

  SimNetwork& network_;
  const NodeId id_;
  const Gid gid_;
  NicTiming timing_;
  Shortcut* shortcut_ = nullptr;
  Agreed agreed_ = {.verbs = all_vendor_verbs};
  bool powered_ = true;
  std::uint32_t life_ = 0;
  std::uint64_t off_at_ns_ = 0;

  SimNetwork::PacketPtr reserved_;
  NodeId reserved_for_ = 0;
  std::deque<std::uint64_t> leaving_ns_;  // of the packets in the send queue, ascending
  Lanes lanes_out_;
  Lanes lanes_in_;

  std::priority_queue<Inbound> inbound_;
  std::uint64_t scheduled_ = 0;
  std::deque<SimNetwork::PacketPtr> inbox_;
  std::deque<LinkId> links_down_;  // to be told
  std::vector<bool> cut_off_;      // by link
  bool wants_credit_ = false;
  Alarm alarm_{*this};
};

}  // namespace remora::fabric::nic::sim
