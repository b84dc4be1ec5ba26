// Requester: the sending half of a queue pair. It turns posted requests into packets and the peer's
// answers into completions, in order; what gets lost it sends again.
//
// Every request has its sequence numbers from the moment it is posted: one for each packet, of the
// request or, for a READ, of the response. Three of them tell all:
//
//   oldest_   the first that the peer has not acknowledged, or answered
//   next_     the first to be sent now; goes back to oldest_ when something was lost
//   newest_   the first that was never sent
//
// One thread, no allocation. It fails once; the queue pair asks failed() after every call.
#pragma once

#include <cstdint>

#include "fabric/nic/queue_pair/engine.h"
#include "fabric/nic/queue_pair/pieces.h"
#include "fabric/nic/queue_pair/send_queue.h"
#include "fabric/nic/queue_pair/send_window.h"
#include "runtime/timer.h"

namespace remora::fabric::nic {

class Requester {
 public:
  // Called after a timer of the requester has done something: what is to be sent is sent, and a
  // failure is dealt with.
  class Owner {
   public:
    virtual void go_on() = 0;
    // Asks the peer whether it is there; on wires that lose nothing.
    virtual void ask_peer() = 0;
    // Whether this side owes an acknowledgement that a message may take along; which, and that it
    // went.
    virtual bool has_rider() const = 0;
    virtual Packet rider() const = 0;
    virtual void rider_went() = 0;

   protected:
    ~Owner() = default;
  };

  Requester(Owner& owner, Connection& connection, SendQueue& queue)
      : owner_(owner),
        connection_(connection),
        engine_(connection.engine),
        queue_(queue),
        timeout_(*this),
        pause_(*this) {}
  Requester(const Requester&) = delete;
  Requester& operator=(const Requester&) = delete;

  // A new connection, whose first packet has this number.
  void start(PacketSequence first);
  // Nothing is sent or awaited from here on.
  void stop();

  // The request that was pushed last gets its sequence numbers.
  void number(SendEntry& entry) {
    const std::uint32_t mtu = connection_.traits.mtu_bytes;
    const bool one = !may_span_packets(entry.opcode) || entry.size_bytes <= mtu ||
                     entry.size_bytes > connection_.max_message_bytes;  // which is never sent
    entry.first = posted_;
    entry.packets = one ? 1 : (entry.size_bytes - 1) / mtu + 1;
    posted_ = psn_add(posted_, entry.packets);
  }

  // Sends what the window, the wire and the order of things allow; true if the wire had no room.
  bool transmit();

  // Whether there is something that transmit has not sent.
  bool may_send() const { return cursor_ != queue_.tail() || peer_gone_; }

  // From the peer. Both complete requests; what comes to be sent is sent by the next transmit.
  void handle_acknowledge(const Packet& packet);
  void handle_response(const Packet& packet, ConstBytes payload);

  // The peer's queue pair is not connected yet, or gone.
  void peer_not_ready(std::uint8_t rnr_code);
  void peer_gone() { peer_gone_ = true; }
  // The peer has answered that it is there.
  void peer_alive() { heard_ = true; }

  // While held, nothing is sent: a request that is not in the queue comes first.
  void hold(bool held) { held_ = held; }

  // Whether this packet was sent and not acknowledged.
  bool is_outstanding(PacketSequence sequence) const {
    return psn_distance(oldest_, sequence) >= 0 && psn_distance(sequence, newest_) > 0;
  }

  bool failed() const { return failed_; }
  // Nothing more will come from the peer: the oldest request fails with retry_exceeded.
  void give_up();

 private:
  class Timeout final : public Timer {
   public:
    explicit Timeout(Requester& requester) : requester_(requester) {}
    void expire() override {
      requester_.timed_out();
      requester_.owner_.go_on();
    }

   private:
    Requester& requester_;
  };
  class Pause final : public Timer {
   public:
    explicit Pause(Requester& requester) : requester_(requester) {}
    void expire() override { requester_.owner_.go_on(); }

   private:
    Requester& requester_;
  };

  // Sending.
  bool may_begin(SendEntry& entry);
  bool may_ask(const SendEntry& entry) const;
  WorkStatus check(const SendEntry& entry);
  enum class Sent : std::uint8_t { yes, no_room, refused, not_now };
  // Whether the straight way is its way (requester_straight.cpp).
  bool is_straight(const SendEntry& entry) const {
    return entry.packets == 1 && entry.piece_count == 1 && entry.size_bytes != 0 &&
           entry.size_bytes <= connection_.traits.mtu_bytes && next_ == newest_ &&
           !entry.is_answered() && entry.failure == WorkStatus::success &&
           !(entry.fence && reads_ != 0);
  }
  bool is_straight_read(const SendEntry& entry) const {
    return entry.opcode == Opcode::read && entry.packets == 1 && entry.piece_count == 1 &&
           entry.size_bytes != 0 && entry.size_bytes <= connection_.traits.mtu_bytes &&
           next_ == newest_ && entry.failure == WorkStatus::success &&
           reads_ < connection_.options.reads_in_flight && !(entry.fence && reads_ != 0);
  }
  Sent send_straight(const SendEntry& entry);
  Sent send_straight_read(const SendEntry& entry);
  void went_straight();
  void commit_straight(PacketOpcode opcode, const SendEntry& entry, Bytes room);
  Sent send_straight_write(const SendEntry& entry, const std::byte* from);
  Sent send_straight_other(const SendEntry& entry, const std::byte* from);
  Sent send_one(SendEntry& entry);
  Sent send_data(const SendEntry& entry, Packet& packet, std::uint64_t offset);
  bool begin_data(const SendEntry& entry, const Packet& packet, std::uint64_t offset);
  bool begin_message(const Packet& packet, Bytes& payload);
  Sent send_request(const SendEntry& entry, Packet& packet, std::uint64_t offset);
  void advance(const SendEntry& entry, const Packet& packet, std::uint32_t packets);
  bool is_followed() const;
  bool wants_acknowledge(bool last);

  // Answers.
  bool acknowledge_before(PacketSequence sequence);
  void progressed(PacketSequence oldest);
  void complete_front(std::uint32_t size_bytes);
  void fail_front(WorkStatus status);
  void wait_for_receive(std::uint8_t code);
  void wait_for_medium(std::uint8_t code);
  void pause(std::uint8_t code);
  void wait_for_memory();
  bool take_read(const SendEntry& entry, const Packet& packet, ConstBytes payload);
  bool bring(std::span<const Sge> pieces, std::uint64_t offset, ConstBytes payload);
  bool take_value(const SendEntry& entry, const Packet& packet);

  // Losses.
  void go_back();
  void lost_something();
  void lost_something_once();
  std::uint32_t part_end(const SendEntry& entry, std::uint32_t index) const;
  void watch_time();
  void watch_peer();
  void look_for_peer();
  void timed_out();

  Owner& owner_;
  Connection& connection_;
  Engine& engine_;
  SendQueue& queue_;
  SendWindow window_;

  PacketSequence posted_ = 0;  // behind all that is posted
  PacketSequence oldest_ = 0;
  PacketSequence next_ = 0;
  PacketSequence newest_ = 0;
  std::uint32_t cursor_ = 0;   // the entry that next_ belongs to
  std::uint32_t reads_ = 0;    // sent and not answered: READs (or parts), atomics, FLUSHes
  std::uint32_t unasked_ = 0;  // packets since an acknowledgement was asked for

  std::uint8_t retries_ = 0;
  std::uint8_t rnr_retries_ = 0;
  bool went_back_ = false;        // since the last progress
  bool waits_for_flush_ = false;  // why it paused: the answer ends that
  bool running_ = false;
  bool peer_gone_ = false;
  bool failed_ = false;
  bool held_ = false;
  std::uint64_t deadline_ns_ = 0;
  bool heard_ = false;              // from the peer, since the last look
  PacketSequence oldest_seen_ = 0;  // at the last look
  Timeout timeout_;
  Pause pause_;  // armed while the peer is not ready, its medium is at a FLUSH, or memory is not
                 // there
  Parts parts_;
};

}  // namespace remora::fabric::nic
