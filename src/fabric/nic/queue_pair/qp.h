// Qp: the queue pair of the software RNIC: its states, its two queues, and the requester and the
// responder that serve them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "fabric/nic/queue_pair/engine.h"
#include "fabric/nic/queue_pair/receive_queue.h"
#include "fabric/nic/queue_pair/requester.h"
#include "fabric/nic/queue_pair/responder.h"
#include "fabric/nic/queue_pair/send_queue.h"
#include "fabric/queue_pair.h"
#include "runtime/intrusive_list.h"

namespace remora::fabric::nic {

class Qp;

// What a queue pair needs of its device: the engine, the list of those that have something to do,
// and what it says when something ends or goes wrong.
class QpOwner {
 public:
  QpOwner(Runtime& runtime, Wire& wire, Dma& dma, const Keys& keys, std::uint32_t cached_pages)
      : engine_(runtime, wire, dma, keys, cached_pages) {}
  QpOwner(const QpOwner&) = delete;
  QpOwner& operator=(const QpOwner&) = delete;

  Engine& engine() { return engine_; }
  // The queue pair has something to send in this turn or the next.
  void activate(Qp& qp);

  virtual void forget(Qp& qp) = 0;
  // The peer on this link used a key that it does not have.
  virtual void violated(LinkId link) = 0;
  // Tells the peer device about a queue pair of this one; see syndrome_gone. The sequence says
  // which connection is meant: its first packet from this side, or a packet of the peer's.
  virtual void send_notice(LinkId link, QpNumber about, PacketSequence sequence,
                           std::uint8_t syndrome) = 0;

 protected:
  ~QpOwner() = default;

  Engine engine_;
  IntrusiveList<Qp> active_;
};

// A member of its owner's list of those that have something to do.
class Qp final : public QueuePair, public ListHook, private Requester::Owner, private Lane::Owner {
 public:
  // Options and queues were checked by the domain.
  Qp(QpOwner& owner, DomainId domain, const QueuePairOptions& options);
  ~Qp() override;

  // The number that the device's table gave it.
  void set_number(QpNumber number) { connection_.number = number; }

  QpNumber number() const override { return connection_.number; }
  QpState state() const override { return state_; }
  QueuePairAddress address() const override;
  Status initialise() override;
  Status connect(const QueuePairAddress& peer, const ConnectOptions& options) override;
  void fail() override;
  void reset() override;
  bool quiet() const override;
  bool lost() const override { return lane_ && lane_->lost(); }
  Agreed agreed() const override { return connection_.traits.agreed; }
  Status post_receive(std::span<const ReceiveWork> works) override;

  // The device's side.

  // A packet for it, from the link that it came by.
  void handle(LinkId from, const Packet& packet, ConstBytes payload);
  // The same in fewer steps, if it is a packet of the commonest kind; else nothing is done.
  [[gnu::always_inline]] bool handle_straight(LinkId from, const Packet& packet,
                                              ConstBytes payload) {
    if (state_ != QpState::ready_to_send || from != connection_.link ||
        !responder_.take_straight(packet, payload)) {
      return false;
    }
    if (responder_.failed()) [[unlikely]] {
      deal_with_failure();
    }
    return true;
  }
  // Where nothing gets lost an answer that leaves nothing to do is common; elsewhere whoever was
  // asked first is served first.
  bool is_to_be_served() const {
    return !connection_.traits.lossless || requester_.may_send() || responder_.owes();
  }
  // Sends what there is to send; true if some is left for want of room.
  bool serve();
  // Whether what it has to send gains by leaving at the end of the turn, with what may be posted
  // until then.
  bool waits_for_company() const {
    return (connection_.traits.gathers || connection_.traits.carries_riders) &&
           responder_.owes_for_message_alone() && !requester_.may_send();
  }
  bool awaits_persistence() const { return responder_.awaits_persistence(); }

  bool is_linked(LinkId link) const { return is_connected() && connection_.link == link; }
  DomainId domain() const { return connection_.domain; }
  AccessFlags remote_access() const { return connection_.options.remote_access; }
  bool has_peer(QpNumber peer) const { return connection_.peer == peer; }
  bool uses_overrun_queue() const {
    return connection_.send_completions->overrun() || connection_.receive_completions->overrun();
  }
  // The peer cannot be reached any more.
  void link_lost();
  // A notice about the peer's queue pair.
  void peer_notice(const Packet& notice);

 private:
  bool is_connected() const { return state_ >= QpState::ready_to_receive; }
  // The request that the lane has not executed yet: it comes before all in the send queue.
  struct Held {
    std::uint64_t id = 0;
    Opcode opcode = Opcode::send;
    bool signalled = false;
    std::uint32_t size_bytes = 0;  // as the completion has it
  };

  Status post_sends(std::span<const SendWork> works) override;
  bool execute(const SendWork& work) override;
  void go_on() override;
  void ask_peer() override;
  bool has_rider() const override { return responder_.owes_for_message_alone(); }
  Packet rider() const override { return responder_.rider(); }
  void rider_went() override { responder_.rider_went(); }
  void lane_finished() override;
  void count_short_cut(std::size_t requests) {
    if (requests != 0) [[likely]] {
      connection_.engine.counters.requests_short_cut += requests;
      connection_.engine.ask_for_turn();
    }
  }
  Status post_by_wire(std::span<const SendWork> works);
  // The lane is at this request.
  void hold(const SendWork& work);
  void end_held(WorkStatus status);
  void deal_with_failure();
  void enter_error();
  void drop_lane();
  void retire();
  void flush_queues();
  void tell_gone();
  Status post_one(const SendWork& work);
  bool is_plain(const SendWork& work) const;
  void push(const SendWork& work, std::uint32_t size_bytes);
  void push_flushed(Completions& completions, std::uint64_t id, Opcode opcode);

  QpOwner& owner_;
  Connection connection_;
  const QueuePairOptions options_;
  PacketSequence first_packet_ = 0;
  PacketSequence peer_first_packet_ = 0;
  QpState state_ = QpState::reset;
  SendQueue sends_;
  ReceiveQueue receives_;
  Requester requester_;
  const std::unique_ptr<MessageMover> mover_;  // of one with a log
  Responder responder_;
  std::unique_ptr<Lane> lane_;
  // The lane's, while nothing is outstanding; or some that match nothing. Never null.
  const Windows* windows_;
  std::optional<Held> held_;
};

inline void QpOwner::activate(Qp& qp) {
  if (!qp.linked()) {
    active_.push_back(qp);
    engine_.ask_for_turn();
  }
}

}  // namespace remora::fabric::nic
