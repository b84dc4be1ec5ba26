#include "fabric/nic/wire/sim/sim_wire.h"

#include <algorithm>

#include "base/check.h"

namespace remora::fabric::nic::sim {

SimWire::SimWire(SimNetwork& network, NodeId id, const Gid& gid)
    : network_(network), id_(id), gid_(gid), timing_(network.nic_, network.memory_) {}

std::optional<LinkId> SimWire::link_to(const Gid& peer) const {
  const auto found = network_.by_gid_.find(peer);
  if (!powered_ || found == network_.by_gid_.end() || is_cut_off(found->second)) {
    return std::nullopt;
  }
  return found->second;
}

LinkTraits SimWire::traits(LinkId link) const {
  LinkTraits traits = this->traits().links;
  const Agreed& peer = network_.nodes_[link]->agreed_;
  traits.agreed = {traits.agreed.verbs & peer.verbs, peer.flush_worth};
  return traits;
}

Gid SimWire::peer_of(LinkId link) const {
  return network_.nodes_[link]->gid();
}

bool SimWire::has_credit() {
  const std::uint64_t now_ns = network_.runtime_.now_ns();
  while (!leaving_ns_.empty() && leaving_ns_.front() <= now_ns) {
    leaving_ns_.pop_front();
  }
  return leaving_ns_.size() < network_.options_.send_queue_packets;
}

Bytes SimWire::reserve(LinkId link, std::size_t size_bytes) {
  REMORA_CHECK(link < network_.nodes_.size(), "no such link");
  REMORA_CHECK(size_bytes <= network_.nic_.mtu_bytes + max_header_bytes, "a packet is too long");
  if (!powered_ || is_cut_off(link)) {
    return {};
  }
  if (!has_credit()) {
    wants_credit_ = true;
    arm_next();
    return {};
  }
  if (reserved_ == nullptr) {
    reserved_ = network_.take_packet();
  }
  reserved_->size_bytes = size_bytes;
  reserved_for_ = link;
  return Bytes(reserved_->bytes).first(size_bytes);
}

void SimWire::commit() {
  REMORA_CHECK(reserved_ != nullptr, "nothing was reserved");
  SimNetwork::PacketPtr packet = std::move(reserved_);
  packet->from = id_;
  packet->life = life_;
  packet->kind = kind_of(packet->content());
  packet->left_ns = timing_.sent_at(packet->kind, packet->size_bytes, network_.runtime_.now_ns());
  const std::uint64_t before_ns = leaving_ns_.empty() ? 0 : leaving_ns_.back();
  leaving_ns_.push_back(std::max(before_ns, packet->left_ns));
  network_.carry(std::move(packet), reserved_for_);
}

void SimWire::charge(Cost cost, std::uint64_t count) {
  timing_.charge(cost, count, network_.runtime_.now_ns());
}

void SimWire::arrive(SimNetwork::PacketPtr packet, std::uint64_t due_ns) {
  schedule(std::move(packet), due_ns, false);
  arm_next();
}

void SimWire::schedule(SimNetwork::PacketPtr packet, std::uint64_t due_ns, bool taken_in) {
  inbound_.push(Inbound{due_ns, scheduled_++, taken_in, std::move(packet)});
}

void SimWire::take_in_due() {
  const std::uint64_t now_ns = network_.runtime_.now_ns();
  wants_credit_ = wants_credit_ && !has_credit();
  while (!inbound_.empty() && inbound_.top().due_ns <= now_ns) {
    SimNetwork::PacketPtr packet = std::move(inbound_.top().packet);
    const bool taken_in = inbound_.top().taken_in;
    inbound_.pop();
    if (taken_in) {
      inbox_.push_back(std::move(packet));
    } else if (network_.survives(*packet, id_)) {
      std::uint64_t& lane_ns = lane_in(packet->from, packet->kind);
      lane_ns = std::max(lane_ns, timing_.taken_in_at(packet->kind, packet->size_bytes, now_ns));
      schedule(std::move(packet), lane_ns, true);
    } else {
      network_.drop(std::move(packet), network_.counters_.cut);
    }
  }
  arm_next();
}

// One alarm for the next thing to happen: a packet is due, or the send queue has room again.
void SimWire::arm_next() {
  std::uint64_t due_ns = inbound_.empty() ? never_ns : inbound_.top().due_ns;
  if (wants_credit_ && !leaving_ns_.empty()) {
    due_ns = std::min(due_ns, leaving_ns_.front());
  }
  if (!inbox_.empty() || !links_down_.empty()) {
    due_ns = network_.runtime_.now_ns();
  }
  if (due_ns == never_ns) {
    alarm_.disarm();
  } else {
    network_.runtime_.arm(alarm_, due_ns);
  }
}

std::size_t SimWire::poll(PacketSink& sink, std::size_t budget) {
  while (!links_down_.empty()) {
    const LinkId link = links_down_.front();
    links_down_.pop_front();
    sink.link_down(link);
  }
  std::size_t polled = 0;
  while (polled < budget && !inbox_.empty()) {
    SimNetwork::PacketPtr packet = std::move(inbox_.front());
    inbox_.pop_front();
    ++polled;
    if (is_cut_off(packet->from)) {
      network_.drop(std::move(packet), network_.counters_.cut);
      continue;
    }
    ++network_.counters_.delivered;
    sink.receive(packet->from, packet->content());
    network_.give_back(std::move(packet));
  }
  if (!inbox_.empty()) {
    arm_next();  // what the budget left over is for the next turn, at the same time
  }
  return polled;
}

void SimWire::cut_off(LinkId link) {
  REMORA_CHECK(link < network_.nodes_.size(), "no such link");
  const auto cut = [](SimWire& wire, LinkId to) {
    wire.cut_off_.resize(std::max<std::size_t>(wire.cut_off_.size(), to + 1));
    if (!wire.cut_off_[to]) {
      wire.cut_off_[to] = true;
      wire.links_down_.push_back(to);
      wire.arm_next();
    }
  };
  cut(*this, link);
  cut(*network_.nodes_[link], id_);
}

void SimWire::switch_off() {
  REMORA_CHECK(powered_, "the node has no power");
  powered_ = false;
  off_at_ns_ = network_.runtime_.now_ns();
  while (!inbound_.empty()) {
    network_.drop(std::move(inbound_.top().packet), network_.counters_.cut);
    inbound_.pop();
  }
  for (SimNetwork::PacketPtr& packet : inbox_) {
    network_.drop(std::move(packet), network_.counters_.cut);
  }
  inbox_.clear();
  links_down_.clear();
  leaving_ns_.clear();
  lanes_out_.clear();
  lanes_in_.clear();
  cut_off_.clear();
  wants_credit_ = false;
  alarm_.disarm();
}

void SimWire::switch_on() {
  REMORA_CHECK(!powered_, "the node has power");
  powered_ = true;
  ++life_;
  timing_.reset();
}

}  // namespace remora::fabric::nic::sim
