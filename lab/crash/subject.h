// What is held to its promise by power cuts: an engine, seen by the harness. One harness serves all
// of them; a subject brings a workload, a model of what must survive, and the list of its planted
// bugs.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/descriptor.h"
#include "base/faults.h"
#include "kv/promise.h"
#include "lab/memory/distinct.h"
#include "lab/memory/platform.h"
#include "lab/memory/sites.h"
#include "pmem/region.h"

namespace remora {

// The platform settings of a campaign. What is left open is drawn by the seed of each run, or has
// the harshest value where only one makes sense.
struct CrashSettings {
  Domain domain = Domain::dmp;
  bool ddio = true;
  FlushMeaning flush = FlushMeaning::platform;
  std::optional<Granularity> granularity;  // open: cache line or page, by the seed
};

// One run: all it does follows from these.
struct CrashRun {
  std::uint64_t seed = 0;
  CrashSettings settings;
  Faults faults;
  // The promise that a store is held to, if not its own. Ignored by what is no store.
  std::optional<Promise> hold_to = std::nullopt;
};

// Which promise was broken, and how.
struct Broken {
  std::string rule;
  std::string explanation;
};

struct CrashViolation {
  std::uint64_t seed = 0;
  std::string platform;
  std::string rule;                // which promise was broken
  std::string explanation;         // what was expected, what was found, where the power was cut
  bool stricter_than_x86 = false;  // needs stores of one line to reach the medium in part
};

// What runs found; adds up over runs.
struct CrashCount {
  std::uint64_t cuts = 0;    // moments at which the power was cut
  std::uint64_t images = 0;  // images recovered from
  DistinctHashes distinct;   // of those images
};

// Runs one seed after another with buffers of its own. Used by one thread.
class CrashWorker {
 public:
  virtual ~CrashWorker() = default;

  // Adds to `count`. Returns the first violation and stops there, or nothing.
  virtual std::optional<CrashViolation> run(const CrashRun& run, CrashCount& count) = 0;

  // The persist sites that its runs passed, and the switch to mute one.
  virtual SiteTable& sites() = 0;
};

class CrashSubject {
 public:
  virtual ~CrashSubject() = default;

  virtual const Descriptor& descriptor() const = 0;
  std::string_view name() const { return descriptor().name; }
  std::span<const Fault* const> faults() const { return descriptor().faults; }
  virtual std::string_view promise() const = 0;  // in one sentence
  // The same for the checkers, of a store; nothing where the subject has a model of its own. What
  // has it can be held to another one (CrashRun::hold_to).
  virtual std::optional<Promise> store_promise() const { return std::nullopt; }
  virtual std::unique_ptr<CrashWorker> worker() const = 0;
  // Whether a persist call must be missed when it is muted; one that another subject answers for
  // need not be.
  bool owns(const SiteKey& site) const { return answers_for(descriptor(), site.file); }
};

}  // namespace remora
