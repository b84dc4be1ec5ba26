// Growth: the pool becomes larger while it is served. The region has the bytes already.
//
//   1  what peers share is extended, by the same keys
//   2  a round: every client knows how large the pool will be. One that stands still is cut off
//   3  the tables of the new piece are written, a little at a time, and awaited
//   4  the header counts the piece, which is awaited: from here on a cut leaves the larger pool
//   5  the new room is the allocator's, and the log's table has a slot for every segment in it
//
// No client is led to a place that it would not believe, since 5 comes behind 2; and nothing is put
// where a cut would leave no pool, since it comes behind 4.
//
// One thread, the loop's. What it is handed outlives it.
#pragma once

#include <cstdint>

#include "host/committer.h"
#include "kv/efactory/catalogue.h"
#include "kv/efactory/peers.h"
#include "kv/efactory/rounds.h"
#include "kv/efactory/upkeep.h"
#include "runtime/task.h"

namespace remora::kv::efactory {

class Growth {
 public:
  Growth(Catalogue& catalogue, Committer& commits, Peers& peers, Rounds& rounds, Upkeep& upkeep)
      : catalogue_(catalogue),
        background_(catalogue.background()),
        commits_(commits),
        peers_(peers),
        rounds_(rounds),
        upkeep_(upkeep) {}

  // As StoreServer::grow.
  Task<Status> grow(std::uint64_t pool_bytes);
  bool busy() const { return is_under_way_; }

 private:
  Task<Status> go_on(Pool::Growth& growth);

  Catalogue& catalogue_;
  const Host background_;
  Committer& commits_;
  Peers& peers_;
  Rounds& rounds_;
  Upkeep& upkeep_;
  bool is_under_way_ = false;
};

}  // namespace remora::kv::efactory
