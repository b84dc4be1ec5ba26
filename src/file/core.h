// Core: what all parts of a volume share: the pool, the files that this process knows, the list of
// orphans, and the room that deleting needs. One owner thread.
//
// THE LIST OF ORPHANS is a chain of inodes that begins in the superblock. On it are files without a
// name that somebody has open, and files whose blocks behind their size are on their way to be
// freed. Recovery goes through it: what has no links is freed, the rest is cut to its size.
//
// BALLAST. A node is changed by writing another, so deleting takes space before it gives any. Some
// blocks are therefore held in DRAM alone; only what deletes may fall back on them. What creates is
// refused while they are not there.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/faults.h"
#include "file/change.h"
#include "file/live.h"
#include "file/nodes.h"
#include "file/tree_edit.h"
#include "pmem/pool.h"

namespace remora::file {

class Core {
 public:
  Core(Pool& pool, const Faults& faults) : nodes(pool), faults_(faults) {}

  // Makes the superblock and the root directory: one record.
  Outcome<Ticket> make(const format::Inode& root, std::uint64_t hash_seed, const NodeLimits& limits,
                       std::uint64_t now_ns);
  // Reads the superblock. `why` says what is wrong.
  Errno load(std::string& why);

  Pool& pool() { return nodes.pool(); }
  const format::Superblock& superblock() const { return super_.recorded; }
  Offset superblock_place() const { return super_.place; }
  NodeLimits limits() const { return {super_.recorded.leaf_bytes, super_.recorded.branch_bytes}; }
  bool planted(const Fault& fault) const { return faults_.planted(fault); }

  // ESTALE when it is no inode; EIO when it is damaged.
  Outcome<Live*> get(Number number);
  // EROFS once damage was found; EIO once the pool has failed.
  Errno writable();

  Change change() { return Change(nodes, super_, faults_); }
  // Commits; what was made is known from then on.
  Outcome<Ticket> commit(Change& change);
  // Of the newest record: when it is persistent, so are all.
  Ticket newest() const { return newest_; }
  Live& add(std::unique_ptr<Live> live);
  // The file is gone, with its newest record.
  void remove(Live& live);
  // Of the newest record with which a file went.
  Ticket removed() const { return removed_; }
  void for_each_live(const std::function<void(Live& live)>& visit);

  // Adds to the change that the file joins or leaves the list. What `listed` says changes when
  // note_listed is called, after the commit.
  Errno list(Change& change, Live& live);
  Errno unlist(Change& change, Live& live);
  void note_listed(Live& live, bool listed);

  static TreeOf tree_of(const Live& live) {
    return {live.number,
            live.is_directory() ? format::NodeKind::directory : format::NodeKind::extents,
            live.recorded.tree};
  }
  TreeEdit edit_tree(const Live& live) { return TreeEdit(nodes, limits(), tree_of(live)); }
  // When one record did not hold a change of this tree at that key: splits a full node on the way,
  // which means nothing by itself. False when there is none.
  Outcome<bool> make_room(Live& live, std::uint64_t key);

  // Performs what creates: ENOSPC while the ballast is not there.
  Errno creating();
  // Performs what deletes, with the ballast when there is no other space.
  template <typename Delete>
  auto deleting(const Delete& perform) -> decltype(perform()) {
    auto outcome = perform();
    if (outcome.error() == ENOSPC && drop_ballast()) {
      outcome = perform();
    }
    (void)take_ballast();
    return outcome;
  }
  bool take_ballast();
  std::uint64_t ballast_bytes() const;

  Nodes nodes;

 private:
  bool drop_ballast();
  void forget_idle();
  std::optional<format::Inode> read_inode(Number number);

  const Faults faults_;
  LiveSuperblock super_;
  std::unordered_map<Number, std::unique_ptr<Live>> lives_;
  std::unordered_map<Number, Number> before_;  // on the list of orphans; 0: it is the first
  std::vector<Offset> ballast_;
  Ticket removed_;
  Ticket newest_;
  std::size_t forget_at_ = 1 << 16;
};

}  // namespace remora::file
