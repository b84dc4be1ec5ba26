// GroupCommit: how page media become persistent. Drains join the open group; a commit closes the
// group, takes the content of its pages as it is at that moment, and makes it durable. Commits are
// numbered from 1, in the order in which they start; a ticket is the number of its group.
//
// Used by one thread. Keeps its buffers over a reset.
#pragma once

#include <vector>

#include "base/random.h"
#include "lab/memory/two_images.h"
#include "pmem/region.h"

namespace remora {

class GroupCommit {
 public:
  // Power-on: no group, no failure, commits count from 1 again.
  void reset();

  // The pages join the open group. Returns its ticket.
  Ticket join(const std::vector<PageIndex>& pages);

  bool persistent(Ticket ticket) const { return ticket.commit <= persistent_; }
  bool failed() const { return failed_; }
  bool running() const { return running_ != 0; }

  void request(Ticket ticket);
  // Whether a requested ticket still waits for a commit that can succeed.
  bool wanted() const { return !failed_ && requested_ > persistent_; }

  // Closes the open group and takes its pages. No commit may be running.
  void start(TwoImages& images);

  // Ends the running commit: its content is durable and its ticket persistent; or, when this one is
  // to fail, some words by chance are durable, and no ticket becomes persistent from here on.
  void finish(TwoImages& images, Random& random);

  void fail_next() { fail_next_ = true; }

  // What the running commit is about to make durable.
  const std::vector<LineSnapshot>& snapshots() const { return snapshots_; }

 private:
  std::vector<PageIndex> pages_;  // of the open group, with repeats
  std::vector<LineSnapshot> snapshots_;
  std::uint64_t open_ = 1;
  std::uint64_t running_ = 0;  // 0: none
  std::uint64_t persistent_ = 0;
  std::uint64_t requested_ = 0;
  bool fail_next_ = false;
  bool failed_ = false;
};

}  // namespace remora
