// Moving extents: several become one, in a run of their size. The copy is persistent before one
// record publishes it and frees what it was made of; so a cut leaves the old extents or the new.
#include <algorithm>

#include "file/contents.h"
#include "file/faults.h"
#include "pmem/size_classes.h"

namespace remora::file {

using format::block_bytes;

namespace {

constexpr std::size_t most_runs = 6;

}  // namespace

Outcome<std::uint64_t> Contents::defragment(Live& live, std::uint64_t most_extents) {
  REMORA_FILE_TRY(core_.creating());
  Pool& pool = core_.pool();
  std::uint64_t moved = 0;
  for (std::uint64_t from = 0; moved < most_extents;) {
    // Extents of neighbouring blocks, whose runs one record can free.
    std::vector<Entry> group;
    std::vector<Offset> runs;
    std::uint64_t blocks = 0;
    for (std::uint64_t next = from;;) {
      REMORA_FILE_TRY_OUTCOME(extent, core_.nodes.first_from(Core::tree_of(live), next));
      if (!*extent || (!group.empty() && (*extent)->key != next) || group.size() == most_extents ||
          blocks + (*extent)->detail > largest_object_bytes / block_bytes) {
        break;
      }
      std::vector<Offset> its_runs;
      for (std::uint64_t left = (*extent)->detail; left != 0;) {
        REMORA_FILE_TRY_OUTCOME(run, whole_run(live, **extent, left, 0));
        its_runs.push_back(*run);
        left = (*run - (*extent)->value) / block_bytes;
      }
      if (runs.size() + its_runs.size() > most_runs) {
        break;
      }
      runs.insert(runs.end(), its_runs.begin(), its_runs.end());
      group.push_back(**extent);
      blocks += (*extent)->detail;
      next = (*extent)->key + (*extent)->detail;
    }
    if (group.size() < 2) {
      const std::uint64_t behind = group.empty() ? from : group.front().key + 1;
      REMORA_FILE_TRY_OUTCOME(extent, core_.nodes.first_from(Core::tree_of(live), behind));
      if (!*extent) {
        break;
      }
      from = (*extent)->key;
      continue;
    }
    const Result<Offset> place = pool.reserve(blocks * block_bytes, Account::files);
    if (!place.ok() || !pool.object(*place).size()) {
      break;
    }
    Region& region = pool.region();
    std::byte* to = region.data() + *place;
    for (const Entry& extent : group) {
      const std::uint64_t bytes = extent.detail * block_bytes;
      region.copy(to, ConstBytes(region.data() + extent.value, bytes));
      to += bytes;
    }
    if (!core_.planted(faults::move_before_copy) && !pool.wait(region.drain()).ok()) {
      return Errno{EIO};
    }
    Change change = core_.change();
    format::Inode& after = change.edit(live);
    TreeEdit tree = core_.edit_tree(live);
    for (const Entry& extent : group) {
      REMORA_FILE_TRY(tree.remove(extent.key));
    }
    REMORA_FILE_TRY(
        tree.insert(Entry{group.front().key, *place, static_cast<std::uint32_t>(blocks)}));
    after.tree = tree.write(change);
    change.publish_run(*place);
    for (const Offset run : runs) {
      change.free(run);
    }
    const Outcome<Ticket> ticket = core_.commit(change);
    live.found_blocks = 0;
    if (!ticket.ok()) {
      (void)pool.cancel(*place);
      if (ticket.error() == too_large || ticket.error() == ENOSPC) {
        break;
      }
      return ticket.failure();
    }
    moved += group.size();
    from = group.front().key + blocks;
  }
  return moved;
}

}  // namespace remora::file
