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

namespace remora::fabric::nic::joined {

class JoinedWire final : public Wire, private Lender, private RiderCarrier, private WireWaker {
 public:
  JoinedWire(Wire& first, Wire& second);

  WireTraits traits() const override;
  LinkTraits traits(LinkId link) const override { return of(link).traits(link); }
  WireParts parts() override;
  std::optional<LinkId> link_to(const Gid& peer) const override;
  Gid peer_of(LinkId link) const override { return of(link).peer_of(link); }
  void prepare(LinkId link) override { of(link).prepare(link); }
  Bytes reserve(LinkId link, std::size_t size_bytes) override;
  Bytes reserve_around(LinkId link, std::size_t header_bytes, ConstBytes payload) override;
  void commit() override { reserved_->commit(); }
  void take_time(LinkId link) override { of(link).take_time(link); }
  void flush() override;
  std::size_t poll(PacketSink& sink, std::size_t budget) override;
  void charge(Cost cost, std::uint64_t count) override { first_.charge(cost, count); }
  void cut_off(LinkId link) override { of(link).cut_off(link); }

 private:
  // Asked of links alone whose wire has the part.
  Bytes reserve_with(LinkId link, ConstBytes rider, std::size_t size_bytes) override;
  void offer(ConstBytes memory, const Backing& backing) override;
  void withdraw(ConstBytes memory) override;
  Bytes lend(LinkId link, std::size_t header_bytes, ConstBytes payload, bool& later) override;
  void recall() override;
  bool recall(LinkId link) override;
  int wake_fd() const override;
  bool arm_wake() override;
  void pause_begins() override;
  bool wants_spin() const override;

  static bool is_second(LinkId link) { return (link & link_of_second_wire) != 0; }
  Wire& of(LinkId link) const { return is_second(link) ? second_ : first_; }
  const WireParts& parts_of(LinkId link) const {
    return is_second(link) ? second_parts_ : first_parts_;
  }

  Wire& first_;
  Wire& second_;
  const WireParts first_parts_;
  const WireParts second_parts_;
  Wire* reserved_;  // where the last reservation was made
};

}  // namespace remora::fabric::nic::joined
