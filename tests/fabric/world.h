// World: where the contract of fabric/queue_pair.h is tested. One per kind of wire; a test sees
// nothing else. A world has two devices that can reach each other: near, which posts, and far,
// whose memory is the target. Adding a wire to the suite means one class here and one line in
// worlds.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "fabric/device.h"
#include "pmem/region.h"
#include "runtime/runtime.h"

namespace remora::fabric::contract {

class World {
 public:
  virtual ~World() = default;

  virtual Runtime& runtime() = 0;
  virtual Device& near() = 0;
  virtual Device& far() = 0;

  // Far's persistent memory: all zero at first.
  virtual Region& far_region() = 0;
  // These bytes of far as they are now. Where far is another machine, a test has a copy of its
  // memory, at the same addresses: this brings the copy up to date, and `changed` takes there what
  // a test wrote into it.
  virtual ConstBytes look(Bytes bytes) { return bytes; }
  virtual void changed(ConstBytes) {}
  // Whether these bytes at this place of it would survive every power cut that may come now.
  virtual bool survives(std::size_t offset, ConstBytes bytes) = 0;

  // What to connect with: timers that suit the wire.
  virtual ConnectOptions connect_options() const { return {}; }
  // Whether runtime().now_ns() is exact enough to hold F3 to its time.
  virtual bool exact_time() const = 0;
  // Whether bytes may become visible later than their WRITE completes.
  virtual bool places_late() const = 0;

  // Whether survives() can tell, and what may happen without being promised happens at times. Not
  // on a real device: nobody cuts its power here.
  virtual bool tells_survival() const { return true; }

  // Whether a request that fails as `expected` may say `got` here.
  virtual bool says(WorkStatus expected, WorkStatus got) const { return got == expected; }
  // Whether requests go on while this thread does something else.
  virtual bool works_by_itself() const { return false; }

  // Called when two queue pairs are connected, before anything is posted to them.
  virtual void connected(QueuePair&, const RemoteAddress&) {}

  // What near's device has counted up to now.
  virtual DeviceCounters near_counters() { return near().counters(); }
  // Packets of a READ into a piece that may not be stored to, where that is noticed too late.
  virtual std::uint64_t packets_of_a_wrong_read() const { return 0; }
  // Packets by which a queue pair that fails tells its peer so, on wires without timers.
  virtual std::uint64_t error_notices() const { return 0; }
  // Whether near's memory is to be such that payload in it can be lent.
  virtual bool lends() const { return false; }
  // Whether an unreliable receive that is too short fails and ends its queue pair (U6).
  virtual bool ends_short_receives() const { return false; }

  // Runs until it holds; false when it does not within the patience of this world.
  virtual bool run_until(const std::function<bool()>& holds) = 0;

  // No packet passes from now on.
  virtual void cut_wire() = 0;
  // Far is gone from now on: what was made from it is still there, and mute.
  virtual void kill_far() = 0;
};

struct WorldKind {
  std::string name;
  std::function<std::unique_ptr<World>(std::uint64_t seed)> make;
  std::uint64_t seeds = 1;       // each test runs with so many, from 1
  std::uint64_t long_seeds = 0;  // and in the long run with so many; 0: not in the long run
  // Sentences that cannot be tested here, and why.
  std::map<std::string, std::string> not_here = {};
  // Sentences of which only a part can be tested here, and which part cannot, and why.
  std::map<std::string, std::string> in_part = {};
  // Why nothing at all can be tested here; empty where it can.
  std::string absent = {};
};

// What GoogleTest prints of one.
inline void PrintTo(const WorldKind& kind, std::ostream* out) {
  *out << kind.name;
}

const std::vector<WorldKind>& all_worlds();

// With more seeds: `--long 1`.
bool long_run();

}  // namespace remora::fabric::contract
