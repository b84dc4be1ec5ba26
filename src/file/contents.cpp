// Reading, writing and finding blocks.
#include "file/contents.h"

#include <algorithm>
#include <array>

#include "file/faults.h"
#include "pmem/size_classes.h"

namespace remora::file {

using format::block_bytes;

namespace {

constexpr std::array<std::byte, block_bytes> zeros{};
constexpr std::uint64_t most_run_blocks = largest_object_bytes / block_bytes;

}  // namespace

Outcome<Contents::Segment> Contents::find(Live& live, std::uint64_t block) {
  const auto next = live.fresh.upper_bound(block);
  const std::uint64_t upto_fresh =
      next == live.fresh.end() ? ~std::uint64_t{0} : next->first - block;
  if (next != live.fresh.begin()) {
    const auto& [first, fresh] = *std::prev(next);
    if (block < first + fresh.blocks) {
      return Segment{fresh.place + (block - first) * block_bytes, first + fresh.blocks - block};
    }
  }
  if (block - live.found_block >= live.found_blocks) {
    REMORA_FILE_TRY_OUTCOME(extent, core_.nodes.last_upto(Core::tree_of(live), block));
    if (!*extent || block >= (*extent)->key + (*extent)->detail) {
      REMORA_FILE_TRY_OUTCOME(later, core_.nodes.first_from(Core::tree_of(live), block));
      const std::uint64_t upto = *later ? (*later)->key - block : ~std::uint64_t{0};
      return Segment{0, std::min(upto, upto_fresh)};
    }
    const std::uint64_t bytes = (*extent)->detail * block_bytes;
    if (!within((*extent)->value, bytes, core_.pool().size_bytes()) ||
        (*extent)->value % block_bytes != 0) {
      return core_.nodes.damaged("an extent of inode " + std::to_string(live.number) +
                                 " leads out of the pool");
    }
    live.found_block = (*extent)->key;
    live.found_blocks = (*extent)->detail;
    live.found_place = (*extent)->value;
  }
  const std::uint64_t inside = block - live.found_block;
  return Segment{live.found_place + inside * block_bytes,
                 std::min(live.found_blocks - inside, upto_fresh)};
}

Outcome<std::uint64_t> Contents::read(Live& live, std::uint64_t offset, Bytes to,
                                      std::uint64_t now_ns) {
  if (offset >= live.size) {
    return std::uint64_t{0};
  }
  const std::uint64_t size = std::min<std::uint64_t>(to.size(), live.size - offset);
  const std::byte* const base = core_.pool().region().data();
  for (std::uint64_t at = 0; at < size;) {
    const std::uint64_t inside = (offset + at) % block_bytes;
    REMORA_FILE_TRY_OUTCOME(segment, find(live, (offset + at) / block_bytes));
    const std::uint64_t most = size - at;
    const std::uint64_t bytes = segment->blocks > (most + inside) / block_bytes
                                    ? most
                                    : std::min(most, segment->blocks * block_bytes - inside);
    if (segment->place == 0) {
      std::memset(to.data() + at, 0, bytes);
    } else {
      std::memcpy(to.data() + at, base + segment->place + inside, bytes);
    }
    at += bytes;
  }
  live.atime_ns = std::max(live.atime_ns, now_ns);
  return size;
}

Outcome<ConstBytes> Contents::map(Live& live, std::uint64_t offset) {
  if (offset >= live.size) {
    return ConstBytes();
  }
  REMORA_FILE_TRY_OUTCOME(segment, find(live, offset / block_bytes));
  if (segment->place == 0) {
    return ConstBytes();
  }
  const std::uint64_t inside = offset % block_bytes;
  return ConstBytes(core_.pool().region().data() + segment->place + inside,
                    std::min(segment->blocks * block_bytes - inside, live.size - offset));
}

// Behind the block before it, where that is free: then the two become one extent.
Outcome<Contents::Segment> Contents::take_run(Live& live, std::uint64_t block,
                                              std::uint64_t blocks) {
  Pool& pool = core_.pool();
  blocks = std::min(blocks, most_run_blocks);
  if (block != 0) {
    REMORA_FILE_TRY_OUTCOME(before, find(live, block - 1));
    if (before->place != 0) {
      const Result<Offset> next =
          pool.reserve_at(before->place + block_bytes, blocks * block_bytes, Account::files);
      if (next.ok()) {
        return Segment{*next, blocks};
      }
    }
  }
  const Result<ReservedRun> run = pool.reserve_most(blocks * block_bytes, Account::files);
  if (!run.ok()) {
    return Errno{errno_of(run.status())};
  }
  return Segment{run->offset, run->size_bytes / block_bytes};
}

void Contents::zero_bytes(Offset place, std::uint64_t size) {
  std::byte* const base = core_.pool().region().data();
  for (std::uint64_t at = 0; at < size;) {
    const std::uint64_t bytes = std::min<std::uint64_t>(size - at, zeros.size());
    core_.pool().region().copy(base + place + at, ConstBytes(zeros).first(bytes));
    at += bytes;
  }
}

// In blocks that are there; holes read as zeros.
Errno Contents::zero(Live& live, std::uint64_t from, std::uint64_t to) {
  while (from < to) {
    const std::uint64_t inside = from % block_bytes;
    REMORA_FILE_TRY_OUTCOME(segment, find(live, from / block_bytes));
    const std::uint64_t most = to - from;
    const std::uint64_t bytes = segment->blocks > (most + inside) / block_bytes
                                    ? most
                                    : std::min(most, segment->blocks * block_bytes - inside);
    if (segment->place != 0) {
      zero_bytes(segment->place + inside, bytes);
    }
    from += bytes;
  }
  return Errno{};
}

void Contents::touch(const Caller& caller, Live& live) {
  live.mtime_ns = caller.now_ns;
  live.ctime_ns = caller.now_ns;
}

// A write by somebody who is not root ends the bits that lend the owner's or the group's rights.
Errno Contents::strip(const Caller& caller, Live& live) {
  const std::uint32_t lends = 04000u | ((live.recorded.mode & 010) != 0 ? 02000u : 0u);
  if (caller.is_root() || (live.recorded.mode & lends) == 0) {
    return Errno{};
  }
  Change change = core_.change();
  change.edit(live).mode &= ~lends;
  REMORA_FILE_TRY(core_.commit(change));
  return Errno{};
}

Outcome<Written> Contents::write(const Caller& caller, Live& live, std::uint64_t offset,
                                 ConstBytes from) {
  REMORA_FILE_TRY(core_.writable());
  if (!within(offset, from.size(), format::largest_size)) {
    return Errno{EFBIG};
  }
  if (from.empty()) {
    return Written{};
  }
  REMORA_FILE_TRY(strip(caller, live));
  const std::uint64_t end = offset + from.size();
  const bool leaves_gap = offset > live.size && !core_.planted(faults::added_not_zeroed);
  Region& region = core_.pool().region();
  int failure = 0;
  std::uint64_t at = offset;
  while (at < end) {
    const std::uint64_t block = at / block_bytes;
    const std::uint64_t inside = at % block_bytes;
    REMORA_FILE_TRY_OUTCOME(segment, find(live, block));
    if (segment->place == 0) {
      const std::uint64_t wanted = round_up(end - block * block_bytes, block_bytes) / block_bytes;
      failure = core_.creating().error();
      if (failure != 0) {
        break;
      }
      segment = take_run(live, block, std::min(wanted, segment->blocks));
      failure = segment.error();
      if (failure != 0) {
        break;
      }
      if (!core_.planted(faults::block_not_zeroed)) {
        const std::uint64_t run_end = (block + segment->blocks) * block_bytes;
        zero_bytes(segment->place, inside);
        if (end < run_end) {
          zero_bytes(segment->place + segment->blocks * block_bytes - (run_end - end),
                     run_end - end);
        }
      }
      live.fresh[block] = Fresh{segment->place, segment->blocks};
      live.dirty = true;
    }
    const std::uint64_t bytes = std::min(end - at, segment->blocks * block_bytes - inside);
    region.copy(region.data() + segment->place + inside, from.subspan(at - offset, bytes));
    at += bytes;
  }
  if (at == offset) {
    return Errno{failure};
  }
  // Not before there was room: where a truncate is lost with the power, the bytes behind its end
  // are the file's again, and a write that failed has not changed them.
  if (leaves_gap) {
    REMORA_FILE_TRY(zero(live, live.size, offset));
  }
  live.dirty = live.dirty || at > live.size;
  live.size = std::max(live.size, at);
  touch(caller, live);
  return Written{at - offset};
}

Errno Contents::allocate(const Caller& caller, Live& live, std::uint64_t offset, std::uint64_t size,
                         bool keep_size) {
  REMORA_FILE_TRY(core_.creating());
  if (size == 0) {
    return Errno{EINVAL};
  }
  if (!within(offset, size, format::largest_size)) {
    return Errno{EFBIG};
  }
  const std::uint64_t end = offset + size;
  const std::uint64_t end_block = round_up(end, block_bytes) / block_bytes;
  for (std::uint64_t block = offset / block_bytes; block < end_block;) {
    REMORA_FILE_TRY_OUTCOME(segment, find(live, block));
    if (segment->place == 0) {
      REMORA_FILE_TRY(core_.creating());
      segment = take_run(live, block, std::min(segment->blocks, end_block - block));
      REMORA_FILE_TRY(segment);
      zero_bytes(segment->place, segment->blocks * block_bytes);
      live.fresh[block] = Fresh{segment->place, segment->blocks};
      live.dirty = true;
    }
    block += segment->blocks;
  }
  if (!keep_size && end > live.size) {
    REMORA_FILE_TRY(zero(live, live.size, end));
    live.size = end;
    live.dirty = true;
  }
  touch(caller, live);
  return Errno{};
}

}  // namespace remora::file
