// A copy of all of the store: the server says which segments there are and how far they are filled,
// and the client READs them. The server's processor has no part in that.
//
// What is READ stays as it was: a segment is used again only after a round in which this client has
// arrived. A READ that began under the layout of the snapshot finds what the snapshot says; once
// the layout has changed, the server is asked whether the snapshot stands.
#include <algorithm>
#include <cstring>
#include <utility>

#include "kv/efactory/client.h"
#include "kv/log/object.h"

namespace remora::kv::efactory {
namespace {

constexpr std::size_t copy_piece_bytes = 256 << 10;

Status nonsense() {
  return Status(Code::closed, "the server sent a malformed reply");
}

// Hands the objects of a segment that were complete when it was READ to the sink.
Status hand_over(const SnapshotSegment& segment, ConstBytes image, CopySink& sink) {
  for (std::uint64_t at = 0; at < image.size();) {
    const ConstBytes rest = image.subspan(at);
    const std::optional<ReadObject> object = ReadObject::parse(rest);
    object_format::Header header;
    if (object) {
      std::memcpy(&header, rest.data(), sizeof header);
    }
    if (!object || header.segment != segment.number ||
        header.header_checksum != object_format::header_checksum(header, object->key)) {
      return Status(Code::damaged, "the store is damaged at offset " +
                                       std::to_string(segment.offset + at) +
                                       " of its pool: no object is where one was put");
    }
    const bool is_whole = object->kind == Kind::tombstone || object->intact();
    if (!is_whole && object->durable) {
      return Status(Code::damaged, "the store is damaged at offset " +
                                       std::to_string(segment.offset + at) +
                                       " of its pool: a value that was persistent has changed");
    }
    // Else the value has not come, or never will.
    if (is_whole && !object->invalid) {
      REMORA_TRY(sink.object(*object));
    }
    at += object_format::size_bytes(object->key.size(), object->value.size());
  }
  return {};
}

}  // namespace

Task<Status> EfactoryClient::copy(CopySink& sink) {
  std::uint64_t id = 0;
  REMORA_CO_TRY_RESULT(segments, co_await ask_snapshot(id));
  std::uint64_t size_bytes = 0;
  for (const SnapshotSegment& segment : *segments) {
    size_bytes += segment.size_bytes;
  }
  sink.begin(size_bytes);
  Status status;
  std::vector<std::byte> image;
  std::uint64_t round = 0;  // that the snapshot was seen to stand in
  status = co_await still_stands(id, round);
  for (std::size_t i = 0; i < segments->size() && status.ok(); ++i) {
    status = co_await read_segment((*segments)[i], id, round, image);
    if (status.ok()) {
      status = hand_over((*segments)[i], image, sink);
    }
  }
  co_await give_snapshot_back();
  co_return status;
}

Task<Result<std::vector<SnapshotSegment>>> EfactoryClient::ask_snapshot(std::uint64_t& id) {
  std::vector<SnapshotSegment> segments;
  for (;;) {
    co_await credits_.acquire();
    const Operation operation(*this);
    rpc::CallSlot slot = co_await caller_->slot();
    const std::size_t size = write_struct(slot.request(), SnapshotRequest{id, segments.size()});
    REMORA_CO_TRY_RESULT(reply, co_await caller_->call(slot, snapshot, size));
    const std::optional<SnapshotReply> head = read_struct<SnapshotReply>(*reply);
    if (!head || (*reply).size() != sizeof *head + head->listed * sizeof(SnapshotSegment) ||
        head->listed > reply_bytes_max / sizeof(SnapshotSegment)) {
      co_return nonsense();
    }
    id = head->id;
    for (std::uint64_t i = 0; i < head->listed; ++i) {
      const auto segment =
          read_struct<SnapshotSegment>(reply->subspan(sizeof *head + i * sizeof(SnapshotSegment)));
      if (segment->size_bytes > layout_.pool_bytes ||
          segment->offset > layout_.pool_bytes - segment->size_bytes) {
        co_return nonsense();
      }
      segments.push_back(*segment);
    }
    if (segments.size() >= head->segments || head->listed == 0) {
      co_return segments;
    }
  }
}

// In `round`, the one that this client has heard of when the server answered.
Task<Status> EfactoryClient::still_stands(std::uint64_t id, std::uint64_t& round) {
  co_await credits_.acquire();
  const Operation operation(*this);
  const std::uint64_t asked_in = layout_.round;
  rpc::CallSlot slot = co_await caller_->slot();
  const std::size_t size = write_struct(slot.request(), SnapshotRequest{id, UINT64_MAX});
  const Result<ConstBytes> reply = co_await caller_->call(slot, snapshot, size);
  round = asked_in;
  co_return reply.ok() ? Status() : reply.status();
}

Task<Status> EfactoryClient::read_segment(SnapshotSegment segment, std::uint64_t id,
                                          std::uint64_t& round, std::vector<std::byte>& image) {
  image.resize(segment.size_bytes);
  const std::size_t piece_bytes = std::min(copy_piece_bytes, buffers_->largest_bytes());
  for (std::size_t at = 0; at < image.size();) {
    if (layout_.round != round) {
      REMORA_CO_TRY(co_await still_stands(id, round));
    }
    co_await credits_.acquire();
    const Operation operation(*this);
    const std::size_t size = std::min(piece_bytes, image.size() - at);
    const Buffer buffer = co_await buffers_->take(size);
    if (layout_.round != round) {
      continue;  // it came while this flow waited
    }
    std::optional<fabric::RemoteAddress> there = in_pool(operation, segment.offset + at, size);
    if (!there) {
      REMORA_CO_TRY_RESULT(learnt, co_await learn_place(operation, segment.offset + at, size));
      there = *learnt;
      if (layout_.round != round) {
        continue;
      }
    }
    REMORA_CO_TRY(co_await read(buffer, size, *there));
    std::memcpy(image.data() + at, buffer.bytes().data(), size);
    at += size;
  }
  co_return Status();
}

Task<void> EfactoryClient::give_snapshot_back() {
  co_await credits_.acquire();
  const Operation operation(*this);
  rpc::CallSlot slot = co_await caller_->slot();
  // A server that cannot be told has ended it, or ends it with the session.
  (void)co_await caller_->call(slot, end_snapshot, 0);
}

}  // namespace remora::kv::efactory
