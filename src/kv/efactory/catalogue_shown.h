// What of a key may be shown: bodies of Catalogue's templates, for those who show.
#pragma once

#include "kv/efactory/catalogue.h"

namespace remora::kv::efactory {

template <typename Known>
std::optional<Object> Catalogue::shown_of(const Object& newest, const Known& known) const {
  for (std::optional<Object> version = newest; version; version = before(*version)) {
    if (version->kind() == Kind::tombstone) {
      break;
    }
    if (version->durable() || version->sequence() <= recovered_ || known(version->sequence()) ||
        (!is_given_up(*version, host_) && complete(*version, host_))) {
      return expired(*version) ? std::nullopt : version;
    }
  }
  return std::nullopt;
}

template <typename Known>
Catalogue::Shown Catalogue::shown(ConstBytes key, const Known& known) {
  const IndexSlot slot = find_or_unreadable(index_->tag(key), key, host_);
  if (!slot) {
    return {};
  }
  const Object first = newest(slot);
  if (has_unreadable_ && ends_unreadable(first)) [[unlikely]] {
    return {std::nullopt, true};
  }
  const std::optional<Object> found = shown_of(first, known);
  if (!found && may_forget(first)) {
    (void)forget(slot);
  }
  if (found && is_suspect(slot, *found)) [[unlikely]] {
    return {found, get_suspect(slot, *found).damaged};
  }
  return {found};
}

template <typename Known, typename Visit>
Tag Catalogue::scan_shown(Tag from, std::uint64_t most_entries, const Known& known,
                          const Visit& visit) {
  return index_->scan(from, most_entries, [&](const IndexSlot& slot) {
    // A version whose size is not the one that the index knows is not what it led to.
    const Place place = slot.place(newest_of(slot));
    if (place.deleted || newest(slot).size_bytes() != place.size_bytes || is_unreadable(slot)) {
      return;
    }
    if (const std::optional<Object> object = shown_of(newest(slot), known)) {
      visit(slot.tag(), object->key());
    }
  });
}

}  // namespace remora::kv::efactory
