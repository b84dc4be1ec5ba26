// HeldReplies: replies that leave when every change before them is persistent. One commit serves
// all that wait when it begins. Between two commits the sockets are read once: a client that has
// got a reply from the first and asks again at once joins the second, so that clients do not fall
// into groups that wait for each other.
//
// Where nearly all clients wait for the same commit, the store is told that they do, and may make
// it on this thread; which thread makes it is the store's to decide (host/committer.h).
//
// One thread, the loop's. All that is handed in outlives it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "front/resp/command.h"
#include "front/resp/connection.h"
#include "front/resp/desk.h"
#include "front/resp/latency_events.h"
#include "front/resp/output.h"
#include "kv/local_store.h"
#include "runtime/flows.h"
#include "runtime/runtime.h"
#include "runtime/task.h"

namespace remora::resp {

class HeldReplies {
 public:
  HeldReplies(Runtime& runtime, kv::LocalStore& store, Desk& desk, Output& out, Counters& counters,
              LatencyEvents& latencies)
      : runtime_(runtime),
        store_(store),
        desk_(desk),
        out_(out),
        counters_(counters),
        latencies_(latencies) {}

  // From this byte of the replies on, nothing leaves before the last change is persistent;
  // `is_joined`: nor what was held last.
  void hold(Connection& connection, std::size_t from, bool is_joined);
  // At the end of a turn: replies leave that may, and a commit begins for the others.
  void see_to();
  bool empty() const { return holding_.empty(); }
  // The connection is closed.
  void forget(Connection& connection) { std::erase(holding_, &connection); }

  // Group commits that replies have waited for.
  std::uint64_t commits() const { return commits_; }
  bool busy() const { return flows_.size() != 0; }
  void abandon() { flows_.abandon(); }

 private:
  void release();
  void fail(const Status& why);
  Task<void> commit();

  Runtime& runtime_;
  kv::LocalStore& store_;
  Desk& desk_;
  Output& out_;
  Counters& counters_;
  LatencyEvents& latencies_;
  std::vector<Connection*> holding_;
  bool committing_ = false;
  std::uint64_t commits_ = 0;
  kv::LocalStore::Mark released_ = 0;  // replies up to here have left
  Flows flows_;
};

}  // namespace remora::resp
