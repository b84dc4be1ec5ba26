// LogReader: the receiver's side of a log: finds its entries, one after the other, and stops at the
// first that does not count.
//
// It trusts nothing in the ring. The head of an entry is copied once; what is judged and used is
// the copy. The data stays where it lies, and its sender may still change it: a sender that does so
// harms itself, so whoever reads data checks what it copied out of it.
//
// One thread; nothing is allocated; never fails.
#pragma once

#include <cstdint>
#include <optional>

#include "base/bytes.h"
#include "base/faults.h"
#include "rpc/calls/log_format.h"
#include "rpc/calls/log_writer.h"

namespace remora::rpc::calls {

// An entry that counts.
struct LogEntry {
  Sequence sequence = 0;
  Sequence acknowledged = 0;
  std::uint32_t method = 0;
  ConstBytes data;          // in the ring
  std::uint64_t begin = 0;  // positions
  std::uint64_t end = 0;
  std::uint64_t summed_bytes = 0;  // of data that a checksum was computed of
};

class LogReader {
 public:
  // From this position on, where the entry `sequence` lies or will lie. The ring outlives it.
  LogReader(const LogEpoch& epoch, ConstBytes ring, std::uint64_t position, Sequence sequence,
            const Faults& faults = Faults());

  // Whether something has come that looks like the next entry, as a whole: cheap, and a function of
  // the bytes of the ring alone.
  bool is_ready() const;
  // The next entry, if it counts; then the one after it is next.
  std::optional<LogEntry> next();

  std::uint64_t position() const { return position_; }
  Sequence sequence() const { return sequence_; }

 private:
  // What lies at this position, if it claims to be the next entry and has a size that can be.
  struct Seen {
    log_format::EntryHead head;
    std::uint64_t word;
  };
  std::optional<Seen> look(std::uint64_t position, Sequence sequence) const;
  std::optional<Seen> look_whole(std::uint64_t position, Sequence sequence) const;
  std::optional<LogEntry> entry_at(std::uint64_t position, Sequence sequence) const;
  std::optional<LogEntry> find(Sequence sequence) const;
  std::uint64_t next_lap() const { return round_up<std::uint64_t>(position_, ring_.size()); }
  log_format::Place place(std::uint64_t position) const;

  const LogEpoch epoch_;
  const ConstBytes ring_;
  const Faults faults_;
  std::uint64_t position_;
  Sequence sequence_;
};

}  // namespace remora::rpc::calls
