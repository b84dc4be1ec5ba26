// Snapshots: what a client READs that copies all of the store. The log is only ever appended to, so
// its segments up to where they were filled at one moment are the store of that moment, as long as
// none of them is cleaned. Values that were on their way then may or may not be complete: their
// puts had not ended.
#include <algorithm>
#include <cstring>

#include "kv/efactory/server.h"

namespace remora::kv::efactory {
namespace {

constexpr std::string_view no_snapshot = "the store needed the room of what was being copied";
constexpr std::string_view not_now = "the log is being cleaned, or copied by somebody else";

}  // namespace

rpc::Reply EfactoryServer::answer_snapshot(const rpc::Session& session, ConstBytes request,
                                           Bytes body) {
  const std::optional<SnapshotRequest> ask = read_struct<SnapshotRequest>(request);
  if (!ask) {
    return rpc::Reply::failure(body, Code::invalid_argument, "no such request");
  }
  if (ask->id != 0) {
    const bool stands = snapshot_ && snapshot_->id == ask->id && snapshot_->owner == session.id;
    return stands ? list_snapshot(ask->from, body)
                  : rpc::Reply::failure(body, Code::in_use, no_snapshot);
  }
  if (cleaning_ || snapshot_) {
    return rpc::Reply::failure(body, Code::in_use, not_now);
  }
  snapshot_.emplace(session.id, ++snapshots_);
  catalogue_->log().list(DataPool::current, snapshot_->segments);
  for (const Segment& segment : snapshot_->segments) {
    snapshot_->size_bytes += segment.used_bytes;
  }
  return list_snapshot(0, body);
}

rpc::Reply EfactoryServer::list_snapshot(std::uint64_t from, Bytes body) {
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

void EfactoryServer::end_snapshot_of(rpc::SessionId session) {
  if (snapshot_ && snapshot_->owner == session) {
    snapshot_.reset();
    wake_tidy();
  }
}

}  // namespace remora::kv::efactory
