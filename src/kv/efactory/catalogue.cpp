#include "kv/efactory/catalogue.h"

#include <algorithm>
#include <cstring>

#include "kv/efactory/faults.h"

namespace remora::kv::efactory {
namespace {

bool same(ConstBytes a, ConstBytes b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace

Catalogue::Catalogue(const Host& host, Pool& pool, const ServerOptions& options)
    : host_(host), background_(host.background()), pool_(pool), times_(host.runtime().wall_ms()) {
  make_index(options.expected_keys, options.tag_bits);
}

void Catalogue::make_index(std::uint64_t keys, std::uint16_t tag_bits) {
  least_windows_ = windows_for(keys);
  const IndexGeometry geometry{host_.runtime().random().next(), least_windows_, tag_bits};
  table_ = Table::make(geometry);
  index_ = std::make_unique<Index>(geometry, table_.bytes);
}

void Catalogue::begin_resize(std::uint64_t windows) {
  const IndexGeometry geometry = index_->resized(windows);
  next_table_ = Table::make(geometry);
  index_->begin_resize(geometry, next_table_.bytes);
}

Catalogue::Table Catalogue::end_resize() {
  index_->end_resize();
  return std::exchange(table_, std::move(next_table_));
}

Tag Catalogue::forget_tombstones(Tag from, std::uint64_t most_entries, std::uint64_t up_to) {
  std::vector<IndexSlot> gone;
  const Tag go_on = index_->scan(from, most_entries, [&](const IndexSlot& slot) {
    if (slot.place(newest_of(slot)).deleted && newest(slot).sequence() <= up_to) {
      gone.push_back(slot);
    }
  });
  for (const IndexSlot slot : gone) {
    release(slot);
  }
  return go_on;
}

Result<std::unique_ptr<Catalogue>> Catalogue::create(const Host& host, Pool& pool,
                                                     const ServerOptions& options) {
  std::unique_ptr<Catalogue> catalogue(new Catalogue(host, pool, options));
  REMORA_TRY_RESULT(
      log, Log::create(host, pool, {.engine = "efactory", .segment_bytes = options.segment_bytes}));
  catalogue->take_log(std::move(log).value());
  return catalogue;
}

void Catalogue::take_log(std::unique_ptr<Log> log) {
  log_ = std::move(log);
  living_.emplace(host_.region().bytes().size(), log_->segment_bytes());
}

// --- Versions ---

IndexSlot Catalogue::find(Tag tag, ConstBytes key, const Host& by) const {
  by.charge(Work::index);
  const bool trusts_tag = by.faults().planted(faults::tag_is_key);
  return index_->find(tag, [&](const IndexSlot& slot) {
    return trusts_tag || (same(newest(slot).key(), key) && !is_unreadable(slot));
  });
}

// Costs no more than find() as long as no entry has the tag and another key.
IndexSlot Catalogue::find_or_unreadable(Tag tag, ConstBytes key, const Host& by) {
  by.charge(Work::index);
  const bool trusts_tag = by.faults().planted(faults::tag_is_key);
  bool has_others = false;
  const IndexSlot slot = index_->find(tag, [&](const IndexSlot& one) {
    const bool is_it = trusts_tag || (same(newest(one).key(), key) && !is_unreadable(one));
    has_others = has_others || !is_it;
    return is_it;
  });
  if (slot || !has_others) [[likely]] {
    return slot;
  }
  // A deletion hides its key in any case.
  const IndexSlot unreadable = index_->find(tag, [&](const IndexSlot& one) {
    return !one.place(newest_of(one)).deleted && (is_unreadable(one) || !is_readable(newest(one)));
  });
  if (unreadable) {
    note_unreadable(unreadable);
  }
  return unreadable;
}

IndexSlot Catalogue::find_newest(Tag tag, Offset offset) const {
  return index_->find(
      tag, [&](const IndexSlot& slot) { return slot.place(newest_of(slot)).offset == offset; });
}

std::size_t Catalogue::newest_of(IndexSlot slot) {
  const std::size_t other = 1 - slot.mark();
  return slot.place_word(other) != 0 ? other : slot.mark();
}

Object Catalogue::newest(IndexSlot slot) const {
  return log_->at(slot.place(newest_of(slot)).offset);
}

std::optional<Object> Catalogue::before(const Object& object) const {
  const bool is_last = object.durable() || object.kind() == Kind::tombstone;
  return is_last ? std::nullopt : linked(object);
}

std::optional<Object> Catalogue::linked(const Object& object) const {
  const Offset offset = object.previous().offset;
  if (offset == 0 || object.sequence() <= recovered_ ||
      (has_unreadable_ && unreadable_.contains(offset))) {
    return std::nullopt;
  }
  return log_->at(offset);
}

bool Catalogue::complete(const Object& object, const Host& by) const {
  by.charge_crc(object.value().size());
  return object.intact();
}

Place Catalogue::place_of(const Object& object, bool durable) {
  return {object.offset(), object.size_bytes(), durable, object.kind() == Kind::tombstone,
          object.expires() != 0};
}

// One word leads to the version, so a READ of the entry finds the old or the new. The object is
// not looked at: its lines may have left the caches when they were flushed.
IndexSlot Catalogue::lead_to(Tag tag, IndexSlot slot, std::size_t which, const Place& place) {
  count(place);
  if (!slot) {
    return index_->insert(tag, which, encode(place));
  }
  discount(slot.place(newest_of(slot)));
  index_->set_place(slot, which, encode(place));
  // A version that cleaning has moved is older than this one, which is in the old pool again.
  const bool hides_moved =
      which == slot.mark() && !host_.faults().planted(faults::put_leaves_stale_place);
  // A client that READs the other word before the put after this del, and this one after it, would
  // find what was deleted.
  if ((hides_moved || place.deleted) && slot.place_word(1 - which) != 0) {
    index_->set_place(slot, 1 - which, 0);
  }
  return slot;
}

void Catalogue::count(const Place& place) {
  living_->add(place.offset, place.size_bytes);
  live_bytes_ += place.deleted ? 0 : place.size_bytes;
  keys_ += place.deleted ? 0 : 1;
  expiring_ += place.expires ? 1 : 0;
}

void Catalogue::discount(const Place& place) {
  living_->take(place.offset, place.size_bytes);
  live_bytes_ -= place.deleted ? 0 : place.size_bytes;
  keys_ -= place.deleted ? 0 : 1;
  expiring_ -= place.expires ? 1 : 0;
  if (!damaged_.empty()) [[unlikely]] {
    damaged_.erase(place.offset);
  }
}

void Catalogue::release(IndexSlot slot) {
  discount(slot.place(newest_of(slot)));
  index_->clear(slot);
  index_->release(slot);
}

// --- Requests ---

// Cleaning copies what lives, so no more than half of the space may live.
bool Catalogue::may_live(std::uint64_t more_bytes) const {
  const LogUsage usage = log_->usage();
  return live_bytes_ + more_bytes <=
         (usage.total_bytes - std::min(usage.total_bytes, usage.reserve_bytes)) / 2;
}

Result<Catalogue::Granted> Catalogue::put(ConstBytes key, std::uint32_t value_bytes,
                                          std::uint32_t client_sum, std::uint64_t owner,
                                          std::uint64_t look_ns) {
  const Faults& planted = host_.faults();
  const Tag tag = index_->tag(key);
  const IndexSlot slot = find_or_unreadable(tag, key, host_);
  const std::uint64_t sequence =
      sequence_ + (planted.planted(faults::sequence_stands_still) && sequence_ != 0 ? 0 : 1);
  Link previous;
  if (slot && !planted.planted(faults::forgets_previous)) {
    previous.offset = newest(slot).offset();
  }
  if (!may_live(object_format::size_bytes(key.size(), value_bytes))) {
    return Status(Code::no_space, "the store is full");
  }
  REMORA_TRY_RESULT(
      placed,
      log_->append(
          {.key = key,
           .value_bytes = value_bytes,
           .checksum = object_format::object_checksum(sequence, client_sum),
           .sequence = sequence,
           .previous = previous,
           .flags = planted.planted(faults::durable_from_start) ? object_format::durable_flag : 0},
          target_));
  sequence_ = sequence;
  lead_to(tag, slot, which_,
          {.offset = placed->offset,
           .size_bytes = placed->size_bytes,
           .durable = planted.planted(faults::durable_from_start)});
  awaited_.push_back(
      {placed->offset, sequence, host_.now_ns(), look_ns, owner, placed->size_bytes});
  return Granted{*placed, sequence};
}

Result<Ticket> Catalogue::del(ConstBytes key) {
  const Tag tag = index_->tag(key);
  const IndexSlot slot = find_or_unreadable(tag, key, host_);
  if (!slot || (!is_unreadable(slot) && newest(slot).kind() == Kind::tombstone)) {
    return last_del_;
  }
  if (host_.faults().planted(faults::del_in_memory)) {
    release(slot);
    return Ticket{};
  }
  Result<Ticket> ticket = bury(tag, slot, key, Reserve::may_use_half);
  if (ticket.ok()) {
    last_del_ = *ticket;
  }
  return ticket;
}

Result<Ticket> Catalogue::bury(Tag tag, IndexSlot slot, ConstBytes key, Reserve reserve) {
  const std::uint64_t sequence = sequence_ + 1;
  // Cleaning may have moved what it hides: it goes where that went, and outlives the old pool. When
  // a part of the log is cleaned, what is open for deletions does not go, and the room is for
  // copies.
  const bool outlives =
      log_->cleaning() && goes_ == Goes::whole && !host_.faults().planted(faults::del_in_old_pool);
  const DataPool to = outlives ? DataPool::next : target_;
  REMORA_TRY_RESULT(placed, log_->append({.key = key,
                                          .kind = Kind::tombstone,
                                          .checksum = object_format::object_checksum(
                                              sequence, object_format::client_checksum(key, {})),
                                          .sequence = sequence,
                                          .previous = {newest(slot).offset(), false}},
                                         to, reserve));
  sequence_ = sequence;
  const bool acknowledged_early = host_.faults().planted(faults::del_not_persisted);
  if (acknowledged_early) {
    last_tombstone_ = {};
  } else {
    seal_tombstone();
  }
  lead_to(tag, slot, to == target_ ? which_ : next_mark(),
          {.offset = placed->offset,
           .size_bytes = placed->size_bytes,
           .durable = true,
           .deleted = true});
  return last_tombstone_;
}

Catalogue::Found Catalogue::get(ConstBytes key) {
  const Faults& planted = host_.faults();
  const IndexSlot slot = find_or_unreadable(index_->tag(key), key, host_);
  if (!slot) {
    return {std::nullopt, last_del_};
  }
  if (has_unreadable_ && ends_unreadable(newest(slot))) [[unlikely]] {
    return {std::nullopt, {}, true};
  }
  for (std::optional<Object> version = newest(slot); version; version = before(*version)) {
    if (version->kind() == Kind::tombstone) {
      if (planted.planted(faults::get_passes_tombstone)) {
        version = linked(*version);
        if (version && version->durable()) {
          return {*version, {}};
        }
      }
      break;
    }
    if (is_suspect(slot, *version)) [[unlikely]] {
      const Found found = get_suspect(slot, *version);
      if (found.damaged && planted.planted(faults::damaged_is_missing)) {
        continue;
      }
      return found;
    }
    if (version->durable() || planted.planted(faults::get_skips_checksum)) {
      if (expired(*version)) {
        break;
      }
      return {*version, {}};
    }
    if (!is_given_up(*version, host_) && complete(*version, host_)) {
      if (expired(*version)) {
        // What it hides stays hidden after a cut.
        return {std::nullopt, make_durable(*version, host_)};
      }
      if (planted.planted(faults::get_skips_persist)) {
        return {*version, {}};
      }
      return {*version, make_durable(*version, host_)};
    }
    if (planted.planted(faults::get_looks_once)) {
      break;
    }
  }
  return {std::nullopt, last_del_};
}

Result<Ticket> Catalogue::persist(Offset offset, std::uint64_t sequence) {
  const Result<Object> object = log_->find(offset);
  if (!object.ok() || object->sequence() != sequence) {
    return Status(Code::not_found, "there is no such version; it was cleaned away");
  }
  if (object->durable()) {
    return Ticket{};
  }
  if (is_given_up(*object, host_) || !complete(*object, host_)) {
    return Status(Code::timed_out, "the value did not arrive whole, or not in time");
  }
  if (host_.faults().planted(faults::persist_not_awaited)) {
    return Ticket{};
  }
  return make_durable(*object, host_);
}

// --- Durability ---

bool Catalogue::flush_if_complete(const Object& object, const Host& by) {
  const Faults& planted = by.faults();
  if (!complete(object, by) && !planted.planted(faults::flag_without_checksum)) {
    return false;
  }
  if (!planted.planted(faults::flag_without_persist)) {
    by.flush(to_flush(object, by));
  }
  return true;
}

// All of it.
ConstBytes Catalogue::to_flush(const Object& object, const Host& by) const {
  const ConstBytes all = object.bytes();
  return by.faults().planted(faults::large_flushed_in_part)
             ? all.first(std::min<std::size_t>(all.size(), log_->segment_bytes()))
             : all;
}

std::optional<Object> Catalogue::newer_version(const Object& object, const Host& by) const {
  const Tag tag = index_->tag(object.key());
  if (find_newest(tag, object.offset())) {
    by.charge(Work::index);
    return std::nullopt;
  }
  const IndexSlot slot = find(tag, object.key(), by);
  if (!slot || newest(slot).sequence() <= object.sequence()) {
    return std::nullopt;
  }
  return newest(slot);
}

Ticket Catalogue::make_durable(const Object& object, const Host& by) {
  by.flush(to_flush(object, by));
  return drain_durable(object, by);
}

Ticket Catalogue::drain_durable(const Object& object, const Host& by, const KnownEntry& entry) {
  const Ticket ticket = by.drain();
  if (by.region().persistent(ticket)) {
    mark_durable(object, by, entry);
  } else if (by.region().failure().ok()) {  // else it never will be, and nobody flags it
    flushed_.push_back({object.offset(), object.sequence(), ticket});
  }
  return ticket;
}

// The flag is not flushed: when a cut takes it, the checksum tells the same.
void Catalogue::mark_durable(const Object& object, const Host& by, const KnownEntry& entry) {
  if (!object.durable()) {
    log_->note_durable(object);
  }
  const bool is_good = entry.slot && entry.generation == index_->generation();
  if (!is_good) {
    by.charge(Work::index);
  }
  const IndexSlot slot =
      is_good ? entry.slot : find_newest(index_->tag(object.key()), object.offset());
  if (slot && slot.place(newest_of(slot)).offset == object.offset()) {
    index_->set_place(slot, newest_of(slot), encode(place_of(object, true)));
  }
}

// Flushed, unlike the flag of durability: the value may come after all, and a cut that took the
// mark would bring it back, though gets have been told that it is not there.
void Catalogue::give_up(const Object& object) {
  log_->note_invalid(object);
  if (!background_.faults().planted(faults::give_up_in_memory)) {
    background_.flush(object.header_bytes());
    pending_marks_.push_back(object.offset());
  }
}

// One whose value came after all is as good as any, and is looked after again.
void Catalogue::marks_persisted() {
  for (const Offset offset : pending_marks_) {
    const Result<Object> object = log_->find(offset);
    if (object.ok() && !object->invalid() && !object->durable()) {
      awaited_.push_back({offset, object->sequence(), host_.now_ns()});
    }
  }
  pending_marks_.clear();
}

// While a cut could still take its mark, a value that has come is as good as any.
bool Catalogue::is_given_up(const Object& version, const Host& by) const {
  if (!version.invalid()) [[likely]] {
    return false;
  }
  const bool is_decided =
      std::ranges::find(pending_marks_, version.offset()) == pending_marks_.end();
  if (is_decided || !complete(version, by)) {
    return true;
  }
  log_->note_valid(version);
  return false;
}

}  // namespace remora::kv::efactory
