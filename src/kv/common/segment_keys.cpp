#include "kv/common/segment_keys.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace remora::kv {

// --- Server ---

Status SegmentKeys::share_all() {
  Status status;
  log_.for_each_extent([&](const Segment& segment) {
    const auto known = shared_.find(segment.offset);
    if (!status.ok() || (known != shared_.end() && known->second.number == segment.number)) {
      return;
    }
    Result<std::unique_ptr<fabric::MemoryRegion>> region = domain_.register_memory(
        region_.bytes().subspan(segment.offset, segment.capacity_bytes), rights_, &region_);
    if (region.ok()) {
      shared_[segment.offset] = {segment.number, std::move(region).value()};
    } else {
      status = region.status();
    }
  });
  return status;
}

Result<std::size_t> SegmentKeys::list(const SegmentsRequest& ask, std::span<const Segment> leaving,
                                      Bytes body) {
  REMORA_TRY(share_all());
  SegmentsReply reply;
  std::size_t size = sizeof reply;
  for (auto entry = shared_.lower_bound(ask.from); entry != shared_.end(); ++entry) {
    const auto& [offset, shared] = *entry;
    if (std::ranges::find(leaving, offset, &Segment::offset) != leaving.end()) {
      continue;
    }
    if (body.size() - size < sizeof(SegmentKey)) {
      reply.next = offset;
      break;
    }
    const SegmentKey key{offset, shared.region->bytes().size(), shared.region->remote(0)};
    size += write_struct(body.subspan(size), key);
    ++reply.listed;
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
  const Status nonsense(Code::closed, "the server sent a malformed reply");
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
  if (head->next != 0 && head->next <= from) {
    return nonsense;  // it would be asked for ever
  }
  return head->next;
}

Task<Status> SegmentTable::learn(rpc::Caller& caller, rpc::CallSlot& slot, rpc::Kind kind,
                                 std::uint64_t round, std::uint64_t pool_bytes) {
  std::uint64_t from = 0;
  do {
    const std::size_t size = write_struct(slot.request(), SegmentsRequest{round, from});
    REMORA_CO_TRY_RESULT(reply, co_await caller.call(slot, kind, size));
    REMORA_CO_TRY_RESULT(next, take(*reply, from, pool_bytes));
    from = *next;
  } while (from != 0);
  co_return Status();
}

}  // namespace remora::kv
