// UnreliableQp: a queue pair of the software RNIC to which nothing is acknowledged: an unreliable
// connection (UC) or an end for datagrams (UD). It keeps what it has posted until the wire has room
// for it, and then forgets it.
//
// It shares nothing with reliable queue pairs but their device: they have a table and a turn of
// their own, which must not become slower.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "fabric/nic/queue_pair/engine.h"
#include "fabric/nic/queue_pair/receive_queue.h"
#include "fabric/nic/queue_pair/send_queue.h"
#include "fabric/nic/queue_pair/unreliable_receiver.h"
#include "fabric/queue_pair.h"

namespace remora::fabric::nic {

class UnreliableQp final : public QueuePair {
 public:
  // The device.
  class Owner {
   public:
    virtual void forget(UnreliableQp& qp) = 0;
    // The peer on this link used a key that it does not have.
    virtual void violated(LinkId link) = 0;

   protected:
    ~Owner() = default;
  };

  // Options and queues were checked by the device.
  UnreliableQp(Owner& owner, Engine& engine, DomainId domain, const QueuePairOptions& options);
  ~UnreliableQp() override;

  // The number that the device's table gave it.
  void set_number(QpNumber number) { connection_.number = number; }

  QpNumber number() const override { return connection_.number; }
  QpState state() const override { return state_; }
  QueuePairAddress address() const override;
  Status initialise() override;
  Status connect(const QueuePairAddress& peer, const ConnectOptions& options) override;
  void fail() override;
  void reset() override;
  Agreed agreed() const override {
    return is_datagram() ? engine_.wire.traits().links.agreed : connection_.traits.agreed;
  }
  Status post_receive(std::span<const ReceiveWork> works) override;

  // The device's side.

  // A packet for it, from the link that it came by.
  void handle(LinkId from, const Packet& packet, ConstBytes payload);
  void link_lost(LinkId link) { link_is_up_ = link_is_up_ && link != connection_.link; }
  DomainId domain() const { return connection_.domain; }
  bool uses_overrun_queue() const {
    return connection_.send_completions->overrun() || connection_.receive_completions->overrun();
  }

 private:
  // Sends what found no room, or more than one turn takes, or lies in memory that was not there.
  class Later final : public Timer {
   public:
    explicit Later(UnreliableQp& qp) : qp_(qp) {}
    void expire() override { qp_.transmit(); }

   private:
    UnreliableQp& qp_;
  };
  enum class Sent : std::uint8_t { yes, no_room, not_now, ended };

  Status post_sends(std::span<const SendWork> works) override;
  bool execute(const SendWork&) override { return false; }
  bool is_datagram() const { return options_.transport == Transport::ud; }
  const char* why_not(const SendWork& work) const;
  void transmit();
  Sent send_packet();
  Sent wait_for_room();
  Packet next_packet(const SendEntry& entry, std::uint32_t mtu_bytes) const;
  bool begin_data(LinkId link, const SendEntry& entry, const Packet& packet);
  void remember(LinkId link, PacketSequence sequence, std::uint64_t id);
  void hear_persisted(LinkId from, PacketSequence sequence);
  void complete_front();
  Sent fail_front(WorkStatus status);
  void enter_error();
  void push_flushed(Completions& completions, std::uint64_t id, Opcode opcode);

  Owner& owner_;
  Engine& engine_;
  Connection connection_;
  const QueuePairOptions options_;
  PacketSequence first_packet_ = 0;
  PacketSequence next_packet_ = 0;
  std::uint32_t offset_ = 0;            // bytes of the oldest request that have gone
  std::uint64_t no_room_until_ns_ = 0;  // a datagram waits; 0: none
  bool link_is_up_ = false;             // of a connection
  QpState state_ = QpState::reset;
  SendQueue sends_;
  ReceiveQueue receives_;
  const std::unique_ptr<MessageMover> mover_;  // of one with a log
  UnreliablePersist persist_;
  UnreliableReceiver receiver_;
  // Messages whose persistence the peer may tell, by their last numbers: a ring, where that is
  // asked for.
  struct Untold {
    LinkId link = 0;
    PacketSequence sequence = 0;
    std::uint64_t id = 0;
    bool waits = false;
  };
  std::vector<Untold> untold_;
  std::uint32_t next_untold_ = 0;
  Later later_{*this};
  Parts parts_;
};

}  // namespace remora::fabric::nic
