// Change: one record in the making. It gathers nodes, runs and words, and performs all or nothing:
// what it reserved is given back when it is not committed. The first failure is kept, and makes the
// commit fail: so operations read straight through.
//
// Failures: ENOSPC; EIO (the pool has failed); `too_large` when one record does not hold it.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "base/faults.h"
#include "file/live.h"
#include "file/nodes.h"
#include "pmem/transaction.h"

namespace remora::file {

// An errno that no file operation has: the change needs more than one record.
inline constexpr int too_large = EMSGSIZE;

// The errno for a failure of the pool.
int errno_of(const Status& status);

// The superblock, as the newest record has it.
struct LiveSuperblock {
  Offset place = 0;
  format::Superblock recorded{};
};

class Change {
 public:
  Change(Nodes& nodes, LiveSuperblock& super, const Faults& faults)
      : nodes_(nodes), super_(super), faults_(faults) {}
  Change(const Change&) = delete;
  Change& operator=(const Change&) = delete;
  ~Change();

  // The inode, to be changed; the same one each time. Begins with the times that are visible.
  format::Inode& edit(Live& live);
  format::Superblock& edit_superblock();
  // A new file, which is live once this is committed.
  format::Inode& make(Live& live);

  // Writes a node into space of its own. 0 after a failure.
  Offset add_node(Number owner, format::NodeKind kind, unsigned height,
                  std::span<const Entry> entries);
  Offset add_bytes(Number owner, format::NodeKind kind, ConstBytes content);
  void free_node(Offset place);
  // The run's bytes are persistent already.
  void publish_run(Offset run);
  void free(Offset place);

  void fail(int error) { error_ = error_ == 0 ? error : error_; }
  int error() const { return error_; }

  // Afterwards this change does nothing any more.
  Outcome<Ticket> commit();

 private:
  struct Edit {
    Live* live;
    format::Inode after;
    bool made;
  };

  Offset reserve(std::size_t size_bytes);
  void seal(Offset place, format::NodeHead head);
  void check(const Status& status);
  void set_words(Offset place, const format::Words* before, format::Words after);

  Nodes& nodes_;
  LiveSuperblock& super_;
  const Faults& faults_;
  Transaction transaction_;
  std::array<Edit, 8> edits_;
  std::size_t edit_count_ = 0;
  format::Superblock super_after_{};
  bool super_edited_ = false;
  std::vector<Offset> reserved_;
  std::vector<Offset> freed_nodes_;
  int error_ = 0;
};

}  // namespace remora::file
