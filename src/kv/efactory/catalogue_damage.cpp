// What was persistent, and fails its checksum.
#include <cstring>

#include "kv/efactory/catalogue.h"
#include "kv/efactory/faults.h"

namespace remora::kv::efactory {

// Whether header and key are as they were appended.
bool Catalogue::is_readable(const Object& object) const {
  object_format::Header header;
  std::memcpy(&header, object.header_bytes().data(), sizeof header);
  return object_format::plausible(header, pool_.size_bytes() - object.offset()) &&
         header.header_checksum == object_format::header_checksum(header, object.key());
}

// Clients that READ the index ask from then on.
void Catalogue::note_unreadable(IndexSlot slot) {
  Place place = slot.place(newest_of(slot));
  place.durable = false;
  index_->set_place(slot, newest_of(slot), encode(place));
  damaged_.insert(place.offset);
  note_unreadable(place.offset);
}

bool Catalogue::ends_unreadable(Object version) const {
  for (;;) {
    if (unreadable_.contains(version.offset())) {
      return true;
    }
    const Offset older = version.previous().offset;
    if (ends_list(version) || older == 0 || version.sequence() <= recovered_) {
      return false;
    }
    version = log_->at(older);
  }
}

// Its flag, or the mark before which it lies, says that it is persistent; else its checksum, and
// that it is still to be made so.
Catalogue::Found Catalogue::get_suspect(IndexSlot slot, const Object& version) {
  const bool is_persistent = version.durable() || log_->is_before_mark(version.offset());
  if (expired(version)) {
    return {std::nullopt, is_persistent ? Ticket{} : make_durable(version, host_)};
  }
  if (damaged_.contains(version.offset()) || !complete(version, host_)) {
    note_damaged(version, host_);
    return {std::nullopt, {}, true};
  }
  if (!is_persistent) {
    return {version, make_durable(version, host_)};
  }
  if (newest(slot).offset() == version.offset()) {
    mark_durable(version, host_);
  }
  return {version, {}};
}

Catalogue::Verdict Catalogue::verify(const Object& object, Tag tag, const Host& by) {
  by.charge(Work::index);
  const IndexSlot slot = find_newest(tag, object.offset());
  if (!slot || object.kind() != Kind::value || object.invalid() ||
      !(object.durable() || log_->is_before_mark(object.offset()))) {
    return Verdict::open;
  }
  if (!complete(object, by)) {
    note_damaged(object, by);
    return Verdict::damaged;
  }
  if (!slot.place(newest_of(slot)).durable) {
    damaged_.erase(object.offset());
    mark_durable(object, by);
  }
  return Verdict::sound;
}

void Catalogue::verify_newest(ConstBytes key) {
  const Tag tag = index_->tag(key);
  if (const IndexSlot slot = find(tag, key, host_)) {
    (void)verify(newest(slot), tag, host_);
  }
}

Catalogue::Scrubbed Catalogue::scrub(Tag from, std::uint64_t most_entries) {
  Scrubbed look;
  std::vector<IndexSlot> found;
  look.next = index_->scan(from, most_entries, [&](const IndexSlot& slot) {
    const Place place = slot.place(newest_of(slot));
    if (place.offset != 0 && !place.deleted) {
      found.push_back(slot);
    }
  });
  for (const IndexSlot slot : found) {
    const Object object = newest(slot);
    ++look.seen;
    if (!is_readable(object)) {
      ++look.damaged;
      note_unreadable(slot);
    } else if (verify(object, slot.tag(), background_) == Verdict::damaged) {
      ++look.damaged;
    }
  }
  return look;
}

// The flag says from now on that it was persistent, so that a copy of all of the store does not
// pass it.
void Catalogue::note_damaged(const Object& object, const Host& by) {
  if (!object.durable()) {
    log_->note_durable(object);
  }
  by.charge(Work::index);
  const IndexSlot slot = find_newest(index_->tag(object.key()), object.offset());
  if (slot) {
    index_->set_place(slot, newest_of(slot), encode(place_of(object, false)));
    damaged_.insert(object.offset());
  }
}

void Catalogue::list_undecided(std::vector<Offset>& out) const {
  out.assign(pending_marks_.begin(), pending_marks_.end());
  if (background_.faults().planted(faults::mark_passes_undecided)) {
    return;
  }
  for (const Awaited& version : awaited_) {
    out.push_back(version.offset);
  }
}

}  // namespace remora::kv::efactory
