// Connection: one client of the Redis front end, as its server keeps it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "front/resp/buffer.h"
#include "front/resp/command.h"
#include "front/resp/gathering.h"
#include "front/resp/parser.h"
#include "tls/tls_stream.h"

namespace remora::resp {

struct Connection {
  // Replies up to this byte of `out`, counted from the first that was ever in it, leave when the
  // mark is persistent.
  struct Hold {
    std::uint64_t from = 0;
    kv::LocalStore::Mark mark = 0;
    std::uint64_t replies = 1;  // that it stands for
  };
  enum class Pause : std::uint8_t { none, room, value, persistence, turn };

  explicit Connection(Spares& spares) : in(spares), out(spares) {}

  Session session;
  std::size_t place = 0;  // among the connections of the server
  int descriptor = -1;
  std::uint32_t watched = 0;  // epoll events
  Gathering::Seen seen;       // among those that ask
  bool dead = false;
  bool is_shaking = false;  // the handshake of `tls` is under way
  bool has_begun = false;   // its first byte was seen
  bool full = false;        // waiting for room did not help the request that is next
  Pause pause = Pause::none;
  std::unique_ptr<TlsStream> tls;  // null: what it sends and gets is in clear
  std::uint64_t shake_end_ns = 0;  // when that must have ended
  bool was_refused = false;        // its last reply says why it ends: it may be sending still
  bool is_leaving = false;         // that has left (farewells.h)
  std::uint64_t leave_end_ns = 0;
  std::uint64_t to_discard = 0;    // bytes
  Buffer in;                       // what was read and not run
  std::unique_ptr<Parser> parser;  // of the request that `in` begins with, when that has begun
  Buffer out;                      // what could not be sent yet
  std::size_t sent = 0;            // of `out`
  std::uint64_t gone = 0;          // bytes that left `out` before
  std::size_t counted = 0;         // bytes that it keeps, as the server has counted them
  std::string guest;               // whose places it takes, where that is counted
  std::vector<Hold> holds;         // in order
  std::uint64_t held = 0;          // the replies of all of them
  PersistenceWait wait;            // with pause persistence
  std::uint64_t wait_end_ns = 0;

  std::size_t sendable() const {
    return holds.empty() ? out.size() : static_cast<std::size_t>(holds.front().from - gone);
  }
  Executor::Kept kept() const {
    return {.request_bytes = in.size(),
            .request_room = in.capacity() - in.size(),
            .reply_bytes = out.size() - sent,
            .reply_room = out.capacity(),
            .all_bytes = kept_bytes()};
  }
  std::size_t kept_bytes() const {
    return in.capacity() + out.capacity() + (parser ? parser->memory_bytes() : 0) +
           (session.transaction ? session.transaction->memory_bytes() : 0);
  }
};

}  // namespace remora::resp
