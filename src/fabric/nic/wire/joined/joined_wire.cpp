#include "fabric/nic/wire/joined/joined_wire.h"

#include <algorithm>

#include "base/check.h"

namespace remora::fabric::nic {

JoinedWire::JoinedWire(Wire& first, Wire& second)
    : first_(first), second_(second), reserved_(&first) {
  REMORA_CHECK(first.gid() == second.gid(), "two wires of one device have one name");
}

std::uint32_t JoinedWire::mtu_bytes() const {
  return std::min(first_.mtu_bytes(), second_.mtu_bytes());
}

std::optional<LinkId> JoinedWire::link_to(const Gid& peer) const {
  const std::optional<LinkId> link = first_.link_to(peer);
  return link ? link : second_.link_to(peer);
}

Bytes JoinedWire::reserve(LinkId link, std::size_t size_bytes) {
  reserved_ = &of(link);
  return reserved_->reserve(link, size_bytes);
}

Bytes JoinedWire::reserve_around(LinkId link, std::size_t header_bytes, ConstBytes payload) {
  reserved_ = &of(link);
  return reserved_->reserve_around(link, header_bytes, payload);
}

Bytes JoinedWire::reserve_with(LinkId link, ConstBytes rider, std::size_t size_bytes) {
  reserved_ = &of(link);
  return reserved_->reserve_with(link, rider, size_bytes);
}

void JoinedWire::offer(ConstBytes memory, const Backing& backing) {
  first_.offer(memory, backing);
  second_.offer(memory, backing);
}

void JoinedWire::withdraw(ConstBytes memory) {
  first_.withdraw(memory);
  second_.withdraw(memory);
}

Bytes JoinedWire::lend(LinkId link, std::size_t header_bytes, ConstBytes payload, bool& later) {
  reserved_ = &of(link);
  return reserved_->lend(link, header_bytes, payload, later);
}

void JoinedWire::recall() {
  first_.recall();
  second_.recall();
}

void JoinedWire::flush() {
  first_.flush();
  second_.flush();
}

// Each has the whole budget: neither keeps the other waiting for more than one turn.
std::size_t JoinedWire::poll(PacketSink& sink, std::size_t budget) {
  const std::size_t taken = first_.poll(sink, budget);
  return taken + second_.poll(sink, budget);
}

// Both are asked: each has to be told that the loop is about to sleep.
void JoinedWire::left() {
  first_.left();
  second_.left();
}

bool JoinedWire::arm_wake() {
  const bool first = first_.arm_wake();
  const bool second = second_.arm_wake();
  return first && second;
}

}  // namespace remora::fabric::nic
