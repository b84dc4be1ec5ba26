// Pauses: connections whose next request waits: for room, for a value of a native client that is on
// its way, for its time (WAITAOF, DEBUG SLEEP), or for others to have their turn.
//
// One thread, the loop's. All that is handed in outlives it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "front/resp/command.h"
#include "front/resp/connection.h"
#include "front/resp/desk.h"
#include "front/resp/held_replies.h"
#include "front/resp/latency_events.h"
#include "front/resp/output.h"
#include "kv/local_store.h"
#include "runtime/flows.h"
#include "runtime/runtime.h"
#include "runtime/task.h"
#include "runtime/timer.h"

namespace remora::resp {

class Pauses final : private Timer {
 public:
  Pauses(Runtime& runtime, kv::LocalStore& store, const Settings& settings, Desk& desk,
         HeldReplies& held, Output& out, LatencyEvents& latencies)
      : runtime_(runtime),
        store_(store),
        settings_(settings),
        desk_(desk),
        held_(held),
        out_(out),
        latencies_(latencies) {}

  void wait_for_room(Connection& connection);
  void wait_for_value(Connection& connection);
  // WAITAOF; and DEBUG SLEEP, which waits for the time alone.
  void wait_for_persistence(Connection& connection, const PersistenceWait& wait);

  // It has kept others waiting for long. Of those of whom that is so one goes on in a turn.
  void wait_for_turn(Connection& connection);

  // The connection is closed, or leaves.
  void forget(Connection& connection);

  bool busy() const { return flows_.size() != 0; }
  // Nothing begins any more.
  void abandon() { flows_.abandon(); }

 private:
  void expire() override { end_waits(); }
  Task<void> make_room();
  Task<void> look_for_values();
  Task<void> take_turns();
  Task<void> make_persistent(kv::LocalStore::Mark mark);
  std::uint64_t next_end_ns() const;
  void end_waits();
  void answer(Connection& connection, bool is_persistent);

  Runtime& runtime_;
  kv::LocalStore& store_;
  const Settings& settings_;
  Desk& desk_;
  HeldReplies& held_;
  Output& out_;
  LatencyEvents& latencies_;
  std::vector<Connection*> roomless_;
  std::vector<Connection*> valueless_;
  std::vector<Connection*> waiting_;  // WAITAOF
  std::vector<Connection*> lengthy_;  // in the order in which they go on
  bool making_room_ = false;
  bool looking_ = false;
  bool taking_turns_ = false;
  Flows flows_;
};

}  // namespace remora::resp
