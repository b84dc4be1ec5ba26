// JoinedWire: two wires as one, so that one device serves the processes of its host by the first
// and other hosts by the second. Links of the second have the bit link_of_second_wire in their ids;
// all else goes by that.
//
// Both have one gid, that of the device. The first may have a shortcut, which is then the device's.
// It also wakes the loop by a descriptor of its own, as the ring wires do, which are pollers; the
// descriptor here is the second one's.
//
// One thread, that of the loop. Both wires outlive it.
#pragma once

#include "fabric/nic/wire.h"

namespace remora::fabric::nic {

class JoinedWire final : public Wire {
 public:
  JoinedWire(Wire& first, Wire& second);

  const char* name() const override { return first_.name(); }
  Gid gid() const override { return second_.gid(); }
  std::uint32_t mtu_bytes() const override;
  bool lossless() const override { return first_.lossless() && second_.lossless(); }
  std::uint32_t window_packets() const override { return second_.window_packets(); }
  bool streams() const override { return first_.streams() || second_.streams(); }
  bool lends() const override { return first_.lends() || second_.lends(); }
  LinkTraits traits(LinkId link) const override { return of(link).traits(link); }
  std::optional<LinkId> link_to(const Gid& peer) const override;
  void prepare(LinkId link) override { of(link).prepare(link); }
  Bytes reserve(LinkId link, std::size_t size_bytes) override;
  Bytes reserve_around(LinkId link, std::size_t header_bytes, ConstBytes payload) override;
  Bytes reserve_with(LinkId link, ConstBytes rider, std::size_t size_bytes) override;
  void offer(ConstBytes memory, const Backing& backing) override;
  void withdraw(ConstBytes memory) override;
  Bytes lend(LinkId link, std::size_t header_bytes, ConstBytes payload, bool& later) override;
  void recall() override;
  bool recall(LinkId link) override { return of(link).recall(link); }
  void commit() override { reserved_->commit(); }
  void take_time(LinkId link) override { of(link).take_time(link); }
  void flush() override;
  std::size_t poll(PacketSink& sink, std::size_t budget) override;
  int wake_fd() const override { return second_.wake_fd(); }
  bool arm_wake() override;
  void left() override;
  bool wants_spin() const override { return first_.wants_spin() || second_.wants_spin(); }
  void charge(Cost cost, std::uint64_t count) override { first_.charge(cost, count); }
  Shortcut* shortcut() override { return first_.shortcut(); }
  void cut_off(LinkId link) override { of(link).cut_off(link); }

 private:
  Wire& of(LinkId link) const { return (link & link_of_second_wire) != 0 ? second_ : first_; }

  Wire& first_;
  Wire& second_;
  Wire* reserved_;  // where the last reservation was made
};

}  // namespace remora::fabric::nic
