#include "file/core.h"

#include <algorithm>
#include <bit>

#include "base/check.h"
#include "file/faults.h"

namespace remora::file {

using format::Inode;
using format::Superblock;
using format::Words;

namespace {

constexpr std::size_t most_ballast_blocks = 48;

void show_recorded(Live& live) {
  live.size = live.recorded.size;
  live.atime_ns = live.recorded.atime_ns;
  live.mtime_ns = live.recorded.mtime_ns;
  live.ctime_ns = live.recorded.ctime_ns;
}

}  // namespace

Outcome<Ticket> Core::make(const Inode& root, std::uint64_t hash_seed, const NodeLimits& limits,
                           std::uint64_t now_ns) {
  const Result<Offset> super = pool().reserve(sizeof(Superblock), Account::files);
  const Result<Offset> inode = pool().reserve(sizeof(Inode), Account::files);
  if (!super.ok() || !inode.ok()) {
    return Errno{ENOSPC};
  }
  Inode first = root;
  first.parent = *inode;
  first.check = format::check_of(std::bit_cast<Words>(first), *inode);
  Superblock block{};
  block.magic = format::magic;
  block.version = format::version;
  block.root = *inode;
  block.hash_seed = hash_seed;
  block.leaf_bytes = static_cast<std::uint32_t>(limits.leaf_bytes);
  block.branch_bytes = static_cast<std::uint32_t>(limits.branch_bytes);
  block.made_ns = now_ns;
  block.check = format::check_of(std::bit_cast<Words>(block), *super);
  Transaction transaction;
  Status status = transaction.publish(*super, 0);
  const auto add = [&](const Status& next) { status = status.ok() ? next : status; };
  add(transaction.publish(*inode, 0));
  add(transaction.set_root(format::root_name, *super));
  const auto words = std::bit_cast<Words>(first);
  const auto super_words = std::bit_cast<Words>(block);
  for (std::size_t i = 0; i < words.size(); ++i) {
    add(transaction.set(*inode + i * word_bytes, words[i]));
    add(transaction.set(*super + i * word_bytes, super_words[i]));
  }
  REMORA_CHECK(status.ok(), "the first record of a volume does not fit");
  const Result<Ticket> ticket = pool().commit(transaction);
  if (!ticket.ok()) {
    return Errno{errno_of(ticket.status())};
  }
  super_ = {*super, block};
  newest_ = *ticket;
  return *ticket;
}

Errno Core::load(std::string& why) {
  const Result<Offset> place = pool().root(format::root_name);
  if (!place.ok()) {
    why = "the pool has no files; make them first (file::Volume::make)";
    return Errno{ENOENT};
  }
  Words words{};
  if (pool().object(*place).size() < sizeof words || pool().account_of(*place) != Account::files) {
    why = "the superblock of files at " + std::to_string(*place) + " is damaged";
    return Errno{EIO};
  }
  for (std::size_t i = 0; i < words.size(); ++i) {
    words[i] = pool().load(*place + i * word_bytes);
  }
  const auto block = std::bit_cast<Superblock>(words);
  if (block.magic != format::magic || block.check != format::check_of(words, *place) ||
      block.leaf_bytes < smallest_nodes.leaf_bytes ||
      block.branch_bytes < smallest_nodes.branch_bytes || block.leaf_bytes > 65536 ||
      block.branch_bytes > 65536) {
    why = "the superblock of files at " + std::to_string(*place) + " is damaged";
    return Errno{EIO};
  }
  if (block.version != format::version || block.features != 0) {
    why = "the files are of format version " + std::to_string(block.version) +
          ", which this program does not know; use a newer one";
    return Errno{ENOTSUP};
  }
  super_ = {*place, block};
  return Errno{};
}

std::optional<Inode> Core::read_inode(Number number) {
  if (!pool().is_live(number) || pool().account_of(number) != Account::files ||
      pool().object(number).size() != sizeof(Inode)) {
    return std::nullopt;
  }
  Words words;
  for (std::size_t i = 0; i < words.size(); ++i) {
    words[i] = pool().load(number + i * word_bytes);
  }
  if (words.back() != format::check_of(words, number)) {
    return std::nullopt;
  }
  return std::bit_cast<Inode>(words);
}

Outcome<Live*> Core::get(Number number) {
  const auto known = lives_.find(number);
  if (known != lives_.end()) {
    return known->second.get();
  }
  if (number % cache_line_bytes != 0 || !pool().is_live(number)) {
    return Errno{ESTALE};
  }
  const std::optional<Inode> inode = read_inode(number);
  if (!inode) {
    return nodes.damaged("the inode at " + std::to_string(number) + " is damaged");
  }
  auto live = std::make_unique<Live>();
  live->number = number;
  live->recorded = *inode;
  show_recorded(*live);
  return &add(std::move(live));
}

Outcome<Ticket> Core::commit(Change& change) {
  const Outcome<Ticket> ticket = change.commit();
  newest_ = ticket.ok() ? *ticket : newest_;
  return ticket;
}

Live& Core::add(std::unique_ptr<Live> live) {
  if (lives_.size() >= forget_at_) {
    forget_idle();
  }
  live->size = std::max(live->size, live->recorded.size);
  Live& added = *live;
  lives_[added.number] = std::move(live);
  return added;
}

void Core::remove(Live& live) {
  removed_ = live.record;
  lives_.erase(live.number);
}

// What is not in use, and is in place.
void Core::forget_idle() {
  std::erase_if(lives_, [this](const auto& entry) {
    return entry.second->is_idle() && pool().persistent(entry.second->record);
  });
  forget_at_ = std::max<std::size_t>(1 << 16, lives_.size() * 2);
}

void Core::for_each_live(const std::function<void(Live& live)>& visit) {
  for (const auto& [number, live] : lives_) {
    visit(*live);
  }
}

Errno Core::writable() {
  if (!nodes.damage().empty()) {
    return Errno{EROFS};
  }
  return Errno{pool().region().failure().ok() ? 0 : EIO};
}

Errno Core::list(Change& change, Live& live) {
  Superblock& super = change.edit_superblock();
  change.edit(live).next_orphan = super.orphans;
  super.orphans = live.number;
  return Errno{};
}

Errno Core::unlist(Change& change, Live& live) {
  const Number next = live.recorded.next_orphan;
  const auto known = before_.find(live.number);
  REMORA_CHECK(known != before_.end(), "a file leaves the list of orphans that is not on it");
  if (known->second == 0) {
    change.edit_superblock().orphans = next;
  } else {
    REMORA_FILE_TRY_OUTCOME(before, get(known->second));
    change.edit(**before).next_orphan = next;
  }
  change.edit(live).next_orphan = 0;
  return Errno{};
}

void Core::note_listed(Live& live, bool listed) {
  if (listed) {
    before_[live.number] = 0;
    live.next_listed = live.recorded.next_orphan;
    if (live.next_listed != 0) {
      before_[live.next_listed] = live.number;
    }
  } else if (const auto known = before_.find(live.number); known != before_.end()) {
    const Number before = known->second;
    before_.erase(known);
    if (live.next_listed != 0) {
      before_[live.next_listed] = before;
    }
    if (const auto neighbour = lives_.find(before); neighbour != lives_.end()) {
      neighbour->second->next_listed = live.next_listed;
    }
  }
  live.listed = listed;
}

Outcome<bool> Core::make_room(Live& live, std::uint64_t key) {
  TreeEdit tree = edit_tree(live);
  REMORA_FILE_TRY_OUTCOME(split, tree.make_room(key));
  if (*split) {
    Change neutral = change();
    neutral.edit(live).tree = tree.write(neutral);
    REMORA_FILE_TRY(commit(neutral));
  }
  return split;
}

bool Core::take_ballast() {
  const std::uint64_t blocks = pool().header().block_count;
  const std::size_t wanted = std::clamp<std::size_t>(blocks / 64, 8, most_ballast_blocks);
  while (ballast_.size() < wanted) {
    const Result<Offset> block = pool().reserve(format::block_bytes, Account::files);
    if (!block.ok()) {
      return false;
    }
    ballast_.push_back(*block);
  }
  return true;
}

bool Core::drop_ballast() {
  for (const Offset block : ballast_) {
    (void)pool().cancel(block);
  }
  const bool some = !ballast_.empty();
  ballast_.clear();
  return some;
}

std::uint64_t Core::ballast_bytes() const {
  return ballast_.size() * format::block_bytes;
}

Errno Core::creating() {
  REMORA_FILE_TRY(writable());
  return Errno{take_ballast() ? 0 : ENOSPC};
}

}  // namespace remora::file
