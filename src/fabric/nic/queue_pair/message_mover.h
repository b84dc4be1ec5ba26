// MessageMover: the messages of a queue pair with a log, from the receives that they came into to
// their places. First comes DMA A, into the receive; when all of a message is there it is held, and
// its receive is not told. Then comes DMA B, of all that are held, to the next places; when these
// are persistent, their receives are told, with the places.
//
// One thread, no allocation after it was made.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fabric/message_log.h"
#include "fabric/nic/queue_pair/persist_steps.h"
#include "fabric/nic/queue_pair/pieces.h"
#include "fabric/nic/queue_pair/receive_queue.h"

namespace remora::fabric::nic {

// Why a queue pair cannot have this log, or null.
const char* why_not_bind(const MessageLog& log, DomainId domain, const Memory& memory);

class MessageMover {
 public:
  // The log was found to be fit.
  MessageMover(Connection& connection, MessageLog& log, const QueuePairOptions& options);

  MessageLog& log() { return log_; }
  bool by_itself() const { return log_.options().by_itself; }

  // Whether a message of this size has a place in the log at all.
  bool fits(std::uint32_t size_bytes) const {
    return size_bytes >= log_.least_bytes() && size_bytes <= log_.options().place_bytes;
  }
  // Whether one more may be held; more than the log has places, or the queue receives, never get
  // out.
  bool may_hold() const { return held_ < messages_.size() && held_ < log_.options().places; }
  // The message in the oldest receive of the queue is complete; the receive leaves the queue.
  // `skipped_bytes` in front of it stay behind: a datagram's header.
  void hold(ReceiveQueue& queue, std::uint32_t size_bytes, std::uint32_t skipped_bytes = 0);
  std::uint32_t held() const { return held_; }
  std::size_t capacity() const { return messages_.size(); }
  // Whether all that are held, and so many more, have places.
  bool has_room(std::uint32_t more = 0) const { return log_.has_room(held_ + more); }

  // Copies what is held to the next places, for these steps to make persistent; false if a receive
  // may not be read.
  bool move(PersistSteps& steps);
  // What was moved is persistent: the receiver is told. Returns the number of the last place.
  std::uint64_t tell();
  // The queue pair has come to its end: what is held completes with `flushed`.
  void flush();
  void clear() { first_ = held_ = moved_ = 0; }

  // Told at once, as no device should; for planted bugs.
  void tell_early();

 private:
  struct Held {
    std::uint64_t id = 0;
    std::size_t pieces = 0;
    std::uint32_t size_bytes = 0;
    std::uint32_t skipped_bytes = 0;
    bool told = false;
  };

  Held& at(std::uint32_t index) { return messages_[(first_ + index) % messages_.size()]; }
  std::span<const Sge> pieces_of(std::uint32_t index) const;
  bool move_one(std::uint32_t index, PersistSteps& steps);
  bool copy(std::uint32_t index, std::uint64_t from, std::uint64_t size, std::byte* to);
  void complete(const Held& held, std::uint64_t place);

  Connection& connection_;
  Engine& engine_;
  MessageLog& log_;
  const std::size_t max_pieces_;
  std::vector<Held> messages_;  // a ring
  std::vector<Sge> pieces_;
  std::uint32_t first_ = 0;
  std::uint32_t held_ = 0;
  std::uint32_t moved_ = 0;  // of these, the oldest
  Parts parts_;
};

}  // namespace remora::fabric::nic
