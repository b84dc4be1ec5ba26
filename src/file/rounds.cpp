// Rounds: bytes become persistent, and then the extents and the size that show them.
#include <algorithm>

#include "file/contents.h"
#include "file/faults.h"

namespace remora::file {

using format::block_bytes;

void Contents::begin(Live& live) {
  live.draining = true;
  live.drain = core_.planted(faults::size_before_data) ? Ticket{} : core_.pool().region().drain();
  live.drained_size = live.size;
  for (auto& [block, fresh] : live.fresh) {
    fresh.drained = true;
  }
  live.dirty = false;
  ++live.rounds_begun;
}

// Joins the extents before and behind it, where the blocks are neighbours.
Errno Contents::add_extent(TreeEdit& tree, Live& live, const Entry& extent) {
  Entry joined = extent;
  const TreeOf known = Core::tree_of(live);
  std::optional<Entry> before;
  if (extent.key != 0) {
    REMORA_FILE_TRY_OUTCOME(found, core_.nodes.last_upto(known, extent.key - 1));
    before = *found;
  }
  REMORA_FILE_TRY_OUTCOME(behind, core_.nodes.first_from(known, extent.key));
  const auto follows = [](const Entry& first, const Entry& second) {
    return first.key + first.detail == second.key &&
           first.value + first.detail * block_bytes == second.value &&
           std::uint64_t{first.detail} + second.detail <= 0xffffffffu;
  };
  if (*behind && follows(joined, **behind)) {
    joined.detail += (*behind)->detail;
    REMORA_FILE_TRY(tree.remove((*behind)->key));
  }
  if (before && follows(*before, joined)) {
    before->detail += joined.detail;
    return tree.replace(*before);
  }
  return tree.insert(joined);
}

Errno Contents::record_run(Live& live, std::uint64_t block, const Fresh& fresh, bool last) {
  for (;;) {
    Change change = core_.change();
    format::Inode& after = change.edit(live);
    change.publish_run(fresh.place);
    TreeEdit tree = core_.edit_tree(live);
    REMORA_FILE_TRY(add_extent(
        tree, live, Entry{block, fresh.place, static_cast<std::uint32_t>(fresh.blocks)}));
    after.tree = tree.write(change);
    after.blocks += fresh.blocks;
    const std::uint64_t shown =
        last || core_.planted(faults::size_first)
            ? live.drained_size
            : std::min(live.drained_size, (block + fresh.blocks) * block_bytes);
    after.size = std::max(after.size, shown);
    const Outcome<Ticket> ticket = core_.commit(change);
    if (ticket.ok()) {
      live.found_blocks = 0;
      return Errno{};
    }
    if (ticket.error() != too_large) {
      return ticket.failure();
    }
    REMORA_FILE_TRY_OUTCOME(more, core_.make_room(live, block));
    if (!*more) {
      return Errno{EIO};
    }
  }
}

// The size, and times.
Errno Contents::record_rest(Live& live) {
  Change change = core_.change();
  format::Inode& after = change.edit(live);
  after.size = std::max(after.size, live.drained_size);
  if (after.size == live.recorded.size) {
    return Errno{};
  }
  const Outcome<Ticket> ticket = core_.commit(change);
  return ticket.failure();
}

Errno Contents::finish(Live& live) {
  const auto drained = [&live] {
    return std::ranges::find_if(live.fresh, [](const auto& run) { return run.second.drained; });
  };
  for (auto run = drained(); run != live.fresh.end();) {
    const auto [block, fresh] = *run;
    run->second.drained = false;
    const bool last = drained() == live.fresh.end();
    run->second.drained = true;
    REMORA_FILE_TRY(core_.deleting([&] { return record_run(live, block, fresh, last); }));
    live.fresh.erase(block);
    run = drained();
  }
  REMORA_FILE_TRY(record_rest(live));
  live.draining = false;
  live.rounds_recorded = live.rounds_begun;
  live.round_tickets.emplace_back(live.rounds_recorded, live.record);
  return Errno{};
}

Outcome<Receipt> Contents::fsync(Live& live) {
  Region& region = core_.pool().region();
  if (!live.dirty && !live.draining) {
    return Receipt{region.drain()};
  }
  if (core_.planted(faults::sync_without_record)) {
    begin(live);
    return Receipt{live.drain};
  }
  // Not the round under way: blocks that were there may have been written to since it began.
  live.rounds_wanted = live.rounds_begun + 1;
  REMORA_FILE_TRY(tend(live));
  return Receipt{Ticket{}, live.number, live.recorded.born_ns, live.rounds_wanted};
}

Errno Contents::tend(Live& live) {
  Region& region = core_.pool().region();
  for (;;) {
    if (live.draining) {
      if (!region.persistent(live.drain)) {
        region.request(live.drain);
        break;
      }
      REMORA_FILE_TRY(finish(live));
    } else if (live.dirty || live.rounds_wanted > live.rounds_begun) {
      begin(live);
    } else {
      break;
    }
  }
  while (!live.round_tickets.empty() && region.persistent(live.round_tickets.front().second)) {
    live.round_tickets.pop_front();
  }
  if (!live.round_tickets.empty()) {
    region.request(live.round_tickets.back().second);
  }
  return Errno{};
}

bool Contents::persistent(Live& live, std::uint64_t round) {
  if (live.rounds_recorded < round) {
    return false;
  }
  const auto ticket = std::ranges::find_if(
      live.round_tickets, [round](const auto& recorded) { return recorded.first >= round; });
  return ticket == live.round_tickets.end() || core_.pool().region().persistent(ticket->second);
}

Errno Contents::wait(Live& live, std::uint64_t round) {
  while (!persistent(live, round)) {
    const Ticket next = live.draining ? live.drain : live.record;
    if (!core_.pool().wait(next).ok()) {
      return Errno{EIO};
    }
    REMORA_FILE_TRY(tend(live));
  }
  return Errno{};
}

Errno Contents::settle(Live& live) {
  REMORA_FILE_TRY_OUTCOME(receipt, fsync(live));
  REMORA_FILE_TRY(receipt->number == 0 ? Errno{core_.pool().wait(receipt->ticket).ok() ? 0 : EIO}
                                       : wait(live, receipt->round));
  if (live.atime_ns != live.recorded.atime_ns || live.mtime_ns != live.recorded.mtime_ns ||
      live.ctime_ns != live.recorded.ctime_ns) {
    Change change = core_.change();
    change.edit(live);
    REMORA_FILE_TRY(core_.commit(change));
  }
  return Errno{};
}

}  // namespace remora::file
