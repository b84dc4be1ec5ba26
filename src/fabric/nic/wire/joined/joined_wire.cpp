#include "fabric/nic/wire/joined/joined_wire.h"

#include <algorithm>

#include "base/check.h"

namespace remora::fabric::nic::joined {

JoinedWire::JoinedWire(Wire& first, Wire& second)
    : first_(first),
      second_(second),
      first_parts_(first.parts()),
      second_parts_(second.parts()),
      reserved_(&first) {
  REMORA_CHECK(first.traits().gid == second.traits().gid, "two wires of one device have one name");
}

WireTraits JoinedWire::traits() const {
  const WireTraits first = first_.traits();
  const WireTraits second = second_.traits();
  return {.name = first.name,
          .gid = second.gid,
          .links = {.mtu_bytes = std::min(first.links.mtu_bytes, second.links.mtu_bytes),
                    .lossless = first.links.lossless && second.links.lossless,
                    .window_packets = second.links.window_packets,
                    .streams = first.links.streams || second.links.streams}};
}

WireParts JoinedWire::parts() {
  const bool lends = first_parts_.lender != nullptr || second_parts_.lender != nullptr;
  const bool carries = first_parts_.riders != nullptr || second_parts_.riders != nullptr;
  return {.shortcut = first_parts_.shortcut,
          .lender = lends ? this : nullptr,
          .riders = carries ? this : nullptr,
          .waker = this};
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
  return parts_of(link).riders->reserve_with(link, rider, size_bytes);
}

void JoinedWire::offer(ConstBytes memory, const Backing& backing) {
  for (const WireParts* parts : {&first_parts_, &second_parts_}) {
    if (parts->lender != nullptr) {
      parts->lender->offer(memory, backing);
    }
  }
}

void JoinedWire::withdraw(ConstBytes memory) {
  for (const WireParts* parts : {&first_parts_, &second_parts_}) {
    if (parts->lender != nullptr) {
      parts->lender->withdraw(memory);
    }
  }
}

Bytes JoinedWire::lend(LinkId link, std::size_t header_bytes, ConstBytes payload, bool& later) {
  reserved_ = &of(link);
  return parts_of(link).lender->lend(link, header_bytes, payload, later);
}

void JoinedWire::recall() {
  for (const WireParts* parts : {&first_parts_, &second_parts_}) {
    if (parts->lender != nullptr) {
      parts->lender->recall();
    }
  }
}

bool JoinedWire::recall(LinkId link) {
  Lender* const lender = parts_of(link).lender;
  return lender != nullptr && lender->recall(link);
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

int JoinedWire::wake_fd() const {
  return second_parts_.waker == nullptr ? -1 : second_parts_.waker->wake_fd();
}

// Both are asked: each has to be told that the loop is about to sleep.
void JoinedWire::pause_begins() {
  for (const WireParts* parts : {&first_parts_, &second_parts_}) {
    if (parts->waker != nullptr) {
      parts->waker->pause_begins();
    }
  }
}

bool JoinedWire::arm_wake() {
  bool all = true;
  for (const WireParts* parts : {&first_parts_, &second_parts_}) {
    if (parts->waker != nullptr) {
      all = parts->waker->arm_wake() && all;
    }
  }
  return all;
}

bool JoinedWire::wants_spin() const {
  const auto wants = [](const WireWaker* waker) { return waker == nullptr || waker->wants_spin(); };
  return wants(first_parts_.waker) || wants(second_parts_.waker);
}

}  // namespace remora::fabric::nic::joined
