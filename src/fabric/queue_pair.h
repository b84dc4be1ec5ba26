// QueuePair: a reliable connection (RC) to one peer, and what may be relied upon on it; or an
// unreliable connection (UC), or an end for datagrams (UD). Each numbered sentence is a contract
// test that runs on every wire; the test's name begins with the number. One number, one sentence:
// the formatter leaves them as they stand. Where nothing else is said, a sentence is of a reliable
// connection; of the others hold O2, O3, R2, R3, F4, F5, P2 and P8, and what is under UNRELIABLE.
//
// clang-format off
//
// ORDER
//  O1  Work requests of one send queue are executed by the responder in the order posted.
//  O2  Completions of one send queue come in the order posted.
//  O3  A completion of a signalled request vouches for all unsignalled ones posted before it.
//  O4  Receives are consumed in the order posted, one for each SEND or IMM, in the order sent.
//  O5  A READ or atomic may be overtaken by later WRITEs and SENDs only in what it returns, never
//      in completion order; with `fence` on the later request it is not overtaken at all.
//  O6  There is no order between two queue pairs.
//
// PLACEMENT
//  P1  A successful completion of a SEND or WRITE says that the responder has received it without
//      error; it does not say that the bytes are visible, nor that they are persistent.
//  P2  When the completion of a receive has been polled, the bytes of that message and of every
//      earlier WRITE on the queue pair are visible to the target.
//  P3  A READ or atomic sees every earlier WRITE of its own queue pair.
//  P4  A target CPU that watches the memory of one WRITE sees its last word, aligned, appear after
//      all its other bytes; where the device's attributes say so, it sees all bytes in ascending
//      order; in memory that is registered with relaxed_order there is no such order.
//  P5  When a FLUSH to visibility has completed, the bytes that this queue pair wrote in its range
//      are visible to everyone.
//  P6  When a FLUSH to persistence has completed, they are also persistent, in the sense of the
//      region that the memory was registered with; on page media that takes a commit. Where the
//      device's flush_worth is less, they have left the peer's NIC, and that is all.
//  P7  A FLUSH of a whole region covers all that the queue pair wrote in that region.
//  P8  Nothing outside the target range of an operation is changed by it.
//
// ATOMICITY
//  A1  compare_swap, fetch_add and atomic_write are indivisible among operations of one device, on
//      aligned 8-byte words; an unaligned address is a remote_invalid_request.
//  A2  compare_swap and fetch_add return the value from before.
//  A3  Aligned 8-byte words are never torn by a WRITE or READ that begins at one of them, whatever
//      its size and wherever its bytes lie at the initiator.
//
// PROTECTION
//  R1  An operation succeeds only with the key of a region in the same protection domain as the
//      responder's queue pair, within its bounds, and with every right that it needs; otherwise it
//      changes nothing, completes with remote_access_error, and both queue pairs go to error.
//  R2  Local pieces are held to the same rule: local_protection_error, before anything is sent.
//  R3  After a region is destroyed its keys are worth nothing.
//  R4  A peer that keeps guessing keys is cut off after a limit of failures.
//
// FAILURE
//  F1  A SEND that finds no receive posted is retried as often as rnr_retry says (7: for ever),
//      then completes with rnr_retry_exceeded.
//  F2  A message longer than the receive that it finds is a remote_invalid_request for the sender
//      and a local_length_error for the receiver.
//  F3  A peer that dies or stands still, or a wire that is cut, makes outstanding requests complete
//      with retry_exceeded after at most the time that timeout and retry_count allow; a peer whose
//      medium takes long to make a FLUSH persistent neither dies nor stands still.
//  F4  After the first failure the queue pair is in the error state, and everything still queued,
//      on both queues, completes with `flushed`, in order.
//  F5  What is posted to a queue pair in error completes with `flushed` too.
//  F6  Bytes of a request that failed may have been written in part within its target range.
//  F7  Loss, duplication and reordering by the wire change nothing of all this but time.
//
// UNRELIABLE
//  U1  An unreliable connection carries SEND and WRITE, with or without immediate data; an end for
//      datagrams carries SENDs alone; what they do not carry is refused when it is posted.
//  U2  A successful completion says that the request has left, and that its buffers are the
//      program's again; nobody tells whether it arrives.
//  U3  A message of an unreliable connection of which a packet is lost is lost as a whole: it
//      consumes no receive, and of a WRITE a part may have been written within its target range.
//  U4  Those messages of an unreliable connection that arrive are executed once each, in the order
//      posted.
//  U5  A datagram arrives once, never, late, or more than once, as the wire has it.
//  U6  A message that finds no receive, or one that is too short, is lost; what comes after it is
//      not, and a receive that was too short waits for the next. On an RDMA device it may fail
//      instead, and end its queue pair.
//  U7  A datagram is one packet, of max_datagram_bytes at most; a longer one is refused when it is
//      posted.
//  U8  A datagram is taken only where the queue key is the one that it names.
//  U9  The receive of a datagram begins with a DatagramHeader, which says who sent it, so that it
//      can be answered.
//  U10  A WRITE of an unreliable connection without the key, bounds or rights that R1 asks for is
//      lost and changes nothing; nobody is told, and both queue pairs go on.
//  U11  A peer that is gone is not noticed: what is posted completes as before.
//
// DURABLE
//  D1  What the standard does not have is posted where both sides have agreed to it alone; elsewhere
//      it is refused as unsupported, and nothing is sent.
//  D2  A FLUSH with immediate data consumes a receive of the peer's, and is told there, when the
//      bytes that it covers are persistent; for want of a receive F1 holds.
//  D3  A FLUSH with payload stores its word, aligned, when the bytes that it covers are persistent
//      and never before, seen or kept; when it has completed, the word is persistent too.
//  D4  That word may lie in another region than the bytes; R1 holds for both, and the word needs the
//      rights to WRITE and to flush to persistence.
//  D5  On a queue pair with a log (message_log.h) the receive of a SEND is told when the message was
//      moved to the next place of the log and is persistent there, and which place that is; until
//      then the receive is the device's.
//  D6  SFLUSH moves all messages that were sent before it and not moved, in their order, and
//      completes, with the number of the last place, when they are persistent.
//  D7  In an ordered log the first word of a message is stored when the rest is persistent and never
//      before, seen or kept; when the receive is told, the word is persistent too.
//  D8  A log without room makes the peer wait as a missing receive does (F1), and nothing is lost.
//  D9  An SFLUSH with nothing to move, and a message that fits no place or has immediate data, are a
//      remote_invalid_request.
//  D10  RFlush: where the device moves messages by itself, and in a region with flushes_writes, a
//      SEND or WRITE completes when what it brought is persistent there. It takes no agreement.
//  D11  RFlush of what is unreliable: a side with told_when_persistent is told by a completion of
//      its send queue, `persisted`, that a message is persistent at a peer which has agreed to
//      RFlush. Nobody tells twice, and what gets lost on the way is not told at all.
//  D12  An unreliable message that finds no place in the log is lost.
//
// SHARED RECEIVES
//  S1  Receives of a shared queue are consumed in the order posted, each by the message that begins
//      next on any of its queue pairs, whose own receive queue is told.
//  S2  A message that finds the shared queue empty waits or is lost, as it would with a queue of its
//      own (F1, U6).
//  S3  When a receive is taken and fewer are left than the limit that was armed, that is told, once.
//  S4  A queue pair in error leaves to the others what it has not taken.
//
// clang-format on
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "base/result.h"
#include "fabric/durable.h"
#include "fabric/types.h"
#include "fabric/work.h"

namespace remora::fabric {

class CompletionQueue;
class MessageLog;
class SharedReceives;

struct QueuePairOptions {
  CompletionQueue* send_queue = nullptr;     // where completions of sends arrive
  CompletionQueue* receive_queue = nullptr;  // where completions of receives arrive
  std::uint32_t max_sends = 128;
  std::uint32_t max_receives = 128;
  std::uint32_t max_pieces = 4;
  std::uint32_t max_inline_bytes = 64;
  Transport transport = Transport::rc;  // a device that does not have it says unsupported
  QueueKey queue_key = 0;               // of datagrams: those that this side takes
  // Receives are taken from there, and max_receives means nothing; of the same domain.
  SharedReceives* shared_receives = nullptr;
  // What SENDs bring is moved there (D5 to D10); not with shared receives. It outlives the queue
  // pair. A device that has none says unsupported.
  MessageLog* log = nullptr;
  // Of UC and UD: this side is told when the peer's RFlush has made a message persistent (D11).
  bool told_when_persistent = false;
};

// What the two sides tell each other, by whatever means, before they can talk.
struct QueuePairAddress {
  QpNumber number = 0;
  PacketSequence first_packet = 0;
  Gid gid{};
};

struct ConnectOptions {
  std::uint64_t timeout_ns = 67'000'000;  // before a packet that nobody acknowledged is sent again
  std::uint8_t retry_count = 7;           // so often, then retry_exceeded
  std::uint8_t rnr_retry = 7;             // 7: for ever
  // What this side asks a peer to wait for a receive, or for memory that is not there now.
  std::uint64_t rnr_delay_ns = 640'000;
  std::uint32_t reads_in_flight = 16;  // READs and atomics that each side may have outstanding
  // What a peer may do to this side's memory through this queue pair; rights of the region apply
  // beside it.
  AccessFlags remote_access = every_access;
};

class QueuePair {
 public:
  virtual ~QueuePair() = default;

  virtual QpNumber number() const = 0;
  virtual QpState state() const = 0;

  // The number and the unguessable first sequence number, for the peer.
  virtual QueuePairAddress address() const = 0;

  // reset -> init: receives may be posted.
  virtual Status initialise() = 0;
  // init -> ready to receive -> ready to send. Fails, and changes nothing, in another state or when
  // the peer cannot be reached by this device. An end for datagrams has no peer, and is handed an
  // address that means nothing; the options that are for answers mean nothing to it and to an
  // unreliable connection.
  virtual Status connect(const QueuePairAddress& peer, const ConnectOptions& options) = 0;
  // Any state -> error. What was posted completes with `flushed`.
  virtual void fail() = 0;
  // Error or any state -> reset: what was posted is dropped without completions.
  virtual void reset() = 0;
  // After fail or reset: whether nothing that the peer began through this queue pair can touch this
  // side's memory any more. At once on most wires; a peer that works on the memory itself may stand
  // still in the middle of that. Space that the peer may have been writing is used anew only then.
  virtual bool quiet() const { return true; }
  // Whether memory of the peer's that this side works on by itself is gone (base/lost_memory.h):
  // what was read through this queue pair may be wrong, and what was written may be nowhere.
  virtual bool lost() const { return false; }
  // While connected: which verbs for durability the peer has agreed to, and what a FLUSH is worth
  // there. Of an end for datagrams: what any peer can, of which each may agree to less.
  virtual Agreed agreed() const { return {}; }

  // In order; stops at the first that cannot be posted and says why: no_space when the queue is
  // full, invalid_argument for a request that no device could execute, closed in reset or init.
  [[nodiscard]] Status post_send(std::span<const SendWork> works) {
    if (works.size() == 1 && execute(works[0])) {
      return {};
    }
    return post_sends(works);
  }
  [[nodiscard]] virtual Status post_receive(std::span<const ReceiveWork> works) = 0;

 private:
  // What post_send does.
  virtual Status post_sends(std::span<const SendWork> works) = 0;
  // Executes this one and reports it before it returns, or leaves all as it was. A device that
  // works on the peer's memory itself does here what takes few instructions: a Status, and the
  // frame of whoever can do all the rest too, would be stores of which each counts.
  virtual bool execute(const SendWork& work) = 0;
};

}  // namespace remora::fabric
