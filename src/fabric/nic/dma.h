// Dma: how the software RNIC touches memory. In real worlds these are plain copies; in the crash
// world, writes wait inbound and are placed at seeded times. All ranges are checked before: they
// lie within a registered region.
//
// One thread. Nothing blocks and nothing allocates in real worlds.
#pragma once

#include <cstdint>

#include "base/bytes.h"
#include "fabric/types.h"
#include "pmem/region.h"

namespace remora::fabric::nic {

class Dma {
 public:
  virtual ~Dma() = default;

  // Payload of a WRITE or SEND that this queue pair received.
  virtual void write(QpNumber qp, std::byte* to, ConstBytes from) = 0;
  // The same of one packet of a WRITE that is large, on a wire that streams. Its bytes appear in
  // any order; those of the last, and of one that reaches into the last word, after all before
  // them.
  virtual void write_part(QpNumber qp, std::byte* to, ConstBytes from, bool /*last*/) {
    write(qp, to, from);
  }
  // The same of what a READ has brought: the memory is the program's own, and most often in the
  // cache already.
  virtual void bring(QpNumber qp, std::byte* to, ConstBytes from) { write(qp, to, from); }

  // Asked before each read(), for the same bytes: whether it can be answered now. Where it cannot,
  // the bytes are being taken, a line now and a line then, and an event tells when to ask again.
  virtual bool ready_to_read(QpNumber /*qp*/, const std::byte* /*from*/, std::size_t /*size*/) {
    return true;
  }
  // What a READ of this queue pair sees; it sees all that the queue pair wrote before.
  virtual void read(QpNumber qp, Bytes to, const std::byte* from) = 0;

  // Aligned words; indivisible among all operations of the device. They see and follow all that the
  // queue pair wrote before, and return the value from before.
  virtual std::uint64_t compare_swap(QpNumber qp, std::byte* word, std::uint64_t compare,
                                     std::uint64_t swap) = 0;
  virtual std::uint64_t fetch_add(QpNumber qp, std::byte* word, std::uint64_t summand) = 0;
  virtual void atomic_write(QpNumber qp, std::byte* word, std::uint64_t value) = 0;

  // Everything that the queue pair wrote is visible when this returns: called before a completion
  // of a receive is queued.
  virtual void place_all(QpNumber qp) = 0;

  // A FLUSH. What the queue pair wrote in the range is visible when this returns; to persistence it
  // is persistent when the ticket of `persistence` is, which the device then asks for and awaits.
  virtual Ticket flush(QpNumber qp, ConstBytes range, FlushPlacement placement,
                       Region* persistence) = 0;

  // Asked between two steps of a request that has several, such as a copy and the word that vouches
  // for it: whether the next one may begin. Where it may not, an event tells when to ask again.
  virtual bool ready_to_go_on(QpNumber /*qp*/) { return true; }

  // From here on what is written in this range goes past the caches, until it is taken back as
  // often; false where nobody can keep that.
  virtual bool go_past_caches(ConstBytes /*range*/) { return false; }
  virtual void go_by_caches(ConstBytes /*range*/) {}

  // The requester learns that this and all earlier operations of the queue pair have arrived.
  virtual void acknowledged(QpNumber qp) = 0;

  // The queue pair is in error or gone: what it wrote and was not placed yet is placed or dropped.
  virtual void drop(QpNumber qp) = 0;
};

}  // namespace remora::fabric::nic
