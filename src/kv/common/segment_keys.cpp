#include "kv/common/segment_keys.h"

#include <utility>

namespace remora::kv {

// --- Server ---

Status SegmentKeys::share_all() {
  Status status;
  log_.for_each_extent([&](const Segment& segment) {
    Shared& shared = shared_[segment.offset];
    if (!status.ok() || (shared.region != nullptr && shared.number == segment.number)) {
      return;
    }
    Result<std::unique_ptr<fabric::MemoryRegion>> region = domain_.register_memory(
        region_.bytes().subspan(segment.offset, segment.capacity_bytes), rights_, &region_);
    if (region.ok()) {
      shared = {segment.number, std::move(region).value()};
    } else {
      status = region.status();
      shared_.erase(segment.offset);
    }
  });
  return status;
}

Result<std::size_t> SegmentKeys::list(const SegmentsRequest& ask, std::span<const Segment> leaving,
                                      Bytes body) {
  if (Status status = share_all(); !status.ok()) {
    return status;
  }
  const auto is_leaving = [&](Offset offset) {
    return std::ranges::any_of(leaving,
                               [&](const Segment& segment) { return segment.offset == offset; });
  };
  SegmentsReply reply;
  std::size_t size = sizeof reply;
  for (const auto& [offset, shared] : shared_) {
    if (is_leaving(offset)) {
      continue;
    }
    if (reply.segments++ >= ask.from && body.size() - size >= sizeof(SegmentKey)) {
      const SegmentKey key{offset, shared.region->bytes().size(), shared.region->remote(0)};
      size += write_struct(body.subspan(size), key);
      ++reply.listed;
    }
  }
  write_struct(body, reply);
  return size;
}

void SegmentKeys::drop_freed() {
  std::map<Offset, SegmentNumber> there;
  log_.for_each_extent([&](const Segment& segment) { there[segment.offset] = segment.number; });
  std::erase_if(shared_, [&](const auto& entry) {
    const auto found = there.find(entry.first);
    return found == there.end() || found->second != entry.second.number;
  });
}

// --- Client ---

std::optional<fabric::RemoteAddress> SegmentTable::find(std::uint64_t offset,
                                                        std::uint64_t size_bytes) const {
  const auto after = std::ranges::upper_bound(keys_, offset, {}, &SegmentKey::offset);
  if (after == keys_.begin()) {
    return std::nullopt;
  }
  const SegmentKey& key = *std::prev(after);
  if (!within(offset - key.offset, size_bytes, key.size_bytes)) {
    return std::nullopt;
  }
  return fabric::RemoteAddress{key.first.address + (offset - key.offset), key.first.key};
}

Result<std::uint64_t> SegmentTable::take(ConstBytes reply, std::uint64_t from,
                                         std::uint64_t pool_bytes) {
  const Status nonsense(Code::closed, "the server answered with something that is no reply");
  const std::optional<SegmentsReply> head = read_struct<SegmentsReply>(reply);
  if (!head || head->listed > (reply.size() - sizeof *head) / sizeof(SegmentKey)) {
    return nonsense;
  }
  for (std::uint64_t i = 0; i < head->listed; ++i) {
    const auto key = read_struct<SegmentKey>(reply.subspan(sizeof *head + i * sizeof(SegmentKey)));
    if (!within(key->offset, key->size_bytes, pool_bytes)) {
      return nonsense;
    }
    const auto place = std::ranges::lower_bound(keys_, key->offset, {}, &SegmentKey::offset);
    if (place != keys_.end() && place->offset == key->offset) {
      *place = *key;
    } else {
      keys_.insert(place, *key);
    }
  }
  const std::uint64_t next = from + head->listed;
  return head->listed != 0 && next < head->segments ? next : 0;
}

}  // namespace remora::kv
