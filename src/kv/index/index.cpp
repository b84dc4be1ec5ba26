#include "kv/index/index.h"

#include <array>
#include <utility>

#include "base/check.h"

namespace remora::kv {

Index::Index(const IndexGeometry& geometry, Bytes memory) : table_(geometry, memory) {}

IndexSlot Index::insert(Tag tag, std::size_t mark, std::uint64_t place) {
  std::array<std::uint64_t, 2> places = {};
  places[mark & 1] = place;
  const IndexSlot slot = table_.insert(tag, mark, places);
  if (carried(slot)) {
    carry(slot);
  }
  return slot;
}

void Index::set_place(IndexSlot slot, std::size_t which, std::uint64_t place) {
  const bool both = carried(slot);
  const IndexSlot other = both ? next_->find_twin(slot) : IndexSlot();
  IndexSlot::store(slot.entry_->place[which], place);
  if (other) {
    IndexSlot::store(other.entry_->place[which], place);
  } else if (both) {
    carry(slot);
  }
}

void Index::set_mark(IndexSlot slot, std::size_t mark) {
  REMORA_CHECK(mark <= 1, "a mark is 0 or 1");
  const IndexSlot other = carried(slot) ? next_->find_twin(slot) : IndexSlot();
  IndexSlot::store(slot.entry_->mark, mark);
  if (other) {
    IndexSlot::store(other.entry_->mark, mark);
  }
}

void Index::clear(IndexSlot slot) {
  set_place(slot, 0, 0);
  set_place(slot, 1, 0);
}

void Index::release(IndexSlot slot) {
  if (const IndexSlot other = carried(slot) ? next_->find_twin(slot) : IndexSlot(); other) {
    next_->release(other);
  }
  table_.release(slot);
  ++generation_;
}

bool Index::carried(IndexSlot slot) const {
  if (!resizing()) {
    return false;
  }
  return all_carried_ ||
         (!table_.is_overflowed(slot) && geometry().window(slot.tag()) < carried_windows_);
}

void Index::carry(IndexSlot slot) {
  if (slot.has_place()) {
    next_->insert(slot.tag(), slot.mark(), {slot.place_word(0), slot.place_word(1)});
  }
}

void Index::begin_resize(const IndexGeometry& geometry, Bytes memory) {
  REMORA_CHECK(!resizing(), "the index changes its size already");
  REMORA_CHECK(geometry == resized(geometry.windows), "the tags of keys stay what they are");
  next_.emplace(geometry, memory);
  carried_windows_ = 0;
  all_carried_ = false;
}

bool Index::resize(std::uint64_t most_windows) {
  REMORA_CHECK(resizing(), "begin_resize() comes first");
  for (; most_windows > 0 && carried_windows_ < geometry().windows; --most_windows) {
    for (IndexEntry& entry : table_.window(carried_windows_)) {
      if (IndexSlot(&entry).tag() != 0) {
        carry(IndexSlot(&entry));
      }
    }
    ++carried_windows_;
  }
  if (carried_windows_ == geometry().windows && !all_carried_) {
    table_.visit_overflowed(0, geometry().windows - 1, [this](IndexSlot slot) { carry(slot); });
    all_carried_ = true;
  }
  return all_carried_;
}

Bytes Index::replace(const IndexGeometry& geometry, Bytes memory) {
  const Bytes old = table_.memory();
  table_ = IndexTable(geometry, memory);
  next_.reset();
  ++generation_;
  return old;
}

Bytes Index::end_resize() {
  REMORA_CHECK(resizing() && all_carried_, "resize() carries all windows over first");
  const Bytes old = table_.memory();
  table_ = std::move(*next_);
  next_.reset();
  ++generation_;
  return old;
}

}  // namespace remora::kv
