// How far segments are known to be persistent.
#include <algorithm>
#include <string>

#include "kv/log/log.h"
#include "kv/log/log_faults.h"

namespace remora::kv {

using store_format::Marks;
using store_format::Slot;

namespace {

// So many fit one transaction with room to spare.
constexpr std::size_t most_moved_together = 24;

}  // namespace

Status Log::changeable() const {
  if (damage_.empty()) [[likely]] {
    return Status();
  }
  return Status(Code::permission_denied,
                "the store is damaged and can only be read; save what is whole with 'remora pool "
                "salvage FROM TO', or restore it from a backup");
}

bool Log::note_bounds(std::span<const Offset> undecided) {
  if (!damage_.empty()) {
    return false;
  }
  for (auto& [offset, segment] : segments_) {
    segment.noted_bytes = segment.recovered ? segment.end_bytes : segment.used_bytes;
  }
  Segment* last = nullptr;  // neighbours in the list are neighbours in the log, mostly
  for (const Offset object : undecided) {
    if (host_.faults().planted(log_faults::mark_passes_undecided)) {
      break;
    }
    if (last == nullptr || object < last->offset || object - last->offset >= last->capacity_bytes) {
      const auto next = segments_.upper_bound(object);
      if (next == segments_.begin()) {
        continue;
      }
      last = &std::prev(next)->second;
    }
    if (object >= last->offset && object - last->offset < last->noted_bytes) {
      last->noted_bytes = object - last->offset;
    }
  }
  return std::ranges::any_of(segments_, [](const auto& entry) {
    return entry.second.noted_bytes > entry.second.end_bytes;
  });
}

Result<Ticket> Log::move_marks(std::size_t most_transactions) {
  Ticket last;
  auto at = segments_.begin();
  for (std::size_t made = 0; made < most_transactions && at != segments_.end(); ++made) {
    Transaction transaction;
    std::vector<Segment*> moved;
    std::uint64_t total = marks_.total;
    for (; at != segments_.end() && moved.size() < most_moved_together; ++at) {
      Segment& segment = at->second;
      if (host_.faults().planted(log_faults::mark_of_now) && !segment.recovered) {
        segment.noted_bytes = segment.used_bytes;
      }
      if (segment.noted_bytes <= segment.end_bytes) {
        continue;
      }
      total -= sum_of(segment);
      segment.end_bytes = segment.noted_bytes;
      total += sum_of(segment);
      moved.push_back(&segment);
      const Status status =
          transaction.set(slot_place(segment.slot) + offsetof(Slot, end), segment.end_bytes);
      REMORA_CHECK(status.ok(), "some marks fit one transaction");
    }
    if (moved.empty()) {
      break;
    }
    const Status status = transaction.set(marks_place(offsetof(Marks, total)), total);
    REMORA_CHECK(status.ok(), "some marks and a word fit one transaction");
    Result<Ticket> ticket = pool_.commit(transaction);
    if (!ticket.ok()) {
      return ticket;  // and none will be: the pool is closed
    }
    marks_.total = total;
    last = *ticket;
  }
  return last;
}

Result<Ticket> Log::settle(std::uint64_t sequence) {
  REMORA_TRY(changeable());
  store_format::Marks marks = marks_;
  marks.settled = std::max(marks.settled, sequence);
  marks.total = total_with(marks);
  Transaction transaction;
  Status status = transaction.set(marks_place(offsetof(Marks, settled)), marks.settled);
  status = status.ok() ? transaction.set(marks_place(offsetof(Marks, total)), marks.total) : status;
  REMORA_CHECK(status.ok(), "two words fit a transaction");
  Result<Ticket> ticket = pool_.commit(transaction);
  if (ticket.ok()) {
    marks_ = marks;
  }
  return ticket;
}

void Log::note_decided(SegmentNumber number) {
  for (auto& [offset, segment] : segments_) {
    segment.recovered = segment.recovered && segment.number != number;
  }
}

bool Log::is_before_mark(Offset object) const {
  const auto next = segments_.upper_bound(object);
  if (next == segments_.begin()) {
    return false;
  }
  const Segment& segment = std::prev(next)->second;
  return object - segment.offset < segment.end_bytes;
}

}  // namespace remora::kv
