#include "rpc/calls/log_reader.h"

#include <cstring>

#include "base/check.h"
#include "base/racy_copy.h"
#include "rpc/calls/faults.h"

namespace remora::rpc::calls {

using log_format::EntryHead;
using log_format::Place;

namespace {

// How far recovery looks with the planted mistake.
constexpr std::uint64_t skipped_lines = 64;

}  // namespace

LogReader::LogReader(const LogEpoch& epoch, ConstBytes ring, std::uint64_t position,
                     Sequence sequence, const Faults& faults)
    : epoch_(epoch), ring_(ring), faults_(faults), position_(position), sequence_(sequence) {
  REMORA_CHECK(log_format::is_ring_size(ring.size()) && position % cache_line_bytes == 0,
               "a log of an impossible shape");
}

Place LogReader::place(std::uint64_t position) const {
  return {epoch_.session, epoch_.epoch, position};
}

std::optional<LogReader::Seen> LogReader::look(std::uint64_t position, Sequence sequence) const {
  const std::uint64_t at = position % ring_.size();
  const std::uint64_t room = ring_.size() - at;
  if (room < log_format::footprint(epoch_.form, 0)) {
    return std::nullopt;
  }
  Seen seen{};
  racy_copy_words(std::as_writable_bytes(std::span(&seen.head, 1)),
                  ring_.subspan(at + log_format::head_at(epoch_.form), sizeof(EntryHead)));
  if (seen.head.sequence != sequence || seen.head.reserved != 0 ||
      seen.head.acknowledged >= sequence ||
      seen.head.data_bytes > log_format::largest_data(epoch_.form, ring_.size()) ||
      log_format::footprint(epoch_.form, seen.head.data_bytes) > room) {
    return std::nullopt;
  }
  racy_copy_words(
      std::as_writable_bytes(std::span(&seen.word, 1)),
      ring_.subspan(at + log_format::word_at(epoch_.form, seen.head.data_bytes), word_bytes));
  return seen;
}

// The last word of an entry comes after all its other bytes (P4), and an ATOMIC WRITE after all
// that was written before it (P3): so the data is there when the word is.
std::optional<LogReader::Seen> LogReader::look_whole(std::uint64_t position,
                                                     Sequence sequence) const {
  const std::optional<Seen> seen = look(position, sequence);
  if (!seen) {
    return std::nullopt;
  }
  const bool is_whole = epoch_.form == Form::ordered
                            ? seen->word == log_format::ordered_word(place(position), seen->head)
                            : seen->word >> 32 == log_format::tag_of(place(position), seen->head);
  return is_whole ? seen : std::nullopt;
}

bool LogReader::is_ready() const {
  return look_whole(position_, sequence_).has_value() ||
         (next_lap() != position_ && look_whole(next_lap(), sequence_).has_value());
}

std::optional<LogEntry> LogReader::entry_at(std::uint64_t position, Sequence sequence) const {
  const std::optional<Seen> seen = look_whole(position, sequence);
  if (!seen) {
    return std::nullopt;
  }
  const EntryHead& head = seen->head;
  const ConstBytes data =
      ring_.subspan(position % ring_.size() + log_format::data_at(epoch_.form), head.data_bytes);
  LogEntry entry{.sequence = sequence,
                 .acknowledged = head.acknowledged,
                 .method = head.method,
                 .data = data,
                 .begin = position,
                 .end = position + log_format::footprint(epoch_.form, head.data_bytes)};
  if (epoch_.form == Form::checksum && !faults_.planted(faults::checksum_ignored)) {
    if (seen->word != log_format::checksum_word(place(position), head, data)) {
      return std::nullopt;
    }
    entry.summed_bytes = data.size();
  }
  return entry;
}

std::optional<LogEntry> LogReader::find(Sequence sequence) const {
  std::optional<LogEntry> entry = entry_at(position_, sequence);
  if (!entry && next_lap() != position_) {
    entry = entry_at(next_lap(), sequence);
  }
  return entry;
}

std::optional<LogEntry> LogReader::next() {
  std::optional<LogEntry> entry = find(sequence_);
  if (!entry && faults_.planted(faults::hole_skipped)) {
    const std::uint64_t from = position_;
    for (std::uint64_t line = 1; !entry && line <= skipped_lines; ++line) {
      position_ = from + line * cache_line_bytes;
      entry = find(sequence_ + 1);
    }
    position_ = from;
  }
  if (entry) {
    position_ = entry->end;
    sequence_ = entry->sequence + 1;
  }
  return entry;
}

}  // namespace remora::rpc::calls
