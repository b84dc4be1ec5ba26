// LogWriter: the sender's side of a log. It keeps a copy of the ring, in which entries are composed
// at the offsets that they will have; so a batch of entries is one piece of memory, and one WRITE.
// It knows which part of the ring is free: what the receiver has told of.
//
// It posts nothing. One thread; nothing is allocated.
#pragma once

#include <cstdint>
#include <optional>

#include "base/bytes.h"
#include "base/faults.h"
#include "rpc/calls/log_format.h"

namespace remora::rpc::calls {

// What the two sides agree on when a session is resumed, and the ring is empty.
struct LogEpoch {
  std::uint64_t session = 0;
  std::uint64_t epoch = 0;
  Form form = Form::checksum;
  std::uint32_t window = 0;
  Sequence first = 1;  // of the entry at position 0
};

class LogWriter {
 public:
  // The copy is the caller's; its bytes may be anything.
  LogWriter(const LogEpoch& epoch, Bytes copy, const Faults& faults = Faults());

  struct Entry {
    Sequence sequence = 0;
    std::uint64_t begin = 0;  // positions
    std::uint64_t end = 0;
    std::uint64_t word = 0;  // of the ordered form: what its first word becomes
  };

  // Whether a call can have that much data at all.
  bool is_possible(std::uint64_t data_bytes) const {
    return data_bytes <= log_format::largest_data(epoch_.form, copy_.size());
  }
  // Whether there is room for the next entry, with that much data, now.
  bool has_room(std::uint64_t data_bytes) const;
  // Where that begins.
  std::uint64_t place_of_next(std::uint64_t data_bytes) const { return place(data_bytes); }
  // Composes it. In the ordered form its first word stays empty.
  Entry append(std::uint32_t method, ConstBytes data, Sequence acknowledged);

  // The receiver has freed what lies before `head`, which is the entry `sequence`. False when that
  // cannot be.
  bool freed(std::uint64_t head, Sequence sequence);

  const LogEpoch& epoch() const { return epoch_; }
  Sequence next() const { return next_; }
  std::uint64_t tail() const { return tail_; }
  std::uint64_t offset_of(std::uint64_t position) const { return position % copy_.size(); }

 private:
  std::uint64_t place(std::uint64_t data_bytes) const {
    return log_format::place_after(tail_, log_format::footprint(epoch_.form, data_bytes),
                                   copy_.size());
  }

  const LogEpoch epoch_;
  const Bytes copy_;
  const Faults faults_;
  std::uint64_t tail_ = 0;
  Sequence next_;
  std::uint64_t head_ = 0;
  Sequence oldest_;
};

}  // namespace remora::rpc::calls
