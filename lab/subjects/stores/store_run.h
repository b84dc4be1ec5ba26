// StoreRun: one seeded run of an engine in the crash world. Clients work while the network and they
// themselves fail; at some memory events the server's power is cut:
//
//   a cut    the server comes back with one of the images that the crash model allows, recovers,
//            and the world goes on; the recovery may be cut as well
//   a probe  the world does not notice: several images are taken, and each is recovered in a world
//            of its own, which may be cut once more, and all its keys are read
//
// In the end the network is whole and everything is read once more; when the store says that it has
// come to rest, all that it acknowledged must survive. What all clients saw is a history, which is
// held to the engine's promise.
//
// One run in seven has a harder life (hard_plan.h); among it
//
//   a kill   the server's process ends between two events, another one recovers what is seen, and
//            nothing that was acknowledged is lost; then the power may be cut, and takes what the
//            killed process left in the caches
//
// And where little lives in a world that is whole and at rest, puts of as much as the pool holds
// find room, one after another.
//
// All follows from the run. One thread.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "lab/crash/subject.h"
#include "lab/memory/images.h"
#include "lab/subjects/stores/load.h"
#include "lab/subjects/stores/plan.h"
#include "lab/subjects/stores/store_world.h"
#include "lab/subjects/stores/timed_load.h"
#include "lab/subjects/stores/witness.h"

namespace remora::lab {

// What runs came to, so that nobody takes a path for proven that no run took. Adds up.
struct Reached {
  std::uint64_t cleanings = 0;
  std::uint64_t cleaned_parts = 0;
  std::uint64_t given_up = 0;       // versions
  std::uint64_t by_worker = 0;      // versions
  std::uint64_t expired_keys = 0;   // deleted by the background
  std::uint64_t growths = 0;        // of the index
  std::uint64_t shrinks = 0;        // of the index
  std::uint64_t large_puts = 0;     // acknowledged
  std::uint64_t scans = 0;          // by clients at work
  std::uint64_t clears = 0;         // of all keys
  std::uint64_t timed_gets = 0;     // by natives
  std::uint64_t expired_gets = 0;   // of those, that came too late
  std::uint64_t timed_outages = 0;  // cuts, times keys that had a time
  std::uint64_t kills = 0;
  std::uint64_t cuts_after_kill = 0;
  std::uint64_t cuts_in_cleaning = 0;
  std::uint64_t filled = 0;            // puts that had to find room
  std::uint64_t together = 0;          // acknowledged writes of several keys
  std::uint64_t pool_growths = 0;      // acknowledged
  std::uint64_t cuts_in_growth = 0;    // of the pool
  std::uint64_t probes_in_growth = 0;  // the same

  Reached& operator+=(const Reached& other);
};

class StoreRun {
 public:
  // Engine, sites and count outlive it.
  StoreRun(const kv::Engine& engine, const CrashRun& run, SiteTable& sites, CrashCount& count);

  // Once. The first violation, or nothing.
  std::optional<CrashViolation> go();

  const Witness& witness() const { return witness_; }
  const StorePlan& plan() const { return plan_; }
  StoreWorld& world() { return world_; }
  const Reached& reached() const { return reached_; }
  // Of everything that happened in the world that goes on.
  std::uint64_t trace_hash() { return world_.loop().trace_hash(); }

 private:
  // An image that a cut at a moment of the past left.
  struct Captured {
    std::vector<std::byte> image;
    std::string moment;
    bool splits_line = false;
    std::uint64_t grown_bytes = 0;  // of the pool, as was acknowledged by then
  };

  void work();
  void rest();
  bool step();
  void cut();
  void restart_client(std::uint32_t client);

  // Harder lives (store_run_hard.cpp).
  void kill();
  bool is_cut_in_cleaning(const CrashEvent& event);
  bool is_time_to_kill(const CrashEvent& event);
  void expect_room(StoreWorld& world, Witness& witness, std::uint64_t live_bytes,
                   const std::string& after);
  // The pool grows (store_run_growth.cpp).
  void grow_on();
  bool is_cut_in_growth(const CrashEvent& event);
  bool is_probed_in_growth();
  void judge_growth(const StoreWorld& world, const std::string& after);
  // The store is about to go.
  void count_server();
  void count_load();

  void plan_trouble();
  void make_trouble();
  void mend();

  void on_memory_event(const CrashEvent& event);
  Captured capture(const CrashMemory& memory, const CrashEvent& event);
  void probe(const std::string& moment);
  void recover_elsewhere(ConstBytes image, const std::string& moment);

  // Whether it came to an end within the time.
  static bool run_until(StoreWorld& world, std::uint64_t span_ns, std::uint64_t most_events,
                        const std::function<bool()>& ended);
  void judge(const Witness& witness, const std::string& after);
  void report(std::string rule, std::string explanation, const std::string& after);

  const kv::Engine& engine_;
  const CrashRun run_;
  SiteTable& sites_;
  CrashCount& count_;
  Random random_;
  const StorePlan plan_;
  Witness witness_;
  std::deque<StoreWorld::Sight> sights_;  // before the world, whose flows use them
  StoreWorld::Growing growing_;           // the same
  StoreWorld world_;
  TimedLoad timed_;
  StoreLoad load_;
  Images images_;
  bool cutting_ = false;  // memory events may be cuts and probes
  std::optional<Captured> captured_;
  std::uint32_t cuts_left_;
  std::uint32_t probes_left_;
  std::uint32_t kills_left_;
  std::uint32_t cuts_in_cleaning_left_;
  bool to_kill_ = false;
  Random growth_random_;
  Reached reached_;
  std::uint64_t next_trouble_ns_ = never_ns;
  std::multimap<std::uint64_t, std::function<void()>> agenda_;
  bool splits_line_ = false;
  std::optional<CrashViolation> violation_;
};

}  // namespace remora::lab
