// A scan, as client and server say it: a request, and a reply that is followed by keys.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "kv/common/wire.h"
#include "kv/index/index_format.h"
#include "kv/limits.h"
#include "kv/store.h"

namespace remora::kv {

struct ScanRequest {
  std::uint64_t from = 0;
  std::uint64_t most_keys = 0;
};

// Followed by keys, each behind its length (two bytes).
struct ScanReply {
  std::uint64_t next = 0;
  std::uint64_t keys = 0;
};

// Fills the reply to a scan, and returns its size. The cursor is a tag: keys come in the order of
// their tags, and a reply that is full ends with the tag of the first key that is not in it.
// `walk(from, visit)` calls `visit(Tag, ConstBytes key)`, in any order, for each key of the
// smallest piece of the table that begins at `from` or has it inside, and returns the first tag of
// the next piece, 0 at the end.
template <typename Walk>
std::size_t pack_scan(const ScanRequest& ask, Bytes body, const Walk& walk) {
  ScanReply reply{ask.from, 0};
  std::size_t size = sizeof reply;
  constexpr std::size_t room_for_one = 2 + limits::key_bytes;
  std::vector<std::pair<Tag, ConstBytes>> piece;
  do {
    piece.clear();
    const Tag from = reply.next;
    reply.next = walk(from, [&](Tag tag, ConstBytes key) {
      if (tag >= from) {
        piece.emplace_back(tag, key);
      }
    });
    std::ranges::sort(piece, {}, &std::pair<Tag, ConstBytes>::first);
    for (const auto& [tag, key] : piece) {
      if (size + 2 + key.size() > body.size()) {
        reply.next = tag;
        break;
      }
      const auto length = static_cast<std::uint16_t>(key.size());
      std::memcpy(body.data() + size, &length, 2);
      std::memcpy(body.data() + size + 2, key.data(), key.size());
      size += 2 + key.size();
      ++reply.keys;
    }
  } while (reply.next != 0 && reply.keys < ask.most_keys && size + room_for_one <= body.size());
  write_struct(body, reply);
  return size;
}

// Hands the keys of a reply to the sink.
inline Result<ScanCursor> unpack_scan(ConstBytes reply, ScanSink& sink) {
  const std::optional<ScanReply> head = read_struct<ScanReply>(reply);
  ConstBytes rest = head ? reply.subspan(sizeof(ScanReply)) : ConstBytes();
  for (std::uint64_t i = 0; head && i < head->keys; ++i) {
    const std::optional<std::uint16_t> length = read_struct<std::uint16_t>(rest);
    if (!length || *length > rest.size() - 2) {
      return Status(Code::closed, "the server sent a malformed reply");
    }
    sink.key(rest.subspan(2, *length));
    rest = rest.subspan(2 + *length);
  }
  return head ? head->next : 0;
}

}  // namespace remora::kv
