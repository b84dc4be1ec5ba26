#include "kv/common/store_guard.h"

#include <algorithm>
#include <cstring>

namespace remora::kv {
namespace {

constexpr fabric::AccessFlags storing = fabric::remote_write | fabric::remote_atomic;
// Where nobody tells of each that it is closed, the oldest of so many are taken to be.
constexpr std::size_t most_unclosed = 1 << 14;

}  // namespace

// --- ReadableSpace ---

void ReadableSpace::add(Offset begin, std::uint64_t size_bytes) {
  const Extent extent{begin, size_bytes};
  if (std::ranges::find(others_, extent) == others_.end()) {
    others_.push_back(extent);
    look_again();
  }
}

void ReadableSpace::look_again() {
  changes_ = log_.extent_changes();
  extents_ = others_;
  log_.for_each_extent([this](const Segment& segment) {
    extents_.push_back({segment.offset, segment.capacity_bytes});
  });
  std::ranges::sort(extents_, {}, &Extent::begin);
  join_overlapping();
}

// Space that may be READ for good is used again in other pieces.
void ReadableSpace::join_overlapping() {
  std::size_t kept = 0;
  for (const Extent& extent : extents_) {
    Extent* const last = kept == 0 ? nullptr : &extents_[kept - 1];
    if (last != nullptr && extent.begin < last->begin + last->size_bytes) {
      last->size_bytes = std::max(last->size_bytes, extent.begin + extent.size_bytes - last->begin);
    } else {
      extents_[kept++] = extent;
    }
  }
  extents_.resize(kept);
}

// --- StoreGuard ---

bool StoreGuard::allows(const fabric::RemoteAccess& access) {
  const Offset offset = begin_ + access.offset;
  if ((access.rights & storing) != 0) {
    return may_store(access, offset);
  }
  if ((access.rights & fabric::remote_read) != 0) {
    return readable_.holds(offset, access.size_bytes);
  }
  return grants_.find(offset, access.size_bytes) != nullptr;
}

bool StoreGuard::may_store(const fabric::RemoteAccess& access, Offset offset) {
  Grant* const grant = grants_.find(offset, access.size_bytes);
  if (grant == nullptr) [[unlikely]] {
    return false;
  }
  if (is_closed(*grant)) [[unlikely]] {
    const bool is_atomic = (access.rights & fabric::remote_atomic) != 0;
    const std::byte* const there =
        log_.at(grant->object()).value().data() + (offset - grant->begin);
    return !is_atomic && (access.payload == nullptr ||
                          std::memcmp(there, access.payload, access.size_bytes) == 0);
  }
  grant->written |= access.payload != nullptr && offset + access.size_bytes == grant->end();
  return true;
}

bool StoreGuard::is_closed(const Grant& grant) const {
  return grant.closed || (closing_ == Closing::when_durable && log_.at(grant.object()).durable());
}

void StoreGuard::open(const Object& object) {
  open(object.segment(), object.offset(), object.key().size(), object.value().size());
}

void StoreGuard::open(SegmentNumber segment, Offset object, std::size_t key_bytes,
                      std::size_t value_bytes) {
  grants_.open(segment, object, object + object_format::value_begin(key_bytes),
               static_cast<std::uint32_t>(value_bytes), [this](const Grant& grant) {
                 return is_closed(grant) ||
                        (closing_ == Closing::when_told && grants_.size() > most_unclosed);
               });
}

}  // namespace remora::kv
