#include "pmem/redo_log.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "base/check.h"
#include "pmem/log_record.h"
#include "pmem/pool_checks.h"
#include "pmem/pool_faults.h"

namespace remora {

using pool_format::control_word;
using pool_format::ControlWord;
using pool_format::LogControl;
using pool_format::RecordHead;
using pool_format::Seal;
using pool_format::Write;
using namespace log_record;

RedoLog::RedoLog(Region& region, const PoolLayout& layout, const Faults& faults)
    : region_(region),
      layout_(layout),
      header_(layout.header()),
      faults_(faults),
      control_(reinterpret_cast<LogControl*>(region.data() + header_.log_control)),
      tickets_(header_.log_slot_count) {}

std::byte* RedoLog::slot(std::uint64_t sequence) const {
  return region_.data() + header_.log_slots +
         sequence % header_.log_slot_count * pool_format::log_slot_bytes;
}

Result<Ticket> RedoLog::append(std::span<const Write> writes, std::span<const Seal> seals) {
  REMORA_CHECK(writes.size() + seals.size() <= pool_format::record_entries, "record too large");
  REMORA_TRY(make_room());
  const std::uint64_t sequence = next_++;
  std::byte* const place = slot(sequence);
  const std::uint64_t known =
      faults_.planted(pool_faults::known_too_far) ? newest() - 1 : in_place_;
  RecordHead head{sequence,
                  epoch_,
                  static_cast<std::uint32_t>(writes.size()),
                  static_cast<std::uint32_t>(seals.size()),
                  static_cast<std::uint32_t>(sequence - known),
                  0};
  std::memcpy(place, &head, sizeof head);
  copy_bytes(place + sizeof head, std::as_bytes(writes));
  copy_bytes(place + sizeof head + writes.size_bytes(), std::as_bytes(seals));
  store(place + offsetof(RecordHead, checksum), checksum_of(place, head));
  if (faults_.planted(pool_faults::apply_before_record)) {
    apply(sequence);
  }
  if (!faults_.planted(pool_faults::record_not_flushed)) {
    region_.flush(ConstBytes(place, record_bytes(head)));
  }
  const Ticket ticket =
      faults_.planted(pool_faults::record_not_drained) ? Ticket{} : region_.drain();
  tickets_[sequence % header_.log_slot_count] = ticket;
  put_in_place();
  return ticket;
}

void RedoLog::put_in_place() {
  while (in_place_ + 1 < next_ &&
         region_.persistent(tickets_[(in_place_ + 1) % header_.log_slot_count])) {
    apply(++in_place_);
  }
}

// Puts the words of a record in place and sends each line that they touch on its way, once.
void RedoLog::apply(std::uint64_t sequence) {
  const std::byte* const place = slot(sequence);
  const RecordHead head = head_of(place);
  REMORA_CHECK(entries_fit(head), "a record of the redo log has more entries than its slot");
  std::array<Offset, pool_format::record_entries> lines;
  std::size_t line_count = 0;
  for (std::size_t i = 0; i < head.writes; ++i) {
    const Write write = write_at(place, i);
    REMORA_CHECK(may_change(write.place), "a record of the redo log leads out of its pool");
    store_word(*reinterpret_cast<std::uint64_t*>(region_.data() + write.place), write.value);
    const Offset line = round_down(write.place, Offset{cache_line_bytes});
    const auto known = std::span(lines).first(line_count);
    if (std::ranges::find(known, line) == known.end()) {
      lines[line_count++] = line;
    }
  }
  for (Offset line : std::span(lines).first(line_count)) {
    region_.flush(ConstBytes(region_.data() + line, cache_line_bytes));
  }
}

std::uint64_t RedoLog::load(Offset place) const {
  for (std::uint64_t sequence = next_ - 1; sequence > in_place_; --sequence) {
    const std::byte* const record = slot(sequence);
    const RecordHead head = head_of(record);
    for (std::size_t i = 0; i < head.writes; ++i) {
      const Write write = write_at(record, i);
      if (write.place == place) {
        return write.value;
      }
    }
  }
  return remora::load<std::uint64_t>(region_.data() + place);
}

// Retiring starts when half the log is used, so that on page media it rides on commits that others
// wait for anyway; it blocks only when no slot is left.
Status RedoLog::make_room() {
  put_in_place();
  if (used() < header_.log_slot_count / 2 || faults_.planted(pool_faults::slot_reused_early)) {
    return Status();
  }
  REMORA_TRY(retire(false));
  while (used() == header_.log_slot_count) {
    REMORA_TRY(retire(true));
  }
  return Status();
}

Status RedoLog::wait_if(bool block, Ticket ticket) {
  return block ? region_.wait(ticket) : Status();
}

// Three steps, each after the one before is persistent: the words in place, the mark, the slots.
Status RedoLog::retire(bool block) {
  if (step_ == Step::idle) {
    if (block) {
      REMORA_TRY(region_.wait(tickets_[newest() % header_.log_slot_count]));
      put_in_place();
    }
    if (in_place_ == retired_) {
      return Status();
    }
    retiring_ = in_place_;
    step_ticket_ = faults_.planted(pool_faults::retire_before_homes) ? Ticket{} : region_.drain();
    step_ = Step::homes;
  }
  if (step_ == Step::homes) {
    REMORA_TRY(wait_if(block, step_ticket_));
    if (!region_.persistent(step_ticket_)) {
      return Status();
    }
    store_word(control_->retired, control_word(ControlWord::retired, retiring_));
    step_ticket_ = region_.persist(object_bytes(control_->retired));
    step_ = Step::mark;
  }
  REMORA_TRY(wait_if(block, step_ticket_));
  if (region_.persistent(step_ticket_)) {
    retired_ = retiring_;
    step_ = Step::idle;
  }
  return Status();
}

Status RedoLog::retire_all() {
  const std::uint64_t target = newest();
  while (retired_ < target) {
    REMORA_TRY(retire(true));
  }
  return Status();
}

Result<bool> RedoLog::tend() {
  put_in_place();
  if (used() == 0) {
    return false;
  }
  // On page media each step waits for a commit, and so does the newest record.
  REMORA_TRY(retire(false));
  if (used() == 0) {
    return false;
  }
  const Ticket newest_ticket = tickets_[newest() % header_.log_slot_count];
  region_.request(step_ == Step::idle ? newest_ticket : step_ticket_);
  return true;
}

void RedoLog::format(Region& region, const pool_format::Header& header) {
  auto* const control = reinterpret_cast<LogControl*>(region.data() + header.log_control);
  store_word(control->epoch, control_word(ControlWord::epoch, 0));
  store_word(control->retired, control_word(ControlWord::retired, 0));
  region.flush(object_bytes(*control));
}

void RedoLog::upgrade_control(std::uint64_t total) {
  version_ = pool_format::version;
  store_word(control_->epoch, control_word(ControlWord::epoch, epoch_));
  store_word(control_->retired, control_word(ControlWord::retired, retired_));
  store_word(control_->total, total);
  region_.flush(object_bytes(*control_));
}

Status RedoLog::check_control() const {
  const bool marked =
      control_->retired == control_word(ControlWord::retired, retired_) ||
      (step_ == Step::mark && control_->retired == control_word(ControlWord::retired, retiring_));
  if (!marked || control_->epoch != control_word(ControlWord::epoch, epoch_)) {
    return Status(Code::damaged, "log control at " + std::to_string(header_.log_control) +
                                     " is damaged" + pool_format::remedy);
  }
  return Status();
}

}  // namespace remora
