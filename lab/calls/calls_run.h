// CallsRun: one seeded run of durable calls in the crash world. Callers work while the network and
// they themselves fail; at some memory events the server's power is cut:
//
//   a cut    the server comes back with one of the images that the crash model allows, recovers,
//   and
//            the callers resume their sessions; the recovery may be cut as well
//   a probe  the world does not notice: several images are taken, each is recovered in a world of
//   its
//            own, which may be cut once more on the way, and all calls that its logs hold run
//   a kill   the server's process ends between two events; what is visible stays so
//
// In the end the network is whole, every call is answered, and the lists are looked at. What
// callers were told and what the lists show is held to lab/check/calls.h.
//
// All follows from the run. One thread.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lab/calls/calls_load.h"
#include "lab/calls/calls_plan.h"
#include "lab/calls/calls_world.h"
#include "lab/crash/subject.h"
#include "lab/memory/images.h"

namespace remora::lab {

// What runs came to, so that nobody takes a path for proven that no run took. Adds up.
struct CallsReached {
  rpc::calls::CallCounters server;
  std::uint64_t cuts = 0;  // that callers lived through
  std::uint64_t cuts_in_recovery = 0;
  std::uint64_t kills = 0;
  std::uint64_t deaths = 0;  // of callers
  std::uint64_t rejoined = 0;
  std::uint64_t told_persistent = 0;
  std::uint64_t told_by_receiver = 0;
  std::uint64_t answered = 0;
  std::uint64_t slowed_down = 0;
  std::uint64_t ordered_runs = 0;
  std::uint64_t runs_on_one_host = 0;

  CallsReached& operator+=(const CallsReached& other);
};

class CallsRun {
 public:
  // Sites and count outlive it.
  CallsRun(const CrashRun& run, bool receiver_flushes, SiteTable& sites, CrashCount& count);

  // Once. The first violation, or nothing.
  std::optional<CrashViolation> go();

  const CallsReached& reached() const { return reached_; }
  std::uint64_t trace_hash() { return world_.loop().trace_hash(); }

 private:
  struct Captured {
    std::vector<std::byte> image;
    std::string moment;
    bool splits_line = false;
  };

  void work();
  void rest();
  bool step();
  void cut();
  void kill();
  void restart_caller(std::uint32_t caller);
  void plan_trouble();
  void make_trouble();
  void mend();
  void on_memory_event(const CrashEvent& event);
  Captured capture(const CrashMemory& memory, const CrashEvent& event);
  void probe(const std::string& moment);
  void recover_elsewhere(ConstBytes image, const std::string& moment);
  void count_server(CallsWorld& world);
  static bool run_until(CallsWorld& world, std::uint64_t span_ns,
                        const std::function<bool()>& ended);
  void judge(CallsWorld& world, const std::string& after);
  void report(std::string rule, std::string explanation, const std::string& after);

  const CrashRun run_;
  SiteTable& sites_;
  CrashCount& count_;
  Random random_;
  const CallsPlan plan_;
  CallsWorld world_;
  CallsLoad load_;
  bool cutting_ = false;
  std::optional<Captured> captured_;
  std::uint32_t cuts_left_;
  std::uint32_t probes_left_;
  std::uint32_t kills_left_;
  bool to_kill_ = false;
  CallsReached reached_;
  std::uint64_t next_trouble_ns_ = never_ns;
  std::multimap<std::uint64_t, std::function<void()>> agenda_;
  bool splits_line_ = false;
  std::optional<CrashViolation> violation_;
};

}  // namespace remora::lab
