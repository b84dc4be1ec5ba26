#include "lab/memory/group_commit.h"

#include <algorithm>

#include "base/check.h"

namespace remora {

void GroupCommit::reset() {
  pages_.clear();
  snapshots_.clear();
  open_ = 1;
  running_ = persistent_ = requested_ = 0;
  fail_next_ = failed_ = false;
}

Ticket GroupCommit::join(const std::vector<PageIndex>& pages) {
  pages_.insert(pages_.end(), pages.begin(), pages.end());
  return Ticket{open_};
}

void GroupCommit::request(Ticket ticket) {
  REMORA_CHECK(ticket.commit <= open_, "a ticket from another region, or from before a power cut");
  requested_ = std::max(requested_, ticket.commit);
}

void GroupCommit::start(TwoImages& images) {
  REMORA_CHECK(!running(), "one commit at a time");
  REMORA_CHECK(!failed_, "a failed region takes no further commits");
  std::sort(pages_.begin(), pages_.end());
  pages_.erase(std::unique(pages_.begin(), pages_.end()), pages_.end());
  for (const PageIndex page : pages_) {
    images.take(page * static_cast<LineIndex>(lines_per_page), lines_per_page, snapshots_);
  }
  pages_.clear();
  running_ = open_++;
}

void GroupCommit::finish(TwoImages& images, Random& random) {
  REMORA_CHECK(running(), "no commit to finish");
  failed_ = fail_next_;
  for (const LineSnapshot& snapshot : snapshots_) {
    for (std::size_t i = 0; i < words_per_line; ++i) {
      if (!failed_ || random.chance(1, 2)) {
        images.make_durable(snapshot, i);
      }
    }
  }
  if (!failed_) {
    persistent_ = running_;
  }
  running_ = 0;
  snapshots_.clear();
}

}  // namespace remora
