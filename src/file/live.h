// Live: a file that this process knows: its inode as the newest record has it, and what of it is
// visible and not recorded yet. Size, times and the extents of new blocks run ahead: bytes are
// placed, then visible; a round makes them persistent, and only then records what shows them.
#pragma once

#include <deque>
#include <map>
#include <utility>

#include "file/format.h"
#include "pmem/region.h"

namespace remora::file {

// Blocks of a file in a run that is reserved and not published yet.
struct Fresh {
  Offset place = 0;
  std::uint64_t blocks = 0;
  bool drained = false;  // belongs to the round that is under way
};

struct Live {
  Number number = 0;
  format::Inode recorded{};
  Ticket record;  // of the newest that names it

  // Visible.
  std::uint64_t size = 0;
  std::uint64_t atime_ns = 0;
  std::uint64_t mtime_ns = 0;
  std::uint64_t ctime_ns = 0;
  std::map<std::uint64_t, Fresh> fresh;  // by the first block, of the file

  std::uint32_t opens = 0;
  bool listed = false;  // among the orphans
  Number next_listed = 0;
  bool dirty = false;  // something visible is not recorded, and no round is under way for it

  // The round under way: what was placed when it began is persistent with `drain`.
  bool draining = false;
  Ticket drain;
  std::uint64_t drained_size = 0;
  std::uint64_t rounds_begun = 0;
  std::uint64_t rounds_wanted = 0;
  std::uint64_t rounds_recorded = 0;
  std::deque<std::pair<std::uint64_t, Ticket>> round_tickets;  // recorded, maybe not persistent

  // The extent that was found last.
  std::uint64_t found_block = 0;
  std::uint64_t found_blocks = 0;
  Offset found_place = 0;

  bool is_directory() const { return (recorded.mode & 0170000) == 0040000; }
  bool is_file() const { return (recorded.mode & 0170000) == 0100000; }
  bool is_link() const { return (recorded.mode & 0170000) == 0120000; }
  bool is_idle() const {
    return opens == 0 && !dirty && !draining && fresh.empty() && !listed && round_tickets.empty();
  }
};

}  // namespace remora::file
