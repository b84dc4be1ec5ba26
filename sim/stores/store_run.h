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
// All follows from the run. One thread.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "sim/crash/subject.h"
#include "sim/memory/images.h"
#include "sim/stores/load.h"
#include "sim/stores/plan.h"
#include "sim/stores/store_world.h"
#include "sim/stores/witness.h"

namespace remora::sim {

class StoreRun {
 public:
  // Engine, sites and count outlive it.
  StoreRun(const kv::Engine& engine, const CrashRun& run, SiteTable& sites, CrashCount& count);

  // Once. The first violation, or nothing.
  std::optional<CrashViolation> go();

  const Witness& witness() const { return witness_; }
  const StorePlan& plan() const { return plan_; }
  StoreWorld& world() { return world_; }
  // Of everything that happened in the world that goes on.
  std::uint64_t trace_hash() { return world_.loop().trace_hash(); }

 private:
  // An image that a cut at a moment of the past left.
  struct Captured {
    std::vector<std::byte> image;
    std::string moment;
    bool splits_line = false;
  };

  void work();
  void rest();
  bool step();
  void cut();
  void restart_client(std::uint32_t client);

  void plan_trouble();
  void make_trouble();
  void mend();

  void on_memory_event(const CrashEvent& event);
  Captured capture(const CrashMemory& memory, const CrashEvent& event);
  void probe(const std::string& moment);
  void recover_elsewhere(ConstBytes image, const std::string& moment);

  // Whether it came to an end within the time.
  template <typename Ended>
  bool run_until(StoreWorld& world, std::uint64_t span_ns, const Ended& ended);
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
  StoreWorld world_;
  StoreLoad load_;
  Images images_;
  bool cutting_ = false;  // memory events may be cuts and probes
  std::optional<Captured> captured_;
  std::uint32_t cuts_left_;
  std::uint32_t probes_left_;
  std::uint64_t next_trouble_ns_ = never_ns;
  std::multimap<std::uint64_t, std::function<void()>> agenda_;
  bool splits_line_ = false;
  std::optional<CrashViolation> violation_;
};

}  // namespace remora::sim
