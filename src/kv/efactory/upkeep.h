// Upkeep: what changes under the hands of clients, one thing after the other: the size of the
// index, and deletions that leave it; cleaning of the log; rounds after which grants are forgotten.
//
// One flow on the loop.
#pragma once

#include <optional>
#include <vector>

#include "host/committer.h"
#include "kv/efactory/catalogue.h"
#include "kv/efactory/cleaner.h"
#include "kv/efactory/rounds.h"
#include "kv/efactory/snapshots.h"
#include "runtime/event.h"
#include "runtime/task.h"

namespace remora::kv::efactory {

class Upkeep final : public Committer::Party {
 public:
  // All outlive it.
  Upkeep(Catalogue& catalogue, Committer& commits, Peers& peers, Rounds& rounds, Cleaner& cleaner,
         const Snapshots& snapshots);
  // Once, before the first client comes.
  void use(rpc::Server& rpc) { rpc_ = &rpc; }

  // The flow, until the medium fails.
  Task<void> keep_up();
  // Something was put or deleted, or a snapshot ended: there may be something to do.
  void wake() {
    if (to_do_ && !to_do_->is_set() &&
        (index_fits_badly() || wants_sweep() || cleaner_.wants_cleaning() || forgets_grants_ ||
         catalogue_.log().has_cleared() || !leaving_.empty())) {
      to_do_->set();
    }
  }

  // A client has too many grants: a round is due, after which older ones are forgotten.
  void forget_grants() { forgets_grants_ = true; }
  // Waits until a cleaning has ended, for a put that found no space; no_space if none is due.
  Task<Status> room();

  // How often the index got another size.
  std::uint64_t growths() const { return growths_; }
  std::uint64_t shrinks() const { return shrinks_; }

  // All keys may go at once while no client READs by the index: now, or `room` waits for it.
  bool may_clear();
  void cleared(Catalogue::Table old);
  // The flow that stops clients from READing for a while, and begins it again.
  Task<void> stop_readers();

  bool busy() const { return cleaner_.is_cleaning() || resizes_; }
  // It waits for no commits of others.
  bool all_wait() override { return !busy(); }

 private:
  bool index_fits_badly() const {
    return catalogue_.fitting_windows() != catalogue_.index().geometry().windows;
  }
  // What one has left is not worth another.
  bool wants_sweep() const {
    return catalogue_.is_full_of_tombstones() && catalogue_.sequence() != swept_up_to_;
  }
  Task<Status> sweep();
  Task<void> resize();
  void share_index();
  Task<void> give_memory_back();

  Catalogue& catalogue_;
  const Host background_;
  Committer& commits_;
  Peers& peers_;
  Rounds& rounds_;
  Cleaner& cleaner_;
  const Snapshots& snapshots_;
  rpc::Server* rpc_ = nullptr;
  bool resizes_ = false;  // the index
  std::uint64_t swept_up_to_ = 0;
  std::uint64_t growths_ = 0;
  std::uint64_t shrinks_ = 0;
  bool wants_to_clear_ = false;
  bool are_stopped_ = false;                  // clients, for that
  std::vector<Catalogue::Table> old_tables_;  // that clients may still have
  std::vector<Catalogue::Table> leaving_;     // that nobody READs any more
  std::optional<Event> to_stop_;
  bool forgets_grants_ = false;
  std::optional<Event> to_do_;
};

}  // namespace remora::kv::efactory
