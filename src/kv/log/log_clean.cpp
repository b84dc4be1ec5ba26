// Data pools that come and go: the log's part of cleaning.
#include <algorithm>

#include "kv/log/log.h"
#include "kv/log/log_walk.h"

namespace remora::kv {

using store_format::Marks;
using store_format::Slot;

namespace {

// So many fit one transaction with room to spare.
constexpr std::size_t most_freed_together = 8;

constexpr std::size_t current = static_cast<std::size_t>(DataPool::current);
constexpr std::size_t next = static_cast<std::size_t>(DataPool::next);

}  // namespace

void Log::begin_new_pool() {
  REMORA_CHECK(!cleaning_, "a cleaning is under way");
  cleaning_ = true;
}

void Log::keep_both_pools() {
  REMORA_CHECK(cleaning_, "no cleaning is under way");
  open_[current] = open_[next] != nullptr ? open_[next] : open_[current];
  open_[next] = nullptr;
  ++data_pool_;
  cleaning_ = false;
}

void Log::retire(const std::vector<Segment>& segments) {
  for (const Segment& segment : segments) {
    const auto found = segments_.find(segment.offset);
    REMORA_CHECK(found != segments_.end() && !is_open(segment), "a segment that may go");
    dead_.push_back(found->second);
    segments_.erase(found);
  }
  recount();
}

bool Log::is_open(const Segment& segment) const {
  return open_[current] != nullptr && open_[current]->number == segment.number;
}

std::uint64_t Log::room_for_copies() const {
  const Segment* const open = open_[next];
  return free_bytes_ + waiting_bytes_ +
         (open != nullptr ? open->capacity_bytes - open->used_bytes : 0);
}

// One word ends them all. A record that frees one of them comes later in the pool's log, so that no
// cut finds some of them freed and others alive.
Result<Ticket> Log::end_old_pool() {
  REMORA_CHECK(cleaning_, "no cleaning is under way");
  store_format::Marks marks = marks_;
  marks.first_live = data_pool_ + 1;
  marks.total = total_with(marks);
  Transaction transaction;
  Status status = transaction.set(marks_place(offsetof(Marks, first_live)), marks.first_live);
  status = status.ok() ? transaction.set(marks_place(offsetof(Marks, total)), marks.total) : status;
  REMORA_CHECK(status.ok(), "two words fit a transaction");
  Result<Ticket> ticket = pool_.commit(transaction);
  if (!ticket.ok()) {
    return ticket;
  }
  marks_ = marks;
  std::erase_if(segments_, [this](const auto& entry) {
    const bool old = entry.second.data_pool <= data_pool_;
    if (old) {
      dead_.push_back(entry.second);
    }
    return old;
  });
  recount();
  open_[current] = open_[next];
  open_[next] = nullptr;
  ++data_pool_;
  cleaning_ = false;
  return ticket;
}

Result<Ticket> Log::clear(std::uint64_t sequence) {
  REMORA_TRY(changeable());
  store_format::Marks marks = marks_;
  marks.cleared = std::max(marks.cleared, sequence);
  marks.total = total_with(marks);
  Transaction transaction;
  Status status = transaction.set(marks_place(offsetof(Marks, cleared)), marks.cleared);
  status = status.ok() ? transaction.set(marks_place(offsetof(Marks, total)), marks.total) : status;
  REMORA_CHECK(status.ok(), "two words fit a transaction");
  Result<Ticket> ticket = pool_.commit(transaction);
  if (!ticket.ok()) {
    return ticket;
  }
  marks_ = marks;
  for (auto& [offset, segment] : segments_) {
    segment.cleared = segment.used_bytes != 0;
  }
  for (Segment*& open : open_) {
    open = open != nullptr && open->cleared ? nullptr : open;
  }
  recount();
  return ticket;
}

void Log::list_cleared(std::vector<Segment>& out) const {
  out.clear();
  for (const auto& [offset, segment] : segments_) {
    if (segment.cleared) {
      out.push_back(segment);
    }
  }
}

Result<std::size_t> Log::free_dead(std::size_t most) {
  REMORA_TRY(changeable());
  for (std::size_t left = std::min(most, dead_.size()); left > 0;) {
    const std::size_t count = std::min(left, most_freed_together);
    Transaction transaction;
    std::uint64_t total = marks_.total;
    for (const Segment& segment : std::span(dead_).last(count)) {
      total -= sum_of(segment);
      Status status = transaction.free(segment.offset);
      status = status.ok() ? transaction.set(slot_place(segment.slot) + offsetof(Slot, number), 0)
                           : status;
      REMORA_CHECK(status.ok(), "a few segments fit one transaction");
    }
    const Status status = transaction.set(marks_place(offsetof(Marks, total)), total);
    REMORA_CHECK(status.ok(), "a few segments and a word fit one transaction");
    if (Result<Ticket> ticket = pool_.commit(transaction); !ticket.ok()) {
      return ticket.status();
    }
    marks_.total = total;
    for (const Segment& segment : std::span(dead_).last(count)) {
      held_bytes_ -= segment.capacity_bytes;
      free_slots_.push_back(segment.slot);
    }
    dead_.resize(dead_.size() - count);
    ++extent_changes_;
    share_pool();
    left -= count;
  }
  return dead_.size();
}

bool Log::holds_several_pools() const {
  return std::ranges::any_of(segments_, [this](const auto& entry) {
    return entry.second.data_pool != segments_.begin()->second.data_pool;
  });
}

Status Log::keep_only(std::vector<Offset> objects) {
  std::ranges::sort(objects);
  std::erase_if(segments_, [&](const auto& entry) {
    const Segment& segment = entry.second;
    const auto first = std::ranges::lower_bound(objects, segment.offset);
    const bool is_needed =
        (first != objects.end() && *first < segment.offset + segment.capacity_bytes) ||
        open_[static_cast<std::size_t>(DataPool::current)] == &segment;
    if (!is_needed) {
      dead_.push_back(segment);
    }
    return !is_needed;
  });
  recount();
  const Result<std::size_t> left = free_dead(dead_.size());
  return left.ok() ? Status() : left.status();
}

void Log::list(DataPool pool, std::vector<Segment>& out) const {
  out.clear();
  for (const auto& [offset, segment] : segments_) {
    if ((segment.data_pool > data_pool_) == (pool == DataPool::next)) {
      out.push_back(segment);
    }
  }
  std::ranges::sort(out, {}, &Segment::number);
}

void Log::collect(const Segment& segment, std::vector<Offset>& out) const {
  out.clear();
  visit(segment, [&out](const Object& object) { out.push_back(object.offset()); });
}

void Log::visit(const Segment& segment, const Visitor& visitor) const {
  walk(base_, segment, segment.used_bytes, visitor);
}

}  // namespace remora::kv
