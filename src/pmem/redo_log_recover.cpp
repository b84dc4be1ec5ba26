// Recovery of the log: which records count, and how a new life begins.
#include "base/crc32c.h"
#include "pmem/log_record.h"
#include "pmem/pool_faults.h"
#include "pmem/redo_log.h"

namespace remora {

using pool_format::RecordHead;
using pool_format::Seal;
using namespace log_record;

Result<std::uint64_t> RedoLog::recover(const std::function<Status()>& verify) {
  const std::uint64_t epoch = control_->epoch;
  retired_ = in_place_ = control_->retired;
  next_ = retired_ + 1;
  const std::uint64_t replayed = faults_.planted(pool_faults::replay_skipped) ? 0 : replay(epoch);
  if (!faults_.planted(pool_faults::epoch_before_homes)) {
    const Ticket homes = region_.drain();
    if (Status status = region_.wait(homes); !status.ok()) {
      return status;
    }
  }
  if (Status status = verify ? verify() : Status(); !status.ok()) {
    return status;
  }
  if (Status status = start_epoch(epoch + 1); !status.ok()) {
    return status;
  }
  return replayed;
}

std::uint64_t RedoLog::replay(std::uint64_t epoch) {
  std::uint64_t replayed = 0;
  for (std::uint64_t sequence = next_; sequence < next_ + header_.log_slot_count; ++sequence) {
    if (counts(sequence, epoch)) {
      apply(sequence);
      ++replayed;
    } else if (!faults_.planted(pool_faults::replay_past_gap)) {
      break;
    }
  }
  return replayed;
}

bool RedoLog::counts(std::uint64_t sequence, std::uint64_t epoch) const {
  const std::byte* const place = slot(sequence);
  const RecordHead head = head_of(place);
  if (head.sequence != sequence || head.epoch != epoch || !entries_fit(head)) {
    return false;
  }
  if (checksum_of(place, head) != head.checksum &&
      !faults_.planted(pool_faults::record_checksum_ignored)) {
    return false;
  }
  for (std::uint32_t i = 0; i < head.writes; ++i) {
    if (!may_change(write_at(place, i).place)) {
      return false;
    }
  }
  for (std::uint32_t i = 0; i < head.seals; ++i) {
    if (!holds(seal_at(place, head, i)) && !faults_.planted(pool_faults::seal_ignored)) {
      return false;
    }
  }
  return true;
}

// Roots, summary, table and objects: neither the header nor the log itself.
bool RedoLog::may_change(Offset word) const {
  const bool root = word >= header_.roots && word < header_.log_control;
  return word % word_bytes == 0 && (root || word >= header_.summary) &&
         within(word, word_bytes, header_.size_bytes);
}

bool RedoLog::holds(const Seal& seal) const {
  return within(seal.place, seal.size_bytes, header_.size_bytes) &&
         crc32c(ConstBytes(region_.data() + seal.place, seal.size_bytes)) == seal.checksum;
}

Status RedoLog::start_epoch(std::uint64_t epoch) {
  if (faults_.planted(pool_faults::epoch_kept)) {
    epoch_ = epoch - 1;
    return Status();
  }
  store_word(control_->epoch, epoch);
  epoch_ = epoch;
  const Ticket started = region_.persist(object_bytes(control_->epoch));
  return region_.wait(started);
}

}  // namespace remora
