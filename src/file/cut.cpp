// The end of a file: blocks behind a size, holes, and all of it. What has more runs than one record
// can free goes on the list of orphans first, and is freed in steps, the last blocks first.
#include <algorithm>

#include "file/contents.h"
#include "file/faults.h"

namespace remora::file {

using format::block_bytes;

namespace {

constexpr std::size_t runs_of_a_step = 6;

}  // namespace

void Contents::drop_fresh(Live& live, std::uint64_t from_block) {
  Pool& pool = core_.pool();
  while (!live.fresh.empty()) {
    auto& [first, fresh] = *std::prev(live.fresh.end());
    if (first + fresh.blocks <= from_block) {
      return;
    }
    if (first >= from_block) {
      (void)pool.cancel(fresh.place);
      live.fresh.erase(first);
    } else {
      const std::uint64_t kept = (from_block - first) * block_bytes;
      (void)pool.split(fresh.place, kept);
      (void)pool.cancel(fresh.place + kept);
      fresh.blocks = from_block - first;
    }
  }
}

// The run that ends with the first `blocks` of the extent. One that begins before `from_block` is
// split there: a record that means nothing by itself.
Outcome<Offset> Contents::whole_run(Live& live, const Entry& extent, std::uint64_t blocks,
                                    std::uint64_t from_block) {
  Pool& pool = core_.pool();
  const Offset end = extent.value + blocks * block_bytes;
  const Offset run = pool.object_at(end - block_bytes);
  if (run < extent.value || !pool.is_live(run) || run + pool.object(run).size() != end ||
      pool.account_of(run) != Account::files) {
    return core_.nodes.damaged("an extent of inode " + std::to_string(live.number) + " at " +
                               std::to_string(extent.value) + " is not what the pool has there");
  }
  const std::uint64_t first = extent.key + (run - extent.value) / block_bytes;
  if (first >= from_block) {
    return run;
  }
  const Offset wanted = run + (from_block - first) * block_bytes;
  REMORA_FILE_TRY(split_run_at(wanted));
  return wanted;
}

// So that a run begins at this place.
Errno Contents::split_run_at(Offset place) {
  Pool& pool = core_.pool();
  const Offset run = pool.object_at(place);
  if (run == place) {
    return Errno{};
  }
  return Errno{errno_of(pool.split(run, place - run).status())};
}

Outcome<bool> Contents::add_cut(Change& change, Change& frees, Live& live, std::uint64_t from_block,
                                std::size_t most) {
  TreeEdit tree = core_.edit_tree(live);
  format::Inode& after = change.edit(live);
  std::size_t runs = 0;
  bool more = false;
  for (std::uint64_t upto = ~std::uint64_t{0}; !more;) {
    REMORA_FILE_TRY_OUTCOME(found, core_.nodes.last_upto(Core::tree_of(live), upto));
    if (!*found || (*found)->key + (*found)->detail <= from_block) {
      break;
    }
    const Entry extent = **found;
    std::uint64_t left = extent.detail;
    while (left != 0 && extent.key + left > from_block) {
      if (runs == most) {
        more = true;
        break;
      }
      REMORA_FILE_TRY_OUTCOME(run, whole_run(live, extent, left, from_block));
      frees.free(*run);
      ++runs;
      left = (*run - extent.value) / block_bytes;
    }
    if (left == extent.detail) {
      break;
    }
    after.blocks -= extent.detail - left;
    REMORA_FILE_TRY(left == 0 ? tree.remove(extent.key)
                              : tree.replace(Entry{extent.key, extent.value,
                                                   static_cast<std::uint32_t>(left)}));
    if (extent.key == 0) {
      break;
    }
    upto = extent.key - 1;
  }
  after.tree = tree.write(change);
  live.found_blocks = 0;
  return more;
}

Outcome<bool> Contents::cut_step(Live& live, std::uint64_t from_block, std::uint64_t size,
                                 std::size_t most) {
  Change change = core_.change();
  format::Inode& after = change.edit(live);
  Change early = core_.change();
  const bool frees_first = core_.planted(faults::runs_freed_first);
  REMORA_FILE_TRY_OUTCOME(more,
                          add_cut(change, frees_first ? early : change, live, from_block, most));
  if (frees_first) {
    REMORA_FILE_TRY(core_.commit(early));
  }
  if (!core_.planted(faults::size_last) || !*more) {
    after.size = std::min(after.size, size);
  }
  const bool joins = *more && !live.listed && !core_.planted(faults::cut_without_intent);
  const bool leaves = !*more && live.listed && live.recorded.links != 0;
  if (joins) {
    REMORA_FILE_TRY(core_.list(change, live));
  } else if (leaves) {
    REMORA_FILE_TRY(core_.unlist(change, live));
  }
  REMORA_FILE_TRY(core_.commit(change));
  if (joins || leaves) {
    core_.note_listed(live, joins);
  }
  return more;
}

Errno Contents::cut(Live& live, std::uint64_t from_block, std::uint64_t size) {
  for (bool more = true; more;) {
    const auto step = [&]() -> Outcome<bool> {
      Outcome<bool> outcome = cut_step(live, from_block, size, runs_of_a_step);
      return outcome.error() == too_large ? cut_step(live, from_block, size, 1) : outcome;
    };
    REMORA_FILE_TRY_OUTCOME(outcome, core_.deleting(step));
    more = *outcome;
  }
  return Errno{};
}

Errno Contents::resume_cut(Live& live) {
  return cut(live, round_up(live.recorded.size, block_bytes) / block_bytes, live.recorded.size);
}

Errno Contents::truncate(const Caller& caller, Live& live, std::uint64_t size) {
  REMORA_FILE_TRY(core_.writable());
  if (size > format::largest_size) {
    return Errno{EFBIG};
  }
  REMORA_FILE_TRY(strip(caller, live));
  if (size >= live.size) {
    if (!core_.planted(faults::added_not_zeroed)) {
      REMORA_FILE_TRY(zero(live, live.size, size));
    }
    live.dirty = live.dirty || size > live.size;
    live.size = size;
    touch(caller, live);
    return Errno{};
  }
  const std::uint64_t from_block = round_up(size, block_bytes) / block_bytes;
  REMORA_FILE_TRY_OUTCOME(last, core_.nodes.last_upto(Core::tree_of(live), ~std::uint64_t{0}));
  drop_fresh(live, from_block);
  live.size = size;
  live.drained_size = std::min(live.drained_size, size);
  touch(caller, live);
  if (size >= live.recorded.size && (!*last || (*last)->key + (*last)->detail <= from_block)) {
    live.dirty = live.dirty || size != live.recorded.size;
    return Errno{};
  }
  return cut(live, from_block, size);
}

void Contents::add_rest(Change& change, Live& live) {
  const format::Inode& inode = live.recorded;
  if (live.is_link() && inode.tree != 0) {
    change.free_node(inode.tree);
  }
  if (inode.attributes != 0) {
    change.free_node(inode.attributes);
  }
  change.free(live.number);
}

Errno Contents::add_free(Change& change, Live& live) {
  if (live.is_file()) {
    REMORA_FILE_TRY_OUTCOME(more, add_cut(change, change, live, 0, runs_of_a_step));
    if (*more) {
      change.fail(too_large);
    }
  }
  add_rest(change, live);
  return Errno{};
}

Outcome<bool> Contents::reap_step(Live& live, std::size_t most) {
  Change change = core_.change();
  bool more = false;
  if (live.is_file()) {
    REMORA_FILE_TRY_OUTCOME(cut, add_cut(change, change, live, 0, most));
    more = *cut;
  }
  if (!more) {
    if (core_.planted(faults::orphan_unlisted_first)) {
      Change first = core_.change();
      REMORA_FILE_TRY(core_.unlist(first, live));
      REMORA_FILE_TRY(core_.commit(first));
    } else {
      REMORA_FILE_TRY(core_.unlist(change, live));
    }
    add_rest(change, live);
  }
  REMORA_FILE_TRY(core_.commit(change));
  return more;
}

Errno Contents::reap(Live& live) {
  drop_fresh(live, 0);
  for (bool more = true; more;) {
    const auto step = [&]() -> Outcome<bool> {
      Outcome<bool> outcome = reap_step(live, runs_of_a_step);
      return outcome.error() == too_large ? reap_step(live, 1) : outcome;
    };
    REMORA_FILE_TRY_OUTCOME(outcome, core_.deleting(step));
    more = *outcome;
  }
  core_.note_listed(live, false);
  core_.remove(live);
  return Errno{};
}

// Blocks from `from` up to `to` of fresh runs.
Errno Contents::punch_fresh(Live& live, std::uint64_t from, std::uint64_t to) {
  Pool& pool = core_.pool();
  for (auto run = live.fresh.begin(); run != live.fresh.end();) {
    const auto [first, fresh] = *run;
    const std::uint64_t end = first + fresh.blocks;
    if (end <= from || first >= to) {
      ++run;
      continue;
    }
    const std::uint64_t begin = std::max(first, from);
    const std::uint64_t behind = std::min(end, to);
    Offset place = fresh.place;
    if (first < begin) {
      REMORA_FILE_TRY(split_run_at(place + (begin - first) * block_bytes));
      run->second.blocks = begin - first;
      place += (begin - first) * block_bytes;
      ++run;
    } else {
      run = live.fresh.erase(run);
    }
    if (behind < end) {
      const Offset rest = place + (behind - begin) * block_bytes;
      REMORA_FILE_TRY(split_run_at(rest));
      live.fresh[behind] = Fresh{rest, end - behind, fresh.drained};
    }
    (void)pool.cancel(place);
  }
  return Errno{};
}

// Blocks of one recorded extent, within it: in steps from their end.
Errno Contents::punch_extent(Live& live, const Entry& extent, std::uint64_t from,
                             std::uint64_t to) {
  const std::uint64_t end = extent.key + extent.detail;
  if (to < end) {
    REMORA_FILE_TRY(split_run_at(extent.value + (to - extent.key) * block_bytes));
  }
  Change change = core_.change();
  format::Inode& after = change.edit(live);
  std::uint64_t left = to - extent.key;
  for (std::size_t runs = 0; runs < runs_of_a_step && extent.key + left > from; ++runs) {
    REMORA_FILE_TRY_OUTCOME(run, whole_run(live, extent, left, from));
    change.free(*run);
    left = (*run - extent.value) / block_bytes;
  }
  after.blocks -= to - extent.key - left;
  TreeEdit tree = core_.edit_tree(live);
  REMORA_FILE_TRY(
      left == 0 ? tree.remove(extent.key)
                : tree.replace(Entry{extent.key, extent.value, static_cast<std::uint32_t>(left)}));
  if (to < end) {
    REMORA_FILE_TRY(tree.insert(Entry{to, extent.value + (to - extent.key) * block_bytes,
                                      static_cast<std::uint32_t>(end - to)}));
  }
  after.tree = tree.write(change);
  const Outcome<Ticket> ticket = core_.commit(change);
  live.found_blocks = 0;
  if (ticket.error() == too_large) {
    REMORA_FILE_TRY_OUTCOME(split, core_.make_room(live, to));
    return Errno{*split ? 0 : EIO};
  }
  return ticket.failure();
}

Errno Contents::punch(const Caller& caller, Live& live, std::uint64_t offset, std::uint64_t size) {
  REMORA_FILE_TRY(core_.writable());
  if (size == 0) {
    return Errno{EINVAL};
  }
  if (!within(offset, size, format::largest_size)) {
    return Errno{EFBIG};
  }
  REMORA_FILE_TRY(strip(caller, live));
  // What lies behind the size stays.
  const std::uint64_t end = std::min(offset + size, round_up(live.size, block_bytes));
  if (offset >= end) {
    return Errno{};
  }
  const std::uint64_t from = round_up(offset, block_bytes) / block_bytes;
  const std::uint64_t to = end / block_bytes;
  if (from > to) {
    return zero(live, offset, end);
  }
  REMORA_FILE_TRY(zero(live, offset, from * block_bytes));
  REMORA_FILE_TRY(zero(live, to * block_bytes, end));
  touch(caller, live);
  if (from == to) {
    return Errno{};
  }
  REMORA_FILE_TRY(punch_fresh(live, from, to));
  for (;;) {
    REMORA_FILE_TRY_OUTCOME(found, core_.nodes.last_upto(Core::tree_of(live), to - 1));
    if (!*found || (*found)->key + (*found)->detail <= from) {
      return Errno{};
    }
    const Entry extent = **found;
    const auto step = [&] {
      return punch_extent(live, extent, std::max(from, extent.key),
                          std::min(to, extent.key + extent.detail));
    };
    REMORA_FILE_TRY(core_.deleting(step));
  }
}

}  // namespace remora::file
