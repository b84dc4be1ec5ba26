// NicCore: what is inside a Nic. Its tables, its list of queue pairs that have something to do, and
// the turn in which it does it.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "fabric/device.h"
#include "fabric/nic/device/nic.h"
#include "fabric/nic/queue_pair/engine.h"
#include "fabric/nic/queue_pair/qp.h"
#include "fabric/nic/queue_pair/unreliable_qp.h"
#include "runtime/poller.h"

namespace remora::fabric::nic {

class NicCore final : public Poller,
                      public QpOwner,
                      private UnreliableQp::Owner,
                      private PacketSink,
                      private ShortcutTarget {
 public:
  NicCore(Runtime& runtime, Wire& wire, Dma& dma, const NicOptions& options);
  ~NicCore() override;

  using QpOwner::engine;
  const DeviceAttributes& attributes() const { return attributes_; }
  DeviceCounters counters() const;

  DomainId next_domain() { return ++domains_; }
  Result<std::unique_ptr<QueuePair>> create(DomainId domain, const QueuePairOptions& options);
  Result<std::unique_ptr<AddressHandle>> create_address(DomainId domain, const Gid& peer);
  // All that the queue pairs of this domain have received becomes visible.
  void place_all(DomainId domain);

  bool poll() override;
  int wake_fd() const override { return engine_.waker == nullptr ? -1 : engine_.waker->wake_fd(); }
  bool wants_spin() const override {
    return engine_.waker == nullptr || engine_.waker->wants_spin();
  }
  bool arm_wake() override {
    return active_.empty() && waiting_.empty() && notices_.empty() &&
           (engine_.waker == nullptr || engine_.waker->arm_wake());
  }
  void pause_begins() override {
    if (engine_.waker != nullptr) {
      engine_.waker->pause_begins();
    }
  }

 private:
  // Serves those who wait for company at the end of the turn, behind the pollers and the flows that
  // may post an answer, or the next request: the owner of the loop may not turn it again.
  class Company final : public Timer {
   public:
    explicit Company(NicCore& core) : core_(core) {}
    void expire() override { core_.serve_waiting(); }

   private:
    NicCore& core_;
  };
  struct Notice {
    LinkId link;
    QpNumber about;
    PacketSequence sequence;
    std::uint8_t syndrome;
  };
  template <typename Pair, typename Pairs>
  Result<std::unique_ptr<QueuePair>> add(std::unique_ptr<Pair> qp, Pairs& pairs);
  void forget(Qp& qp) override;
  void forget(UnreliableQp& qp) override;
  void violated(LinkId link) override;
  void send_notice(LinkId link, QpNumber about, PacketSequence sequence,
                   std::uint8_t syndrome) override;
  void receive(LinkId from, ConstBytes bytes) override;
  void expect(ConstBytes bytes) override;
  void link_down(LinkId link) override;
  std::optional<Reachable> reachable(LinkId link, QpNumber own, QpNumber peer,
                                     RemoteKey key) const override;
  // The next packet that was expected, if it is this one; else the packet anew.
  const Parsed* parsed(ConstBytes bytes);
  void receive_notice(LinkId from, const Packet& packet);
  bool try_notice(const Notice& notice);
  void serve_active();
  void serve(Qp& qp);
  void serve_waiting();
  void send_notices();
  void fail_overrun();
  void cut_off_offenders();

  DeviceAttributes attributes_;
  const std::uint32_t violation_limit_;
  Overseer* const overseer_;
  // Two tables, whose numbers differ: a packet is looked for in the second if the first has no such
  // number.
  Table<Qp, limits::queue_pair_index_bits, 24> queue_pairs_;
  Table<UnreliableQp, limits::queue_pair_index_bits, 24> unreliable_;
  IntrusiveList<Qp> waiting_;  // for company, until the end of the turn
  Company company_{*this};
  IntrusiveList<Qp> awaiting_;   // for the medium
  Engine::Kick persistence_;     // while a FLUSH waits for it
  std::vector<Notice> notices_;  // that found no room on the wire
  std::map<LinkId, std::uint32_t> violations_;
  std::vector<LinkId> offenders_;
  // Packets that were expected in this turn and not received yet, in their order.
  struct Expected {
    const std::byte* at = nullptr;
    std::size_t size_bytes = 0;
    Parsed parsed;
  };
  std::array<Expected, limits::expected_packets> expected_;
  std::size_t expected_first_ = 0;
  std::size_t expected_behind_ = 0;
  Parsed parsed_;
  std::uint32_t overruns_seen_ = 0;
  DomainId domains_ = 0;
};

}  // namespace remora::fabric::nic
