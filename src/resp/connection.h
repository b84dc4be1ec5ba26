// Connection: one client of the Redis front end, as its server keeps it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "resp/command.h"
#include "resp/gathering.h"
#include "resp/parser.h"

namespace remora::resp {

struct Connection {
  // Replies up to this byte of `out`, counted from the first that was ever in it, leave when the
  // mark is persistent.
  struct Hold {
    std::uint64_t from = 0;
    kv::LocalStore::Mark mark = 0;
    std::uint64_t replies = 1;  // that it stands for
  };
  enum class Pause : std::uint8_t { none, room, persistence };

  Session session;
  std::size_t place = 0;  // among the connections of the server
  int descriptor = -1;
  std::uint32_t watched = 0;  // epoll events
  Gathering::Seen seen;       // among those that ask
  bool dead = false;
  bool full = false;  // waiting for room did not help the request that is next
  Pause pause = Pause::none;
  std::string in;           // what was read and not run
  Parser parser;            // of the request that `in` begins with
  std::string out;          // what could not be sent yet
  std::size_t sent = 0;     // of `out`
  std::uint64_t gone = 0;   // bytes that left `out` before
  std::string guest;        // whose places it takes, where that is counted
  std::vector<Hold> holds;  // in order
  std::uint64_t held = 0;   // the replies of all of them
  PersistenceWait wait;     // with pause persistence
  std::uint64_t wait_end_ns = 0;

  std::size_t sendable() const {
    return holds.empty() ? out.size() : static_cast<std::size_t>(holds.front().from - gone);
  }
};

}  // namespace remora::resp
