// Cleaning: which versions live on, and what leads to their copies. The cleaner asks for it
// (cleaner.h).
#include <algorithm>

#include "base/check.h"
#include "kv/efactory/catalogue.h"
#include "kv/efactory/faults.h"

namespace remora::kv::efactory {
namespace {

bool lies_in(Offset offset, const std::vector<Segment>& segments) {
  return std::any_of(segments.begin(), segments.end(), [offset](const Segment& segment) {
    return offset >= segment.offset && offset - segment.offset < segment.capacity_bytes;
  });
}

}  // namespace

void Catalogue::begin_cleaning(Goes goes) {
  goes_ = goes;
  log_->begin_new_pool();
}

void Catalogue::collect(const Segment& segment, std::vector<Offset>& offsets,
                        std::vector<Tag>& tags) const {
  offsets.clear();
  tags.clear();
  log_->visit(segment, [&](const Object& object) {
    offsets.push_back(object.offset());
    tags.push_back(index_->tag(object.key()));
  });
}

// The entry of a key, and then, if it is needed, the header of the version that this leads to:
// neither is in the caches, and the second is known when the first is there.
void Catalogue::look_ahead(const std::vector<Tag>& tags, std::size_t at) const {
  constexpr std::size_t near = 8;
  constexpr std::size_t far = 16;
  if (at >= far) {
    index_->expect(tags[at - far]);
  }
  if (at >= near) {
    (void)index_->find(tags[at - near], [&](const IndexSlot& slot) {
      const Place place = slot.place(newest_of(slot));
      if (!place.durable) {
        log_->expect_key(place.offset);
      }
      return true;
    });
  }
}

// If its key is led to, then to a durable version that is not this one, and if not, then nobody
// asks for it. Whose entries these are need not be known.
bool Catalogue::is_surely_stale(const Object& object, Tag tag) const {
  if (object.kind() != Kind::value || object.expires() != 0 || object.invalid()) {
    return false;
  }
  const IndexSlot doubt = index_->find(tag, [&](const IndexSlot& slot) {
    const Place place = slot.place(newest_of(slot));
    return place.offset == object.offset() ||
           !(place.durable || background_.faults().planted(faults::clean_drops_newest));
  });
  return !doubt;
}

Catalogue::Fate Catalogue::judge(const Object& object, Tag tag) {
  if (object.sequence() <= log_->cleared()) {
    return Fate::stale;
  }
  if (is_given_up(object, background_)) {
    // Until its mark is persistent the value may come after all.
    const bool is_decided =
        std::ranges::find(pending_marks_, object.offset()) == pending_marks_.end();
    return is_decided ? Fate::stale : Fate::undecided;
  }
  if (is_surely_stale(object, tag)) {
    background_.charge(Work::index);
    return Fate::stale;
  }
  const bool hides = object.kind() == Kind::tombstone || object.expires() != 0;
  const Fate if_not_led_to = goes_ == Goes::part && hides && is_whole(object) &&
                                     !background_.faults().planted(faults::part_forgets_deletions)
                                 ? Fate::hide
                                 : Fate::stale;
  const IndexSlot slot = find(tag, object.key(), background_);
  if (!slot) {
    return if_not_led_to;
  }
  const bool trusts_any = background_.faults().planted(faults::clean_drops_newest);
  std::optional<Object> version = newest(slot);
  for (; version && version->offset() != object.offset(); version = before(*version)) {
    if (version->sequence() <= object.sequence()) {
      // It is not in the list any more. Its copy may be: after a kill, nobody knows whether that is
      // persistent.
      if (goes_ == Goes::part && !version->durable() && complete(*version, background_)) {
        relied_on_ = make_durable(*version, background_);
      }
      return Fate::stale;
    }
    if (version->durable() || version->kind() == Kind::tombstone || trusts_any) {
      return Fate::stale;
    }
    if (!is_given_up(*version, background_) && complete(*version, background_)) {
      if (!background_.faults().planted(faults::clean_trusts_visible)) {
        relied_on_ = make_durable(*version, background_);
      }
      return Fate::stale;
    }
  }
  if (!version) {
    return if_not_led_to;  // it was deleted before the last recovery, or forgotten
  }
  if (object.kind() == Kind::tombstone) {
    return if_not_led_to;  // all that it hides goes with the old pool
  }
  // The same is true of a version whose time has come, unless what it hides was moved before it was
  // complete: then it goes where that went.
  if (target_ == DataPool::current && expired(object) && is_whole(object)) {
    return if_not_led_to;
  }
  if (is_whole(object) || background_.faults().planted(faults::clean_moves_incomplete)) {
    return Fate::keep;
  }
  return Fate::undecided;
}

Result<Catalogue::Copied> Catalogue::copy(const NewObject& what, ConstBytes value) {
  // A cleaning of all that gives up leaves room for one of a part.
  NewObject ours = what;
  ours.by = &background_;
  REMORA_TRY_RESULT(placed,
                    log_->append(ours, DataPool::next,
                                 goes_ == Goes::whole ? Reserve::may_use_half : Reserve::may_use));
  const Object copy = log_->at(placed->offset);
  if (value.empty()) {
    // The header is all of it.
  } else if (background_.faults().planted(faults::clean_copies_unflushed)) {
    copy_bytes(copy.value().data(), value);
  } else {
    background_.copy(copy.value().data(), value);
  }
  return Copied{copy, background_.drain()};
}

// The copy says `more` as the original does: until the write that it belongs to is settled, the
// copy may be all that a cut leaves of it.
Result<Ticket> Catalogue::move(const Object& object) {
  const Faults& planted = background_.faults();
  const bool keeps_time = !planted.planted(faults::clean_forgets_time);
  // One that is damaged stays so: its copy says that it was persistent, and is not called durable.
  const Tag tag = index_->tag(object.key());
  const IndexSlot leads_here = find_newest(tag, object.offset());
  const bool is_damaged = (object.sequence() <= recovered_ || !damaged_.empty()) &&
                          (!leads_here || is_suspect(leads_here, object)) &&
                          !complete(object, background_);
  REMORA_TRY_RESULT(
      copied,
      copy({.key = object.key(),
            .value_bytes = static_cast<std::uint32_t>(object.value().size()),
            .checksum = keeps_time ? object.checksum()
                                   : object_format::object_checksum(
                                         object.sequence(), object_format::client_checksum(
                                                                object.key(), object.value())),
            .sequence = object.sequence(),
            .flags = is_damaged || planted.planted(faults::clean_flag_first)
                         ? object_format::durable_flag
                         : 0,
            .more = object.more(),
            .expires = keeps_time ? object.expires() : 0},
           object.value()));
  const auto& [copy, ticket] = *copied;
  const bool is_persistent = background_.region().persistent(ticket);

  const IndexSlot slot = find(tag, object.key(), background_);
  REMORA_CHECK(slot, "a version that lives on is led to");
  Object after = newest(slot);
  if (after.offset() == object.offset()) {
    const Place place = place_of(copy, false);
    discount(slot.place(newest_of(slot)));
    count(place);
    index_->set_place(slot, copies_mark(), encode(place));
  } else {
    for (std::optional<Object> older = before(after); older->offset() != object.offset();
         older = before(after)) {
      after = *older;
    }
    if (!planted.planted(faults::clean_forgets_link)) {
      log_->set_previous(after, {copy.offset(), true});
    }
  }
  if (is_damaged && !planted.planted(faults::clean_mends_damage)) {
    note_damaged(copy, background_);
  } else if (is_persistent) {
    mark_durable(copy, background_);
  } else {
    awaited_.push_back({.offset = copy.offset(),
                        .sequence = copy.sequence(),
                        .received_ns = host_.now_ns(),
                        .whole = true});
  }
  return ticket;
}

Result<Ticket> Catalogue::move_hiding(const Object& object) {
  REMORA_TRY_RESULT(copied,
                    copy({.key = object.key(),
                          .kind = Kind::tombstone,
                          .checksum = object_format::object_checksum(
                              object.sequence(), object_format::client_checksum(object.key(), {})),
                          .sequence = object.sequence(),
                          .more = object.more()},
                         {}));
  const auto& [copy, ticket] = *copied;
  // The copy tells a get that the key is not there.
  last_del_ = last_tombstone_ = ticket;
  const IndexSlot slot = find(index_->tag(object.key()), object.key(), background_);
  if (!slot) {
    return ticket;
  }
  const Object first = newest(slot);
  if (first.offset() == object.offset()) {
    const Place place = place_of(copy, true);
    discount(slot.place(newest_of(slot)));
    count(place);
    index_->set_place(slot, copies_mark(), encode(place));
  } else if (const std::optional<Object> after = newer_than(object, first)) {
    log_->set_previous(*after, {copy.offset(), true});
  }
  return ticket;
}

std::optional<Object> Catalogue::newer_than(const Object& object, Object from) const {
  while (!ends_list(from)) {
    const std::optional<Object> older = before(from);
    if (!older || older->offset() == object.offset()) {
      return older ? std::optional(from) : std::nullopt;
    }
    from = *older;
  }
  return std::nullopt;
}

void Catalogue::bypass(const Object& object, Tag tag) {
  const IndexSlot slot = find(tag, object.key(), background_);
  if (!slot) {
    return;
  }
  const bool cuts_chain = background_.faults().planted(faults::clean_cuts_chain);
  const Object first = newest(slot);
  if (first.offset() != object.offset()) {
    if (const std::optional<Object> after = newer_than(object, first)) {
      log_->set_previous(*after, cuts_chain ? Link{} : object.previous());
    }
    return;
  }
  const std::optional<Object> older = cuts_chain ? std::nullopt : before(object);
  if (!older) {
    release(slot);
    return;
  }
  const Place place = place_of(*older, is_surely_durable(*older));
  discount(slot.place(newest_of(slot)));
  count(place);
  index_->set_place(slot, newest_of(slot), encode(place));
}

std::optional<Object> Catalogue::survivor(IndexSlot slot, const std::vector<Segment>& next) const {
  if (background_.faults().planted(faults::clean_forgets_survivor)) {
    return std::nullopt;
  }
  std::optional<Object> version = newest(slot);
  while (version && version->kind() == Kind::value && version->invalid()) {
    version = before(*version);
  }
  const bool counts = version && version->kind() == Kind::value && lies_in(version->offset(), next);
  return counts ? version : std::nullopt;
}

Tag Catalogue::flip(Tag from, std::uint64_t most_entries) {
  std::vector<IndexSlot> gone;
  std::vector<Segment> kept;
  log_->list(DataPool::next, kept);
  const std::size_t next = next_mark();
  const Tag go_on = index_->scan(from, most_entries, [&](const IndexSlot& slot) {
    if (slot.place_word(next) == 0) {
      // A put that came after the copy, and whose value did not, hid the copy.
      if (const std::optional<Object> version = survivor(slot, kept)) {
        const Place place = place_of(*version, is_surely_durable(*version));
        discount(slot.place(newest_of(slot)));
        count(place);
        index_->set_place(slot, next, encode(place));
      }
    }
    if (slot.place_word(next) == 0) {
      gone.push_back(slot);
    } else if (slot.mark() != next) {
      index_->set_mark(slot, next);
      index_->set_place(slot, 1 - next, 0);
    }
  });
  for (const IndexSlot slot : gone) {
    release(slot);
  }
  if (go_on == 0) {
    mark_ = next;
  }
  return go_on;
}

Tag Catalogue::unflip(Tag from, std::uint64_t most_entries) {
  return index_->scan(from, most_entries, [&](const IndexSlot& slot) {
    const std::size_t newest = newest_of(slot);
    if (newest != mark_) {
      index_->set_place(slot, mark_, slot.place_word(newest));
    }
    index_->set_mark(slot, mark_);
    index_->set_place(slot, 1 - mark_, 0);
  });
}

std::optional<Object> Catalogue::staying(std::optional<Object> version,
                                         const std::vector<Segment>& gone) const {
  while (version && lies_in(version->offset(), gone)) {
    version = ends_list(*version) ? std::nullopt : before(*version);
  }
  return version;
}

void Catalogue::unlink_old(const Object& object, const std::vector<Segment>& old) {
  if (object.durable() || object.kind() == Kind::tombstone || object.sequence() <= recovered_) {
    return;  // nobody follows its link
  }
  const Link link = object.previous();
  if (link.offset != 0 && lies_in(link.offset, old)) {
    // What is left there never came; a version behind it may have been moved.
    const std::optional<Object> version = background_.faults().planted(faults::clean_cuts_chain)
                                              ? std::nullopt
                                              : staying(log_->at(link.offset), old);
    log_->set_previous(object, {version ? version->offset() : 0, false});
  } else if (link.transferred) {
    log_->set_previous(object, {link.offset, false});
  }
}

}  // namespace remora::kv::efactory
