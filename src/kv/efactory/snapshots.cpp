#include "kv/efactory/snapshots.h"

#include <algorithm>
#include <string_view>

namespace remora::kv::efactory {
namespace {

constexpr std::string_view no_snapshot = "the store ran out of room while it was copied";
constexpr std::string_view not_now = "the log is being cleaned, or another client copies it";

}  // namespace

rpc::Reply Snapshots::answer(rpc::SessionId session, const SnapshotRequest& ask, bool is_cleaning,
                             Bytes body) {
  if (ask.id != 0) {
    const bool is_there = snapshot_ && snapshot_->id == ask.id && snapshot_->owner == session;
    return is_there ? list(ask.from, body) : rpc::Reply::failure(body, Code::in_use, no_snapshot);
  }
  if (is_cleaning || snapshot_) {
    return rpc::Reply::failure(body, Code::in_use, not_now);
  }
  make(session);
  return list(0, body);
}

void Snapshots::make(rpc::SessionId session) {
  snapshot_.emplace(session, ++made_);
  catalogue_.log().list(DataPool::current, snapshot_->segments);
  std::erase_if(snapshot_->segments, [](const Segment& segment) { return segment.cleared; });
  for (const Segment& segment : snapshot_->segments) {
    snapshot_->size_bytes += segment.used_bytes;
  }
}

rpc::Reply Snapshots::list(std::uint64_t from, Bytes body) const {
  const std::uint64_t all = snapshot_->segments.size();
  const std::uint64_t first = std::min(from, all);
  const std::uint64_t count = std::min<std::uint64_t>(
      all - first, (std::min<std::uint64_t>(body.size(), reply_bytes_max) - sizeof(SnapshotReply)) /
                       sizeof(SnapshotSegment));
  std::size_t size = write_struct(body, SnapshotReply{.id = snapshot_->id,
                                                      .segments = all,
                                                      .size_bytes = snapshot_->size_bytes,
                                                      .listed = count});
  for (std::uint64_t i = first; i < first + count; ++i) {
    const Segment& segment = snapshot_->segments[i];
    size += write_struct(body.subspan(size),
                         SnapshotSegment{segment.number, segment.offset, segment.used_bytes});
  }
  return {.size_bytes = static_cast<std::uint32_t>(size)};
}

bool Snapshots::end_of(rpc::SessionId session) {
  if (!snapshot_ || snapshot_->owner != session) {
    return false;
  }
  snapshot_.reset();
  return true;
}

}  // namespace remora::kv::efactory
