// What was persistent, and fails its checksum.
#include "kv/efactory/catalogue.h"
#include "kv/efactory/faults.h"

namespace remora::kv::efactory {

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

// The flag says from now on that it was persistent, whoever looks at it: a copy of all of the store
// must not pass it.
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
