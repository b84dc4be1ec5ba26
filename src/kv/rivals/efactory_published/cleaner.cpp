#include "kv/rivals/efactory_published/cleaner.h"

#include <algorithm>

#include "kv/common/await_persistent.h"

namespace remora::kv::efactory_published {
namespace {

constexpr std::uint64_t look_ns = 1'000;
constexpr std::size_t entries_per_turn = 64;
// After a cleaning that found no room for its copies.
constexpr std::uint64_t clean_again_ns = 1'000'000;

}  // namespace

Cleaner::Cleaner(Versions& versions, const Verifier& verifier, const Host& background,
                 const ServerOptions& options, Calls calls)
    : versions_(versions),
      verifier_(verifier),
      background_(background),
      clean_at_percent_(options.clean_at_percent),
      always_(options.clean_always),
      calls_(std::move(calls)) {
  keep_room(half_bytes());
}

// --- When ---

std::uint64_t Cleaner::half_bytes() const {
  return versions_.log().usage().total_bytes / 2;
}

std::uint64_t Cleaner::held_bytes(DataPool pool) const {
  std::vector<Segment> segments;
  versions_.log().list(pool, segments);
  std::uint64_t bytes = 0;
  for (const Segment& segment : segments) {
    bytes += segment.capacity_bytes;
  }
  return bytes;
}

// Puts leave so much to the cleaner; what the last cleaning has ended is kept already.
void Cleaner::keep_room(std::uint64_t bytes) {
  versions_.log().set_reserve(bytes > dead_bytes_ ? bytes - dead_bytes_ : 0);
}

// As much as the last cleaning has kept must have come on top, or there is nothing to be gained.
bool Cleaner::is_due() const {
  const LogUsage usage = versions_.log().usage();
  if (is_pressed_ || (always_ && usage.appended_bytes != 0)) {
    return true;
  }
  return taken_bytes_ > kept_bytes_ &&
         (usage.segment_bytes - dead_bytes_) * 100 >= half_bytes() * clean_at_percent_;
}

void Cleaner::took(std::uint64_t size_bytes) {
  taken_bytes_ += size_bytes;
  wake();
}

void Cleaner::deleted() {
  has_deleted_ = true;
}

bool Cleaner::press() {
  if (!is_cleaning_ && taken_bytes_ == 0 && !has_deleted_) {
    return false;
  }
  is_pressed_ = true;
  wake();
  return true;
}

void Cleaner::wake() {
  if (to_clean_ && !to_clean_->is_set() && is_due()) {
    to_clean_->set();
  }
}

Task<void> Cleaner::keep_up() {
  for (;;) {
    if (!is_due()) {
      co_await to_clean_.emplace(background_.runtime());
      continue;
    }
    is_cleaning_ = true;
    co_await clean();
    is_cleaning_ = false;
    co_await background_.runtime().sleep_for(look_ns);
    if (!background_.region().failure().ok()) {
      co_return;
    }
  }
}

// --- A cleaning ---

Task<void> Cleaner::clean() {
  Log& log = versions_.log();
  is_pressed_ = false;
  has_deleted_ = false;
  taken_bytes_ = 0;
  kept_bytes_ = 0;
  Status status;
  calls_.pool_goes(dead_);
  dead_.clear();
  if (const Result<std::size_t> freed = log.free_dead(SIZE_MAX); !freed.ok()) {
    co_return;  // the medium has failed
  }
  dead_bytes_ = 0;
  ++phase_;
  if (!background_.faults().planted(faults::clean_keeps_reads)) {
    co_await calls_.tell(phase_);
  }
  log.begin_new_pool();
  status = co_await compress();
  if (status.ok()) {
    status = co_await merge();
  }
  if (status.ok()) {
    status = co_await end();
  } else {
    co_await give_up();
  }
  ++phase_;
  co_await calls_.tell(phase_);
  keep_room(half_bytes());
  if (!status.ok()) {
    co_await background_.runtime().sleep_for(clean_again_ns);
  }
}

// From the tail of what the data pool holds now.
Task<Status> Cleaner::compress() {
  versions_.enter(Stage::compress);
  start_sequence_ = versions_.sequence();
  keep_room(held_bytes(DataPool::current));
  std::vector<Segment> old;
  versions_.log().list(DataPool::current, old);
  bounds_.clear();
  for (const Segment& segment : old) {
    bounds_.push_back({segment.number, segment.used_bytes});
  }
  for (std::size_t i = old.size(); i-- > 0;) {
    REMORA_CO_TRY(co_await scan(old[i], 0));
  }
  co_return Status();
}

// From the tail of what was put meanwhile.
Task<Status> Cleaner::merge() {
  versions_.enter(Stage::merge);
  calls_.pool_changes();
  std::vector<Segment> old;
  versions_.log().list(DataPool::current, old);
  start_sequence_ = UINT64_MAX;
  std::uint64_t to_merge_bytes = 0;
  for (const Segment& segment : old) {
    to_merge_bytes += segment.capacity_bytes;
  }
  keep_room(std::min(to_merge_bytes, half_bytes()));
  for (std::size_t i = old.size(); i-- > 0;) {
    const auto bound = std::ranges::find(bounds_, old[i].number, &Bound::number);
    REMORA_CO_TRY(co_await scan(old[i], bound == bounds_.end() ? 0 : bound->used_bytes));
  }
  co_return Status();
}

// The old data pool ends with one word, when all that was led to the new one is persistent.
Task<Status> Cleaner::end() {
  REMORA_CO_TRY(co_await await_persistent(background_, background_.drain()));
  versions_.enter(Stage::end);
  co_await visit_entries(&Cleaner::flip);
  std::vector<Segment> kept;
  versions_.log().list(DataPool::next, kept);
  for (const Segment& segment : kept) {
    clear_transfer_flags(segment);
    co_await background_.runtime().yield();
  }
  REMORA_CO_TRY(co_await await_persistent(background_, background_.drain()));
  const std::uint64_t old_bytes = held_bytes(DataPool::current);
  versions_.log().list(DataPool::current, dead_);
  REMORA_CO_TRY_RESULT(ended, versions_.log().end_old_pool());
  versions_.flip();
  versions_.enter(Stage::none);
  dead_bytes_ = old_bytes;
  ++cleanings_;
  co_return co_await await_persistent(background_, *ended);
}

// Both pools live on as one, and every entry leads to the newer of its two places.
Task<void> Cleaner::give_up() {
  versions_.enter(Stage::compress);  // puts go where the entries will lead
  co_await visit_entries(&Cleaner::lead_back);
  (void)co_await await_persistent(background_, background_.drain());
  co_await visit_entries(&Cleaner::forget_next);
  versions_.log().keep_both_pools();
  versions_.enter(Stage::none);
}

// The table may be replaced by a larger one meanwhile: then again from the start.
Task<void> Cleaner::visit_entries(void (Cleaner::*visit)(Bucket&)) {
  HopscotchTable& table = versions_.table();
  std::uint64_t generation = table.generation();
  for (std::size_t i = 0; i < table.all().size(); ++i) {
    if (table.all()[i].tag != 0) {
      (this->*visit)(table.all()[i]);
    }
    if (i % entries_per_turn == 0) {
      co_await background_.charged();
      co_await background_.runtime().yield();
      if (table.generation() != generation) {
        generation = table.generation();
        i = 0;
      }
    }
  }
}

void Cleaner::clear_transfer_flags(const Segment& segment) {
  versions_.log().visit(segment, [this](const Object& object) {
    if (object.previous().transferred) {
      versions_.log().set_previous(object, {.offset = object.previous().offset});
    }
  });
}

void Cleaner::flip(Bucket& bucket) {
  if (bucket.words[versions_.next()] == 0) {
    versions_.table().erase(bucket);  // no version of it was whole
    return;
  }
  EntryWords words = bucket.words;
  words[versions_.current()] = 0;
  words[mark_word] = versions_.next();
  versions_.table().set(bucket, words);
}

void Cleaner::lead_back(Bucket& bucket) {
  versions_.set_place(bucket, versions_.current(), Versions::place_of(versions_.newest(bucket)));
}

void Cleaner::forget_next(Bucket& bucket) {
  EntryWords words = bucket.words;
  words[versions_.next()] = 0;
  versions_.table().set(bucket, words);
}

// --- Versions, one by one ---

Task<Status> Cleaner::scan(const Segment& segment, std::uint64_t from_bytes) {
  std::vector<Offset> offsets;
  versions_.log().collect(segment, offsets);
  for (std::size_t i = offsets.size(); i-- > 0;) {
    if (offsets[i] < segment.offset + from_bytes) {
      break;
    }
    REMORA_CO_TRY(co_await look_at(offsets[i]));
  }
  co_return Status();
}

Task<Status> Cleaner::look_at(Offset offset) {
  const Object object = versions_.log().at(offset);
  if (object.sequence() > start_sequence_) {
    co_return Status();
  }
  background_.charge(Work::index);
  if (is_in_list(object)) {
    REMORA_CO_TRY(co_await move_if_needed(object));
  }
  // The value of a key that was deleted may yet be on its way.
  while (!verifier_.has_passed(object.sequence()) && !object.durable() && !object.invalid()) {
    REMORA_CO_TRY(background_.region().failure());
    co_await background_.runtime().sleep_for(look_ns);
  }
  co_await background_.charged();
  co_await background_.runtime().yield();
  co_return Status();
}

Task<Status> Cleaner::move_if_needed(Object object) {
  if (co_await is_superseded(object)) {
    co_return Status();
  }
  REMORA_CO_TRY(co_await decide(object));
  if (object.invalid()) {
    co_return Status();
  }
  const bool is_stale = co_await is_superseded(object);  // it was a while
  if (is_stale || !is_in_list(object)) {
    co_return Status();
  }
  co_return co_await move(object);
}

// Whether the hash entry, and links from there, lead to it. A deleted key has no list, and what
// recovery forgot is in none. Behind a durable version nobody looks any further.
bool Cleaner::is_in_list(const Object& object) const {
  const Bucket* const bucket = versions_.find(object.key());
  if (bucket == nullptr || object.kind() != Kind::value) {
    return false;
  }
  const auto is_first = [bucket](Offset offset) {
    return decode(bucket->words[0]).offset == offset || decode(bucket->words[1]).offset == offset;
  };
  Object at = object;
  while (!is_first(at.offset())) {
    const std::optional<Object> after = versions_.after(at);
    if (!after || after->previous().offset != at.offset()) {
      return false;
    }
    if (after->durable()) {
      return true;
    }
    at = *after;
  }
  return true;
}

// Until it is durable, or marked invalid.
Task<Status> Cleaner::decide(Object object) {
  while (!object.durable() && !object.invalid()) {
    if (Versions::is_whole(object, background_)) {
      const Ticket ticket = Versions::persist(object, background_);
      co_await background_.charged();
      REMORA_CO_TRY(co_await await_persistent(background_, ticket));
      versions_.log().note_durable(object);
      co_return Status();
    }
    REMORA_CO_TRY(background_.region().failure());
    co_await background_.charged();
    co_await background_.runtime().sleep_for(look_ns);
  }
  co_return Status();
}

// In the first stage by a version that was there at the start, and so is moved in its stead. In the
// second by any that is durable, or can be made so now.
Task<bool> Cleaner::is_superseded(Object object) {
  for (std::optional<Object> newer = versions_.after(object); newer;
       newer = versions_.after(*newer)) {
    if (newer->sequence() > start_sequence_) {
      break;
    }
    if (newer->durable()) {
      co_return true;
    }
    if (!newer->invalid() && Versions::is_whole(*newer, background_)) {
      const Ticket ticket = Versions::persist(*newer, background_);
      const Status status = co_await await_persistent(background_, ticket);
      if (status.ok()) {
        versions_.log().note_durable(*newer);
      }
      co_return status.ok();
    }
  }
  co_return false;
}

// What was moved before it is its past; all else is stale. Nothing leads to a copy that is not
// persistent.
Task<Status> Cleaner::move(Object object) {
  const Link previous = object.previous();
  const ConstBytes value = object.value();
  background_.charge_copy(value.size());
  const Result<Placed> placed =
      versions_.log().append({.key = object.key(),
                              .value_bytes = static_cast<std::uint32_t>(value.size()),
                              .checksum = object.checksum(),
                              .sequence = object.sequence(),
                              .previous = previous.transferred ? previous : Link{},
                              .flags = object_format::durable_flag,
                              .content = std::span(&value, 1),
                              .by = &background_},
                             DataPool::next, Reserve::may_use);
  REMORA_CO_TRY(placed.status());
  kept_bytes_ += placed->size_bytes;
  ++moved_;
  if (!background_.faults().planted(faults::clean_copies_unpersisted)) {
    const Ticket ticket = background_.drain();
    co_await background_.charged();
    REMORA_CO_TRY(co_await await_persistent(background_, ticket));
  }
  if (is_in_list(object)) {  // it was a while
    lead_to_copy(object, versions_.log().at(placed->offset));
  }
  co_return Status();
}

// From the hash entry, if that leads to the version or only to what never came after it; or from
// the version after it.
void Cleaner::lead_to_copy(const Object& object, const Object& copy) {
  std::optional<Object> after = versions_.after(object);
  while (after && after->invalid()) {
    after = versions_.after(*after);
  }
  if (!after) {
    versions_.set_place(*versions_.find(object.key()), versions_.next(), Versions::place_of(copy));
  } else if (!background_.faults().planted(faults::clean_forgets_link)) {
    versions_.log().set_previous(*after, {.offset = copy.offset(), .transferred = true});
    background_.flush(after->header_bytes());
    versions_.log().set_next(copy, {.offset = after->offset()});
  }
}

}  // namespace remora::kv::efactory_published
