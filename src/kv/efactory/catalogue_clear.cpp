// The catalogue when all keys go at once.
#include "kv/efactory/catalogue.h"
#include "kv/efactory/faults.h"

namespace remora::kv::efactory {

// The clearing has a sequence number of its own. What came before it is gone with one persistent
// word, whatever is still under way: values that clients write to where they were granted space,
// copies that cleaning makes. Nothing leads there, and recovery does not believe them.
Result<Ticket> Catalogue::clear(Table& old) {
  const Faults& planted = host_.faults();
  std::uint64_t up_to = sequence_ + 1;
  if (planted.planted(faults::clear_in_part)) {
    up_to = sequence_ / 2;
  } else if (planted.planted(faults::clear_takes_later)) {
    up_to = sequence_ + 3;
  } else if (planted.planted(faults::clear_keeps_awaited) && !awaited_.empty()) {
    up_to = awaited_.front().sequence - 1;
  }
  if (!planted.planted(faults::clear_in_memory)) {
    REMORA_TRY_RESULT(ticket, log_->clear(up_to));
    last_del_ = last_tombstone_ = *ticket;
  }
  ++sequence_;
  const IndexGeometry geometry = index_->resized(least_windows_);
  Table fresh = Table::make(geometry);
  (void)index_->replace(geometry, fresh.bytes);
  old = std::exchange(table_, std::move(fresh));
  next_table_ = {};
  living_.emplace(host_.region().bytes().size(), log_->segment_bytes());
  times_.clear();
  damaged_.clear();
  unreadable_.clear();
  has_unreadable_ = false;
  keys_ = expiring_ = live_bytes_ = 0;
  return last_del_;
}

}  // namespace remora::kv::efactory
