// Shortcut: the way around the wire. Where an initiator can reach the target's memory itself (the
// same host, the memory mapped in both processes), READ, WRITE, atomics and FLUSH are loads and
// stores of the initiator, and the target's CPU has no part in them. A wire that knows such a way
// says so by Wire::shortcut(); a NIC on it then asks a queue pair's Lane first.
//
// Order. A lane is asked only while its queue pair has nothing outstanding: no request posted and
// not acknowledged. So what went by the wire before is in place, and what is posted after an
// executed request finds it in place. A request that a lane leaves alone goes by the wire, and so
// does everything posted until that is acknowledged.
//
// Judgement. A lane executes only what it knows to be allowed. All else, wrong keys included, goes
// by the wire, where the responder judges, answers and counts it.
//
// Taking rights back. retire and release are the target's side. After them no request that begins
// is executed by a lane; one that had begun may still be under way: release waits for it, quiet
// tells of it.
//
// One thread, that of the loop which drives the NIC.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/bytes.h"
#include "fabric/nic/shortcut/window.h"
#include "fabric/nic/wire.h"
#include "fabric/types.h"
#include "fabric/work.h"
#include "pmem/region.h"

namespace remora::fabric::nic {

struct Connection;

// What a key is worth to a peer at this moment.
struct Reachable {
  Bytes bytes;             // of the whole region
  AccessFlags rights = 0;  // those that region and queue pair both give
  Region* persistence = nullptr;
};

// The NIC, as the target's side of a shortcut asks it.
class ShortcutTarget {
 public:
  virtual ~ShortcutTarget() = default;
  // Nothing when the queue pair `own` is not connected to the peer's queue pair `peer` by this
  // link, or the key is of no region in its domain.
  virtual std::optional<Reachable> reachable(LinkId link, QpNumber own, QpNumber peer,
                                             RemoteKey key) const = 0;
};

// The short way of one connected queue pair. Destroying it ends a request that is pending.
class Lane {
 public:
  // Whom a lane tells that a pending request has been executed.
  class Owner {
   public:
    virtual void lane_finished() = 0;

   protected:
    ~Owner() = default;
  };

  struct Ran {
    std::size_t executed = 0;  // so many from the front are complete, and reported if signalled
    bool pending = false;      // the one behind them will be: the owner is told when
  };

  virtual ~Lane() = default;
  // Executes requests from the front, until one has to go by the wire. Called only while the queue
  // pair has nothing outstanding and no request is pending.
  virtual Ran run(std::span<const SendWork> works) = 0;
  // Executes this one, or leaves all as it was: for run to look at. What a lane can do with few
  // instructions it does here. Called as run is.
  virtual bool run_one(const SendWork& work) {
    (void)work;
    return false;
  }
  // This request goes by the wire.
  virtual void passed(const SendWork& work) = 0;
  // Whether memory of the target's is gone: see QueuePair::lost.
  virtual bool lost() const { return false; }

  // What its owner may execute itself, while it may ask the lane.
  const Windows& windows() const { return windows_; }

 protected:
  Windows windows_;
};

class Shortcut {
 public:
  virtual ~Shortcut() = default;

  // The device on this side, which asks from here on and can be asked; null when it goes.
  virtual void attach(ShortcutTarget* target) = 0;

  // --- Initiator. The connection outlives the lane. May be null: then all goes by the wire.
  virtual std::unique_ptr<Lane> open_lane(Connection& connection, Lane::Owner& owner) = 0;

  // Requests that windows have executed: what a window runs costs no store to count it.
  virtual std::uint64_t executed_by_windows() const { return 0; }

  // --- Target.
  // Takes back what the peer may do through this queue pair. Never blocks.
  virtual void retire(QpNumber own) = 0;
  // Whether nothing that the peer began through this retired queue pair can touch memory any more.
  virtual bool quiet(QpNumber own) const = 0;
  // Takes back what any peer may do with this key; returns when nobody uses its memory any more.
  // Whatever lanes have kept of this side's memory is worth nothing from here on.
  virtual void release(RemoteKey key) = 0;

  // What peers may do with this key has changed, and is no less than it was: they ask again. What
  // they have begun goes on. Never blocks.
  virtual void renew(RemoteKey key) = 0;

  // For people: what is short-cut, and by what means.
  virtual std::string describe() const = 0;
};

}  // namespace remora::fabric::nic
