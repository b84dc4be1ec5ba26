// RingWire: the wire between processes of one host. Each link is a pair of lossless rings in shared
// memory; packets are filled and read in place, and nothing calls the system while packets flow.
// Large payload between processes of one user stays out of the rings (lending.h).
//
// The wire is a poller of its loop. There it serves sockets: it lets peers in, hands control
// messages to the owner and notices death. Packets and link_down reach the NIC by poll(sink,
// budget) alone, which somebody must call in every turn: links are given back only there.
//
// Sleep. The wire's descriptor is readable when there is something to serve, packets and room that
// was waited for included, once arm_wake has asked the peers. It may be asked more than once.
//
// Death. When a peer's process ends the kernel closes its socket; that is seen within
// polls_per_socket_look polls, or at once by a loop that sleeps. Packets that it had committed are
// still handed over, then comes link_down. A peer that is stopped is not dead: its rings fill up
// and reserve gives nothing; cut_off ends that, and what it writes when it goes on reaches nobody.
//
// Trust. A peer can send nonsense, stop reading, or die; it can cause link_down, and no more. A gid
// is what a peer says of itself: only that no two links have the same is sure. Processes of the
// same user are shown memory (lending.h).
//
// One thread, that of the loop. Nothing blocks. Links coming up allocate, and memory that is shown;
// packets do not.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "fabric/nic/wire.h"
#include "fabric/nic/wire/link_owner.h"
#include "fabric/nic/wire/ring/host_link.h"
#include "fabric/nic/wire/ring/host_socket.h"
#include "fabric/nic/wire/ring/lending.h"
#include "runtime/door.h"
#include "runtime/event.h"
#include "runtime/runtime.h"
#include "runtime/task.h"

namespace remora::fabric::nic::ring {

struct RingWireOptions {
  RingShape shape = {};
  std::uint32_t ring_bytes_max = limits::ring_bytes_max;  // that a connector may ask for
  std::uint32_t max_links = limits::links;
  std::uint64_t handshake_ns = limits::handshake_ns;
  std::optional<Gid> gid = {};  // instead of one of chance
  LinkSide* side = nullptr;     // outlives the wire
  LendingOptions lending = {};
  // What this side offers, and what a FLUSH is worth here.
  Agreed agreed = {.verbs = all_vendor_verbs};
};

class RingWire final : public Wire,
                       public Poller,
                       public Lender,
                       public RiderCarrier,
                       public WireWaker {
 public:
  // A wire in this loop, with a gid of its own; loop and owner outlive it. The owner may be null.
  static Result<std::unique_ptr<RingWire>> create(Runtime& runtime, LinkOwner* owner,
                                                  const RingWireOptions& options = {});
  // The links close; their peers see that. Connects that wait end with `closed`.
  ~RingWire() override;

  // Lets peers in at this path; once. Failures are those of HostListener::open.
  Status listen(const std::string& path, mode_t mode = 0600);

  // A link to the wire that listens at the path. Fails with the listener's reason, with timed_out,
  // with in_use when there is a link to that peer already. May outlive the wire.
  Task<Result<LinkId>> connect(std::string path);

  // One message of at most control_bytes_max to the owner at the other end, in order with
  // other messages, in no order with packets. no_space when too many are unread: try again later.
  Status send_control(LinkId link, ConstBytes bytes);

  // The same for the side of the other end; the descriptor is passed if it is not -1.
  Status send_side(LinkId link, ConstBytes bytes, int passed_descriptor);

  // Who is at the other end, while the link is up.
  const HostPeer* peer(LinkId link) const;
  std::size_t links() const { return active_.size(); }
  // Shows this peer all that is on offer now, and not when it is first of use; whether it has seen
  // that.
  void show_all(LinkId link);
  bool has_seen_all(LinkId link) const;
  // Packets whose payload was lent.
  std::uint64_t packets_lent() const { return packets_lent_; }

  Gid gid() const { return terms_.gid; }
  std::uint32_t mtu_bytes() const { return terms_.shape.mtu_bytes; }
  WireTraits traits() const override;
  WireParts parts() override;
  LinkTraits traits(LinkId link) const override;
  std::optional<LinkId> link_to(const Gid& peer) const override;
  Gid peer_of(LinkId link) const override;
  void prepare(LinkId link) override;
  Bytes reserve(LinkId link, std::size_t size_bytes) override;
  Bytes reserve_with(LinkId link, ConstBytes rider, std::size_t size_bytes) override;
  void offer(ConstBytes memory, const Backing& backing) override { offers_.add(memory, backing); }
  void withdraw(ConstBytes memory) override;
  Bytes lend(LinkId link, std::size_t header_bytes, ConstBytes payload, bool& later) override;
  void recall() override;
  bool recall(LinkId link) override;
  void commit() override;
  void flush() override;
  std::size_t poll(PacketSink& sink, std::size_t budget) override;
  void charge(Cost, std::uint64_t) override {}
  void cut_off(LinkId link) override;

  bool poll() override;
  int wake_fd() const override { return epoll_.number(); }
  bool arm_wake() override;
  void pause_begins() override;
  void nothing_came() override;
  bool wants_spin() const override { return !active_.empty(); }

 private:
  struct alignas(cache_line_bytes) Line {
    std::byte bytes[cache_line_bytes];
  };
  enum class LinkState : std::uint8_t {
    unused,
    up,
    closing,  // the peer is gone; what it had sent is still handed over
    gone,     // to be told to the sink
  };
  // Memory on offer that a peer was shown.
  struct Shown {
    std::uint32_t number;
    bool is_seen;
  };
  // The same, where it lies, of one that the peer has seen.
  struct Lendable {
    const std::byte* base = nullptr;
    std::uint64_t size_bytes = 0;
    std::uint32_t number = 0;
  };
  struct Slot {
    LinkState state = LinkState::unused;
    bool is_unasked = false;  // it is in the list of these
    std::uint32_t generation = 1;
    std::size_t burst = 1;        // packets that the next poll may take
    std::size_t drain_bytes = 0;  // of a closing link: what may still be handed over
    std::optional<HostLink> link;
    bool lends = false;                    // and borrows
    Lendable lendable;                     // what was lent of last
    std::vector<Shown> shown;              // to this peer
    std::vector<std::uint32_t> to_forget;  // that it was not told yet
    std::uint32_t requests_to_show = 0;    // so many more before one is shown again
    std::optional<Borrowed> borrowed;
  };
  // A handshake under way, and the time by which it must be over.
  struct Pending final : Timer {
    Pending(RingWire& owner, HostHandshake shake, Completion<Result<LinkId>>* connector)
        : wire(owner), handshake(std::move(shake)), outcome(connector) {}
    void expire() override;

    RingWire& wire;
    HostHandshake handshake;
    Completion<Result<LinkId>>* outcome;  // of the flow that connects; null for a listener's
  };

  RingWire(Runtime& runtime, LinkOwner& owner, const RingWireOptions& options, Descriptor epoll);

  Status start_connect(const std::string& path, Completion<Result<LinkId>>& outcome);
  Status add_pending(HostHandshake handshake, Completion<Result<LinkId>>* outcome);
  void step_pending(Pending& pending);
  void end_pending(Pending& pending, Result<LinkId> result);
  void accept_some();
  Status admit(const HostPeer& peer, HostEnd end);
  Result<LinkId> add_link(HostLink link);
  std::optional<std::uint32_t> unused_slot() const;

  bool poll_sockets();
  void serve_socket(std::uint32_t index);
  Status watch_descriptor(int descriptor, std::uint64_t tag);
  void forget_descriptor(int descriptor);

  LinkId id_of(std::uint32_t index) const;
  Slot* find_up(LinkId link);
  const Slot* find_up(LinkId link) const;
  void drop(Slot& slot, LinkState state);
  std::size_t poll_link(std::uint32_t index, PacketSink& sink, std::size_t budget);
  static bool may_drain(Slot& slot);
  Bytes reserve_at(LinkId link, ConstBytes rider, std::size_t size_bytes);
  void begin_lending(Slot& slot);
  bool find_lendable(Slot& slot, ConstBytes payload);
  void show(Slot& slot, const Offers::Offer& offer);
  void tell_to_forget(Slot& slot);
  void serve_lending(Slot& slot, ConstBytes bytes, Descriptor passed);
  ConstBytes borrow(Slot& slot, ConstBytes packet);
  void wake_sleepers();
  void end_if_due(Slot& slot);
  void give_back(PacketSink& sink);
  void disarm();

  Runtime& runtime_;
  LinkOwner& owner_;
  LinkSide* const side_;
  const HandshakeTerms terms_;
  const std::uint64_t handshake_ns_;
  Descriptor epoll_;
  std::optional<HostListener> listener_;
  Door door_{runtime_};
  std::vector<std::unique_ptr<Pending>> pending_;

  std::vector<Slot> slots_;
  std::vector<std::uint32_t> active_;   // slots in use
  std::vector<std::uint32_t> unasked_;  // whether their peers sleep, since packets were committed
  std::size_t flushed_ = 0;             // of those, the first so many
  std::size_t next_ = 0;                // in active_: whose turn it is
  std::size_t ending_ = 0;              // links that are closing or gone
  Slot* reserved_ = nullptr;            // where the open reservation is
  bool armed_ = false;
  std::uint32_t polls_to_look_ = 0;
  std::array<std::byte, frame_bytes_max> frame_;

  const LendingOptions lending_;
  Offers offers_;
  std::uint64_t packets_lent_ = 0;
  std::vector<Line> borrowed_;  // a packet whose payload was borrowed; a line for its headers first
};

}  // namespace remora::fabric::nic::ring
