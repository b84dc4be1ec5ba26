// Recovery of the log: which records count, and how a new life begins.
#include <string>

#include "base/crc32c.h"
#include "pmem/log_record.h"
#include "pmem/pool_checks.h"
#include "pmem/pool_faults.h"
#include "pmem/redo_log.h"

namespace remora {

using pool_format::control_value;
using pool_format::control_word;
using pool_format::ControlWord;
using pool_format::RecordHead;
using pool_format::Seal;
using namespace log_record;

namespace {

Status log_damaged(const std::string& what, Offset place) {
  return Status(Code::damaged, what + " at " + std::to_string(place) + pool_format::remedy);
}

// How far records were known to be persistent when this one was written.
std::uint64_t known_by(const RecordHead& head) {
  return head.sequence - head.behind;
}

}  // namespace

Result<std::uint64_t> RedoLog::recover(const std::function<Status()>& verify,
                                       std::uint32_t found_version) {
  version_ = found_version;
  REMORA_TRY(read_control());
  const std::uint64_t end = find_end();
  REMORA_TRY(check_end(end));
  const std::uint64_t replayed = faults_.planted(pool_faults::replay_skipped) ? 0 : replay(end);
  if (!faults_.planted(pool_faults::epoch_before_homes)) {
    const Ticket homes = region_.drain();
    REMORA_TRY(region_.wait(homes));
  }
  REMORA_TRY(verify ? verify() : Status());
  REMORA_TRY(start_epoch(epoch_ + 1));
  return replayed;
}

Status RedoLog::read_control() {
  const auto epoch = control_value(ControlWord::epoch, control_->epoch, version_);
  const auto retired = control_value(ControlWord::retired, control_->retired, version_);
  if (!epoch || !retired) {
    return log_damaged(
        epoch ? "the mark of retired log records is damaged" : "the epoch of the log is damaged",
        header_.log_control + (epoch ? word_bytes : 0));
  }
  epoch_ = *epoch;
  retired_ = in_place_ = *retired;
  next_ = retired_ + 1;
  return Status();
}

std::uint64_t RedoLog::find_end() const {
  std::uint64_t sequence = next_;
  while (sequence < next_ + header_.log_slot_count && counts(sequence)) {
    ++sequence;
  }
  return sequence;
}

// Those that are whole in themselves and in their slots, of this epoch and of later ones.
void RedoLog::for_each_record(
    const std::function<void(std::uint64_t index, const RecordHead& head)>& visit) const {
  for (std::uint64_t index = 0; index < header_.log_slot_count; ++index) {
    const std::byte* const place = slot(index);
    const RecordHead head = head_of(place);
    if (head.sequence % header_.log_slot_count == index && head.epoch >= epoch_ &&
        is_record(place)) {
      visit(index, head);
    }
  }
}

bool RedoLog::is_vouched_for(std::uint64_t sequence) const {
  bool vouched = false;
  for_each_record([&](std::uint64_t, const RecordHead& head) {
    vouched = vouched || (head.epoch == epoch_ && version_ != pool_format::oldest_version &&
                          head.sequence > sequence && known_by(head) >= sequence);
  });
  return vouched;
}

// No cut leaves what is refused here. A record is written only after the epoch that it has is
// persistent; and it says of no record that it is persistent before that is.
Status RedoLog::check_end(std::uint64_t end) const {
  bool newer = false;
  for_each_record([&](std::uint64_t, const RecordHead& head) { newer |= head.epoch > epoch_; });
  if (newer) {
    return log_damaged("the epoch of the log is older than its records", header_.log_control);
  }
  if (is_vouched_for(end)) {
    return log_damaged(
        "record " + std::to_string(end) + " of the log, or what it seals, is damaged; its slot is",
        static_cast<Offset>(slot(end) - region_.data()));
  }
  return Status();
}

std::uint64_t RedoLog::replay(std::uint64_t end) {
  const bool past_gap = faults_.planted(pool_faults::replay_past_gap);
  const std::uint64_t last = past_gap ? next_ + header_.log_slot_count : end;
  std::uint64_t replayed = 0;
  for (std::uint64_t sequence = next_; sequence < last; ++sequence) {
    if (sequence < end || counts(sequence)) {
      apply(sequence);
      ++replayed;
    }
  }
  return replayed;
}

bool RedoLog::is_record(const std::byte* place) const {
  const RecordHead head = head_of(place);
  if (!entries_fit(head) || (checksum_of(place, head) != head.checksum &&
                             !faults_.planted(pool_faults::record_checksum_ignored))) {
    return false;
  }
  // Version 1 had a zero there.
  return version_ == pool_format::oldest_version ||
         (head.behind != 0 && head.behind <= header_.log_slot_count &&
          head.behind <= head.sequence);
}

bool RedoLog::counts(std::uint64_t sequence) const {
  const std::byte* const place = slot(sequence);
  const RecordHead head = head_of(place);
  if (head.sequence != sequence || head.epoch != epoch_ || !is_record(place)) {
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

// Roots, summary, table, objects and the total: neither the header nor the log itself.
bool RedoLog::may_change(Offset word) const {
  const bool root = word >= header_.roots && word < header_.log_control;
  const bool total = word == pool_format::total_place(header_);
  return word % word_bytes == 0 && (root || total || word >= header_.summary) &&
         within(word, word_bytes, layout_.size_bytes());
}

bool RedoLog::holds(const Seal& seal) const {
  return within(seal.place, seal.size_bytes, layout_.size_bytes()) &&
         crc32c(ConstBytes(region_.data() + seal.place, seal.size_bytes)) == seal.checksum;
}

Status RedoLog::start_epoch(std::uint64_t epoch) {
  if (faults_.planted(pool_faults::epoch_kept)) {
    epoch_ = epoch - 1;
    return Status();
  }
  const bool older = version_ == pool_format::oldest_version;
  store_word(control_->epoch, older ? epoch : control_word(ControlWord::epoch, epoch));
  epoch_ = epoch;
  const Ticket started = region_.persist(object_bytes(control_->epoch));
  return region_.wait(started);
}

}  // namespace remora
