// Packets: the part of the wire that runs while they flow. Sockets are in ring_wire_sockets.cpp.
#include "fabric/nic/wire/ring/ring_wire.h"

#include <algorithm>
#include <utility>

namespace remora::fabric::nic::ring {
namespace {

constexpr std::uint32_t slot_bits = 8;
static_assert(limits::links_max == 1u << slot_bits);
static_assert(rider_bytes == byte_ring::rider_bytes);

}  // namespace

LinkId RingWire::id_of(std::uint32_t index) const {
  return slots_[index].generation << slot_bits | index;
}

const RingWire::Slot* RingWire::find_up(LinkId link) const {
  const std::uint32_t index = link & (limits::links_max - 1);
  if (index >= slots_.size() || slots_[index].state != LinkState::up || id_of(index) != link) {
    return nullptr;
  }
  return &slots_[index];
}

RingWire::Slot* RingWire::find_up(LinkId link) {
  return const_cast<Slot*>(std::as_const(*this).find_up(link));
}

std::optional<LinkId> RingWire::link_to(const Gid& peer) const {
  for (const std::uint32_t index : active_) {
    const Slot& slot = slots_[index];
    if (slot.state == LinkState::up && slot.link->peer().gid == peer) {
      return id_of(index);
    }
  }
  return {};
}

Gid RingWire::peer_of(LinkId link) const {
  const HostPeer* found = peer(link);
  return found == nullptr ? Gid{} : found->gid;
}

const HostPeer* RingWire::peer(LinkId link) const {
  const Slot* slot = find_up(link);
  return slot == nullptr ? nullptr : &slot->link->peer();
}

void RingWire::prepare(LinkId link) {
  if (const Slot* slot = find_up(link); slot != nullptr) {
    slot->link->producer().prepare();
  }
}

[[gnu::always_inline]] inline Bytes RingWire::reserve_at(LinkId link, ConstBytes rider,
                                                         std::size_t size_bytes) {
  reserved_ = nullptr;
  Slot* slot = find_up(link);
  if (slot == nullptr) {
    return {};
  }
  if (slot->link->revoked()) [[unlikely]] {
    drop(*slot, LinkState::gone);
    return {};
  }
  const Bytes room = slot->link->producer().reserve(size_bytes, rider);
  if (!room.empty()) [[likely]] {
    reserved_ = slot;
  } else if (slot->link->producer().broken()) {
    cut_off(link);
  }
  return room;
}

Bytes RingWire::reserve(LinkId link, std::size_t size_bytes) {
  return reserve_at(link, {}, size_bytes);
}

Bytes RingWire::reserve_with(LinkId link, ConstBytes rider, std::size_t size_bytes) {
  return reserve_at(link, rider, size_bytes);
}

void RingWire::commit() {
  Slot* slot = std::exchange(reserved_, nullptr);
  if (slot == nullptr || slot->state != LinkState::up) {
    return;
  }
  slot->link->producer().commit();
  if (!slot->is_unasked) {
    slot->is_unasked = true;
    unasked_.push_back(static_cast<std::uint32_t>(slot - slots_.data()));
  }
}

// Packets are visible to the peer since their commit; what is left is to wake it if it sleeps. To
// be sure of that takes as long as the packets take to leave this processor. So the next poll asks,
// or whoever is going to sleep, or away; now, only who is known to sleep is woken.
void RingWire::flush() {
  for (; flushed_ < unasked_.size(); ++flushed_) {
    Slot& slot = slots_[unasked_[flushed_]];
    if (slot.state == LinkState::up && slot.link->producer().must_wake_sleeper()) [[unlikely]] {
      slot.link->ring_bell();
    }
  }
}

void RingWire::wake_sleepers() {
  for (std::size_t i = 0; i < flushed_; ++i) {
    Slot& slot = slots_[unasked_[i]];
    slot.is_unasked = false;
    if (slot.state == LinkState::up && slot.link->producer().must_wake_consumer()) [[unlikely]] {
      slot.link->ring_bell();
    }
  }
  unasked_.erase(unasked_.begin(),
                 unasked_.begin() + static_cast<std::ptrdiff_t>(std::exchange(flushed_, 0)));
}

std::size_t RingWire::poll(PacketSink& sink, std::size_t budget) {
  if (flushed_ != 0) {
    wake_sleepers();
  }
  std::size_t taken = 0;
  for (std::size_t left = active_.size(); left > 0 && taken < budget; --left) {
    const std::uint32_t index = active_[next_];
    next_ = next_ + 1 < active_.size() ? next_ + 1 : 0;
    if (left > 1) {  // while this one's packet is served, the next one's comes
      slots_[active_[next_]].link->consumer().expect();
    }
    taken += poll_link(index, sink, budget - taken);
  }
  if (ending_ != 0) [[unlikely]] {
    give_back(sink);
  }
  return taken;
}

// A look at a place where no packet is yet costs a line transfer, and whoever answers the packet
// before it would wait for that. So a link gives one packet at a time, and more only while each
// poll finds as many as it may take.
std::size_t RingWire::poll_link(std::uint32_t index, PacketSink& sink, std::size_t budget) {
  Slot& slot = slots_[index];
  budget = std::min(budget, slot.burst);
  // All at once, so that what their targets wait for overlaps.
  if (budget > 1) {
    slot.link->consumer().look_ahead(budget, [&](ConstBytes coming) { sink.expect(coming); });
  }
  for (std::size_t taken = 0; taken < budget; ++taken) {
    if (slot.state == LinkState::gone) [[unlikely]] {
      return taken;
    }
    // A peer that has cut this side off, perhaps while it was stopped, is not served any more.
    if (slot.link->revoked()) [[unlikely]] {
      drop(slot, LinkState::gone);
      return taken;
    }
    const ConstBytes packet = slot.link->consumer().peek();
    if (packet.empty() || (slot.state == LinkState::closing && !may_drain(slot))) {
      slot.burst = std::max<std::size_t>(taken, 1);
      if (taken == 0) {
        slot.link->producer().own_more();
      }
      end_if_due(slot);
      return taken;
    }
    // It is going to be answered.
    if (budget == 1) {
      slot.link->producer().prepare();
    }
    if (const ConstBytes rider = slot.link->consumer().rider(); !rider.empty()) {
      sink.receive(id_of(index), rider);
      if (slot.state == LinkState::gone) [[unlikely]] {
        return taken;
      }
    }
    if (slot.link->consumer().has_loan()) {
      const ConstBytes whole = borrow(slot, packet);
      if (whole.empty()) [[unlikely]] {
        drop(slot, LinkState::gone);
        return taken;
      }
      sink.receive(id_of(index), whole);
    } else {
      sink.receive(id_of(index), packet);
    }
    // Harmless when the sink has cut the link off: its memory is still there.
    if (slot.link->consumer().consume()) [[unlikely]] {
      slot.link->ring_bell();
    }
  }
  slot.burst = std::min(2 * budget, limits::packets_per_link);
  return budget;
}

// What a peer left is handed over, but no more than its ring holds: it may be writing on.
bool RingWire::may_drain(Slot& slot) {
  const std::size_t record = slot.link->consumer().peeked_record_bytes();
  const bool may = record <= slot.drain_bytes;
  slot.drain_bytes = may ? slot.drain_bytes - record : 0;
  return may;
}

// Called when a link has no packet.
void RingWire::end_if_due(Slot& slot) {
  HostLink& link = *slot.link;
  if (slot.state == LinkState::closing || link.consumer().broken() || link.revoked()) [[unlikely]] {
    drop(slot, LinkState::gone);
  }
}

void RingWire::cut_off(LinkId link) {
  if (Slot* slot = find_up(link); slot != nullptr) {
    drop(*slot, LinkState::gone);
  }
}

// The link is not used for sending any more; the memory stays until it is given back, since a
// sink may be looking at a packet in it.
void RingWire::drop(Slot& slot, LinkState state) {
  if (slot.state == LinkState::up) {
    slot.link->producer().recall();
    ++ending_;
    forget_descriptor(slot.link->descriptor());
    if (side_ != nullptr && (slot.link->features() & feature_side) != 0) {
      side_->side_down(id_of(static_cast<std::uint32_t>(&slot - slots_.data())));
    }
  }
  slot.state = state;
  slot.drain_bytes = slot.link->ring_bytes();
  if (state == LinkState::gone) {
    slot.link->revoke();
  }
}

void RingWire::give_back(PacketSink& sink) {
  for (std::size_t i = 0; i < active_.size();) {
    const std::uint32_t index = active_[i];
    Slot& slot = slots_[index];
    if (slot.state != LinkState::gone) {
      ++i;
      continue;
    }
    const LinkId link = id_of(index);
    sink.link_down(link);
    reserved_ = nullptr;
    slot.link.reset();
    slot.borrowed.reset();
    slot.state = LinkState::unused;
    ++slot.generation;
    active_.erase(active_.begin() + static_cast<std::ptrdiff_t>(i));
    --ending_;
    owner_.link_down(link);
  }
  next_ = 0;
}

}  // namespace remora::fabric::nic::ring
