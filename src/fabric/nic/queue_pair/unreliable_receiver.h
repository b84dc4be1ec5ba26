// UnreliableReceiver: the receiving half of a queue pair to which nothing is acknowledged: an
// unreliable connection, or an end for datagrams. What it cannot take is lost, and nobody is told.
//
// One thread, no allocation.
#pragma once

#include <cstdint>

#include "fabric/nic/queue_pair/engine.h"
#include "fabric/nic/queue_pair/receive_queue.h"
#include "fabric/nic/queue_pair/unreliable_persist.h"

namespace remora::fabric::nic {

class UnreliableReceiver {
 public:
  // What a packet has come to.
  enum class Verdict : std::uint8_t {
    well,      // taken, or lost
    violated,  // lost, for want of a key, bounds or a right
    failed,    // a receive of this side is wrong: the queue pair is at its end
  };

  UnreliableReceiver(Connection& connection, ReceiveQueue& queue, UnreliablePersist& persist)
      : connection_(connection), engine_(connection.engine), queue_(queue), persist_(persist) {}
  UnreliableReceiver(const UnreliableReceiver&) = delete;
  UnreliableReceiver& operator=(const UnreliableReceiver&) = delete;

  // A new connection; the peer's first packet has this number.
  void start(PacketSequence first);

  // A packet of an unreliable connection.
  Verdict take(const Packet& packet, ConstBytes payload);
  // A datagram, for a queue pair with this queue key.
  Verdict take_datagram(LinkId from, const Packet& packet, ConstBytes payload, QueueKey key);

 private:
  enum class Message : std::uint8_t { none, send, write };

  bool begin(const Packet& packet, ConstBytes payload, Verdict& verdict);
  bool is_placed_well(const PacketRow& row, std::size_t size_bytes) const;
  Verdict place_send(const PacketRow& row, const Packet& packet, ConstBytes payload);
  Verdict place_write(const PacketRow& row, const Packet& packet, ConstBytes payload);
  bool has_receive() { return !queue_.empty() || queue_.take_shared(); }
  Verdict store_into_receive(std::uint64_t offset, ConstBytes payload, bool& stored);
  Verdict log_message(const Packet& packet, std::uint32_t size_bytes, std::uint32_t skipped_bytes,
                      const UnreliablePersist::Sender& sender);
  Verdict flush_write(const Packet& packet, bool has_imm);
  void complete(const Packet& packet, Opcode opcode, bool has_immediate, std::uint32_t size_bytes);
  Verdict lose() {
    message_ = Message::none;
    ++engine_.counters.packets_dropped;
    return Verdict::well;
  }
  Reach reach(std::uint64_t address, RemoteKey key, std::uint64_t size) const {
    return {connection_.domain, key, address, size, remote_write};
  }

  Connection& connection_;
  Engine& engine_;
  ReceiveQueue& queue_;
  UnreliablePersist& persist_;

  PacketSequence expected_ = 0;
  Message message_ = Message::none;  // under way, and nothing of it lost so far
  std::uint32_t message_bytes_ = 0;  // received of it
  std::uint32_t write_length_ = 0;
  std::uint64_t write_address_ = 0;
  RemoteKey write_key_ = 0;
  bool is_flushed_ = false;  // the region that it goes to is
  Parts parts_;
};

}  // namespace remora::fabric::nic
