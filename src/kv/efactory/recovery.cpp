// Recovery: the log is the truth, and the index is made from it.
#include <algorithm>
#include <array>
#include <iterator>
#include <utility>
#include <vector>

#include "kv/efactory/catalogue.h"
#include "kv/efactory/faults.h"
#include "kv/log/kept_prefix.h"

namespace remora::kv::efactory {
namespace {

// Windows of the index that are on their way into the caches: in a large index each is a miss.
constexpr std::size_t windows_ahead = 16;

}  // namespace

Result<std::unique_ptr<Catalogue>> Catalogue::recover(const Host& host, Pool& pool,
                                                      const ServerOptions& options) {
  std::unique_ptr<Catalogue> catalogue(new Catalogue(host, pool, options));
  std::vector<Recovered> found;
  // The visitor is called while the log is made, so it keeps to what it is handed.
  Result<std::unique_ptr<Log>> log = Log::recover(
      host, pool,
      {.engine = "efactory", .accept_damage = options.accept_damage, .is_all_of_store = true},
      [&](const Object& object) {
        found.push_back({object.offset(), object.sequence()});
      });
  REMORA_TRY(log.status());
  catalogue->take_log(std::move(log).value());
  REMORA_TRY(catalogue->keep_what_counts(found));
  std::array<Tag, windows_ahead> tags;
  for (std::size_t i = 0; i < found.size() + windows_ahead; ++i) {
    Tag& tag = tags[i % windows_ahead];
    if (i >= windows_ahead) {
      catalogue->take_recovered(catalogue->log_->at(found[i - windows_ahead].offset), tag);
    }
    if (i < found.size()) {
      tag = catalogue->index_->tag(catalogue->log_->at(found[i].offset).key());
      catalogue->index_->expect(tag);
    }
  }
  Status status = catalogue->persist_newest();
  status = status.ok() ? catalogue->drop_what_is_twice() : status;
  if (!status.ok()) {
    return status;
  }
  // What a tombstone hides is never looked at again: nothing leads there. A version whose time has
  // come stays until it has a tombstone: the clock may be set back.
  Tag from = 0;
  do {
    from = catalogue->forget_tombstones(from, 1024, catalogue->sequence_);
  } while (from != 0);
  catalogue->note_times();
  catalogue->end_recovery();
  if (host.faults().planted(faults::recovery_restarts_sequence)) {
    catalogue->sequence_ = 0;
  }
  return catalogue;
}

// A tombstone is complete with its header, which the log has checked. The flag of a value was set
// after the value was persistent, and the mark came after all of them were decided; without either
// the checksum decides.
Catalogue::Standing Catalogue::standing(const Object& object) const {
  if (object.kind() == Kind::tombstone) {
    return object.invalid() || host_.faults().planted(faults::recovery_revives) ? Standing::none
                                                                                : Standing::known;
  }
  if (host_.faults().planted(faults::recovery_takes_incomplete)) {
    return Standing::complete;
  }
  if (object.invalid()) {
    return Standing::none;
  }
  if ((object.durable() || log_->is_before_mark(object.offset())) &&
      !(host_.faults().planted(faults::recovery_falls_back) && !complete(object, host_))) {
    return Standing::known;
  }
  return complete(object, host_) ? Standing::complete : Standing::none;
}

// What a cut has left is a prefix of what was written (kv/log/kept_prefix.h); what came behind its
// end is none of it, for good. From then on all that is left is settled.
Status Catalogue::keep_what_counts(std::vector<Recovered>& found) {
  const std::uint64_t settled = std::max(log_->settled(), log_->cleared());
  sequence_ = settled;
  for (const Recovered& one : found) {
    sequence_ = std::max(sequence_, one.sequence);
  }
  if (sequence_ > settled && log_->changeable().ok()) {
    const std::uint64_t end = end_of_kept(found, settled);
    const auto takes_later = [this](const Recovered& one) {
      return host_.faults().planted(faults::recovery_takes_later) && !log_->at(one.offset).more();
    };
    for (const Recovered& one : found) {
      if (one.sequence > settled) {
        REMORA_TRY(keep_or_drop(log_->at(one.offset), one.sequence < end || takes_later(one)));
      }
    }
    REMORA_TRY(host_.region().wait(drain_to_settle(host_)));
    REMORA_TRY_RESULT(ticket, log_->settle(sequence_));
    REMORA_TRY(host_.region().wait(*ticket));
    std::erase_if(found,
                  [&](const Recovered& one) { return one.sequence >= end && !takes_later(one); });
  }
  return Status();
}

std::uint64_t Catalogue::end_of_kept(const std::vector<Recovered>& found,
                                     std::uint64_t settled) const {
  KeptPrefix kept(settled);
  for (const Recovered& one : found) {
    if (one.sequence > settled) {
      const Object object = log_->at(one.offset);
      kept.add({.sequence = one.sequence,
                .offset = one.offset,
                .more = object.more(),
                .was_persistent =
                    (object.durable() && !object.invalid()) || log_->is_before_mark(one.offset)});
    }
  }
  return kept.end([this](Offset offset) {
    const Object object = log_->at(offset);
    if (host_.faults().planted(faults::recovery_takes_parts)) {
      return true;
    }
    return !object.invalid() && (object.kind() == Kind::tombstone || complete(object, host_));
  });
}

// A process that was killed may have left what counts in the processor's caches.
Status Catalogue::keep_or_drop(const Object& object, bool counts) {
  if (counts) {
    return host_.faults().planted(faults::recovery_trusts_caches)
               ? Status()
               : host_.region().persist_found(object.bytes());
  }
  if (!object.invalid() && !host_.faults().planted(faults::recovery_forgets_parts)) {
    log_->set_invalid(object);
  }
  return Status();
}

// What never came is given up for good, so that marks can pass it; what is to be verified is known
// by its sequence number.
void Catalogue::end_recovery() {
  recovered_ = sequence_;
  recovered_keys_ = keys_;
  log_->list(DataPool::current, recovered_segments_);
  for (const Offset offset : std::exchange(never_came_, {})) {
    if (log_->changeable().ok() && log_->find(offset).ok()) {
      give_up(log_->at(offset));
    }
  }
}

void Catalogue::take_recovered(const Object& object, Tag tag) {
  sequence_ = std::max(sequence_, object.sequence());
  const Standing speaks_for_it = standing(object);
  if (speaks_for_it == Standing::none && object.kind() == Kind::value && !object.invalid()) {
    never_came_.push_back(object.offset());
  }
  if (speaks_for_it == Standing::none ||
      (host_.faults().planted(faults::recovery_passes_expired) && expired(object))) {
    return;
  }
  if (index_->crowded()) {
    begin_resize(fitting_windows());
    while (!index_->resize(1024)) {
    }
    (void)end_resize();
  }
  const IndexSlot slot = find(tag, object.key(), host_);
  // Of a version and its copy the first counts, which is the original where that is complete: so
  // all copies of a cleaning that was cut short can go, and with them the room that they take.
  if (!slot || newest(slot).sequence() < object.sequence() ||
      host_.faults().planted(faults::recovery_takes_any)) {
    const bool trusts_flag = host_.faults().planted(faults::recovery_trusts_flag);
    lead_to(
        tag, slot, which_,
        place_of(object, object.kind() == Kind::tombstone || (trusts_flag && object.durable())));
    if (speaks_for_it == Standing::complete) {
      awaited_.push_back({.offset = object.offset(),
                          .sequence = object.sequence(),
                          .received_ns = host_.now_ns(),
                          .whole = true});
    }
  }
}

// What others are hidden by, or go for, must survive a cut: a process that was killed may have left
// it in the processor's caches.
Status Catalogue::persist_newest() {
  const bool is_twice = log_->holds_several_pools();
  Status status;
  Tag from = 0;
  do {
    from = index_->scan(from, 1024, [&](const IndexSlot& slot) {
      const Place newest = slot.place(newest_of(slot));
      const bool is_open = (is_twice || newest.expires) && !log_->at(newest.offset).durable();
      if (status.ok() && (newest.deleted || is_open) &&
          !host_.faults().planted(faults::recovery_trusts_caches)) {
        status = host_.region().persist_found(log_->at(newest.offset).bytes());
      }
    });
  } while (from != 0);
  return status;
}

// The copies of a cleaning that was cut short would take the room that the next one needs, and
// those of many such cleanings all of it.
Status Catalogue::drop_what_is_twice() {
  if (!log_->holds_several_pools() || host_.faults().planted(faults::recovery_keeps_copies)) {
    return {};
  }
  std::vector<Offset> needed;
  Tag from = 0;
  do {
    from = index_->scan(from, 1024, [&](const IndexSlot& slot) {
      needed.push_back(slot.place(newest_of(slot)).offset);
    });
  } while (from != 0);
  return log_->keep_only(std::move(needed));
}

}  // namespace remora::kv::efactory
