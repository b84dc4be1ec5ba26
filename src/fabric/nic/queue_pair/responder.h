// Responder: the receiving half of a queue pair. It executes the peer's requests in order, once
// each, and answers them in order. Requests that are answered by a response (READ, atomics,
// ATOMIC_WRITE, FLUSH) are remembered, so that a repeated one is answered again without being
// executed again.
//
// While a FLUSH waits for the medium, or an atomic for room on the wire, later requests are turned
// away; a NAK then asks for them again. So nothing of theirs has to be kept. The same holds where
// the bytes that a packet needs are not there now (Translation): an RNR with its number says so,
// and it comes again after a while, with all that followed it.
//
// One thread, no allocation after start. It fails once; the queue pair asks failed() after every
// call, and lets a failed one go on answering: the peer must learn why.
#pragma once

#include <cstdint>
#include <vector>

#include "fabric/nic/queue_pair/engine.h"
#include "fabric/nic/queue_pair/message_mover.h"
#include "fabric/nic/queue_pair/persist_steps.h"
#include "fabric/nic/queue_pair/pieces.h"
#include "fabric/nic/queue_pair/receive_queue.h"

namespace remora::fabric::nic {

class Responder {
 public:
  // The mover is of a queue pair with a log, or null.
  Responder(Connection& connection, ReceiveQueue& queue, MessageMover* mover)
      : connection_(connection),
        engine_(connection.engine),
        queue_(queue),
        mover_(mover),
        steps_(connection) {}
  Responder(const Responder&) = delete;
  Responder& operator=(const Responder&) = delete;

  // A new connection; the peer's first packet has this number.
  void start(PacketSequence first);
  // Nothing is executed or answered from here on.
  void stop();

  void handle_request(const Packet& packet, ConstBytes payload);

  // The same in fewer steps, of a WRITE or READ of one packet that comes when it is expected, asks
  // for nothing unusual, and finds its bytes in one place, as most do. False, and nothing done, for
  // any other.
  [[gnu::always_inline]] bool take_straight(const Packet& packet, ConstBytes payload) {
    if (packet.opcode == PacketOpcode::read_request) {
      return take_straight_read(packet);
    }
    const bool is_straight = packet.opcode == PacketOpcode::write_only &&
                             packet.sequence == expected_ && payload.size() == packet.length &&
                             !payload.empty() && payload.size() <= connection_.traits.mtu_bytes &&
                             message_ == Message::none && owed_resources_ == 0 && running_ &&
                             !failed_ && !asked_again_ && grants(remote_write);
    if (!is_straight) {
      return false;
    }
    std::byte* const to =
        engine_.translate(reach(packet.address, packet.key, payload, remote_write));
    if (to == nullptr) [[unlikely]] {
      return false;
    }
    engine_.dma.write(connection_.number, to, payload);
    engine_.wire.charge(Wire::Cost::memory_write, payload.size());
    expected_ = psn_add(expected_, 1);
    ++messages_;
    if (packet.acknowledge_request) {
      owe(Owed::acknowledge);
    }
    return true;
  }

  // Sends what is owed to the peer; true if some of it is left.
  bool respond();

  // Whether there is something for it to send.
  bool owes() const { return owed_ != Owed::nothing || owed_resources_ != 0; }

  // Whether that is no more than the acknowledgement of a message, which its receiver is going to
  // see in this turn: an answer may leave soon.
  bool owes_for_message_alone() const {
    return delivered_ && owed_ == Owed::acknowledge && owed_resources_ == 0 && !failed_;
  }

  // That acknowledgement, to be asked for while it owes it; and that a packet to the peer has taken
  // it along.
  Packet rider() const {
    return acknowledgement(psn_add(expected_, sequence_mask), syndrome_acknowledge);
  }
  void rider_went() {
    engine_.dma.acknowledged(connection_.number);
    owed_ = Owed::nothing;
    delivered_ = false;
  }

  bool failed() const { return failed_; }
  // Whether the failure was a key, bound or right that the peer does not have.
  bool was_violated() const { return failed_ && reason_ == syndrome_nak_access; }
  // Whether a FLUSH, or a message that is held back, waits for the medium.
  bool awaits_persistence() const { return waiting_; }

 private:
  enum class Message : std::uint8_t { none, send, write };
  enum class Owed : std::uint8_t { nothing, acknowledge, sequence, patience, reason };

  // A request that is answered by a response.
  struct Resource {
    PacketOpcode opcode = PacketOpcode::read_request;
    PacketSequence first = 0;
    PacketSequence begin = 0;   // where the answer begins: later than first in a repeated READ
    PacketSequence next = 0;    // READ: the next packet of the answer
    std::uint32_t packets = 0;  // none: not in use
    std::uint32_t length = 0;
    RemoteKey key = 0;
    std::uint64_t address = 0;
    std::uint64_t operand = 0;
    std::uint64_t compare = 0;
    std::uint64_t value_before = 0;
    std::uint64_t give_up_ns = 0;
    Ticket ticket = {};
    RemoteKey word_key = 0;
    std::uint32_t immediate = 0;
    bool solicited = false;
    FlushPlacement placement = FlushPlacement::visibility;
    bool whole_region = false;
    bool executed = false;
    bool begun = false;     // a packet of the answer went out
    bool answered = false;  // once at least
    bool owed = false;
    bool repeated = false;  // asked for again, while it was owed
    bool lends = false;
    std::uint32_t waits = 0;  // turns in which it could not be lent
  };
  enum class Answer : std::uint8_t { sent, later, not_now, refused };

  // Requests (responder.cpp).
  void execute(const Packet& packet, ConstBytes payload);
  void execute_send(const Packet& packet, ConstBytes payload);
  void execute_write(const Packet& packet, ConstBytes payload);
  bool begin_write(const Packet& packet, std::size_t payload_bytes);
  bool is_placed_well(bool first, bool last, Message kind, std::size_t size_bytes) const;
  void finish_message(const Packet& packet, Opcode opcode);
  void fail_receive(WorkStatus status, std::uint8_t reason);
  void accept(const Packet& packet, std::uint32_t packets = 1);
  bool place(const Reach& wanted, ConstBytes payload);
  void not_now();
  void refuse(std::uint8_t reason);
  void owe(Owed what) { owed_ = owed_ < what ? what : owed_; }
  Reach reach(std::uint64_t address, RemoteKey key, std::uint64_t size, AccessFlags rights) const {
    return {connection_.domain, key, address, size, rights};
  }
  // The same for bytes that are about to be stored.
  Reach reach(std::uint64_t address, RemoteKey key, ConstBytes payload, AccessFlags rights) const {
    return {connection_.domain, key, address, payload.size(), rights, payload.data()};
  }
  // What the queue pair lets its peer do, in whatever region.
  bool grants(AccessFlags rights) const {
    return (rights & ~connection_.options.remote_access) == 0;
  }
  bool allows(const Reach& reach) const;

  // READs and atomics of a queue pair return what was there in their order. What is lent is taken
  // when the peer comes to it: so before anything of that kind is done here, it is had back.
  // Whether any of this link was out.
  bool have_loans_back() {
    if (!lent_) [[likely]] {
      return false;
    }
    lent_ = false;
    return engine_.recall(connection_.link);
  }

  // A READ, straight (responder_straight.cpp).
  bool take_straight_read(const Packet& packet);

  // Requests that are answered by a response (responder_answer.cpp, responder_flush.cpp), and what
  // is told when it is persistent (responder_durable.cpp).
  void remember(const Packet& packet, ConstBytes payload);
  std::uint8_t check(const Packet& packet) const;
  std::uint8_t check_word(const Packet& packet, const PlacedWord& word) const;
  static void keep_steps(Resource& resource, const Packet& packet, const PlacedWord& word);
  Resource* find(PacketSequence sequence);
  void repeat(const Packet& packet);
  bool is_busy() const;
  bool answer_all();
  Answer answer_owed(Resource& resource);
  Answer put_off(Resource& resource);
  void drop_answers();
  Answer answer(Resource& resource);
  Answer answer_read(Resource& resource);
  bool may_read_parts();
  bool read_parts(Bytes out);
  Answer answer_one(Resource& resource);
  Answer execute_resource(Resource& resource);
  Answer begin_flush(Resource& resource);
  Answer flush_range(Resource& resource, const RegisteredMemory& memory, ConstBytes range);
  Answer await_flush(Resource& resource);
  void tell_that_it_waits(Resource& resource);
  Answer begin_steps(Resource& resource);
  Answer cover(Resource& resource);
  Answer move_held();
  Answer await_steps(Resource& resource);
  void tell_immediate(const Resource& resource);
  bool take_for_log(const Packet& packet);
  void flush_write(const Packet& packet);
  void hold_back(const Packet& packet);
  bool go_on_with_held();
  std::uint8_t waiting_syndrome() const;
  bool send_owed();
  Packet acknowledgement(PacketSequence sequence, std::uint8_t syndrome) const {
    return {.opcode = PacketOpcode::acknowledge,
            .syndrome = syndrome,
            .queue_pair = connection_.peer,
            .sequence = sequence,
            .message_count = messages_ & sequence_mask};
  }
  bool send_syndrome(PacketSequence sequence, std::uint8_t syndrome);

  Connection& connection_;
  Engine& engine_;
  ReceiveQueue& queue_;

  PacketSequence expected_ = 0;
  std::uint32_t messages_ = 0;  // executed
  Message message_ = Message::none;
  std::uint32_t message_bytes_ = 0;  // received of this message
  std::uint32_t write_length_ = 0;
  std::uint64_t write_address_ = 0;
  RemoteKey write_key_ = 0;

  Owed owed_ = Owed::nothing;
  bool delivered_ = false;    // a message, since it was last tried to acknowledge something
  std::uint8_t reason_ = 0;   // of the failure, as a syndrome
  bool asked_again_ = false;  // a NAK for expected_ went out, or is owed
  bool failed_ = false;
  bool running_ = false;
  bool waiting_ = false;
  bool is_flushed_ = false;     // the WRITE under way goes to a region that is
  bool held_back_ = false;      // held_packet_, until what it ended is persistent
  bool held_repeated_ = false;  // it came again
  bool lent_ = false;           // answers to READs, which the peer may not have taken

  std::vector<Resource> resources_;   // a ring
  std::uint64_t remembered_ = 0;      // resources ever used
  std::uint32_t owed_resources_ = 0;  // of them, to be answered
  Parts parts_;

  // Of verbs for durability.
  MessageMover* const mover_;  // or null
  PersistSteps steps_;
  Packet held_packet_;
};

}  // namespace remora::fabric::nic
