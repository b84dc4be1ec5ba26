// LogLife: one power-on of a machine with an object log, and what the log may hold if the power
// goes now. It does what engines do with a log; cuts are its owner's business, by way of the
// memory's events.
#pragma once

#include <list>
#include <memory>
#include <optional>
#include <vector>

#include "base/random.h"
#include "kv/log/log.h"
#include "kv/log/log_testing.h"
#include "lab/crash/subject.h"
#include "lab/memory/crash_memory.h"
#include "lab/memory/crash_region.h"
#include "lab/subjects/log/log_damage.h"
#include "lab/subjects/log/log_model.h"
#include "pmem/pool.h"

namespace remora {

class LogLife {
 public:
  inline static constexpr std::uint64_t pool_bytes = 256 << 10;

  using Expected = ExpectedLog;
  struct Shared {
    std::uint64_t next_number = 1;  // no two objects have the same
  };

  LogLife(SiteTable& sites, Shared& shared);

  CrashMemory& memory() { return memory_; }

  // Power-on. Call before anything else, and again for the next life.
  void power_on(ConstBytes image, const Platform& platform, const Faults& faults,
                const ExpectedLog& expected, Random random);

  // Makes pool and store anew, on an image that is all zero.
  std::optional<Broken> create();
  // Recovers the store and holds it against what was expected. What was found is then what is
  // there.
  std::optional<Broken> recover();
  bool goes_on() const { return log_ != nullptr; }
  // Something that an engine does.
  std::optional<Broken> step();

  // What a cut at this moment may leave.
  ExpectedLog expectation() const;

 private:
  // A data pool as the model has it.
  struct ModelPool {
    std::list<LoggedObject> objects;
    bool ending = false;
    std::optional<Ticket> ended;  // none before the transaction returns
  };

  ExpectedObject expected(const LoggedObject& object) const;
  bool persistent(const std::optional<Ticket>& ticket) const {
    return ticket && memory_.persistent(*ticket);
  }
  template <typename Visit>
  void for_each_ticket(const Visit& visit);

  std::optional<Broken> append();
  std::optional<Broken> change_word();
  std::optional<Broken> clean();
  std::optional<Broken> end_old_pool();
  std::optional<Broken> commit_something();
  // Marks: what is undecided is noted, and when that is persistent the marks move.
  std::optional<Broken> move_marks();
  // The store is left as a program of version 2 leaves it, and its machine stands still.
  std::optional<Broken> downgrade();
  std::optional<Broken> damage_something(const std::vector<FoundObject>& found);
  void seal();
  LoggedObject* any_object();

  Shared& shared_;
  CrashMemory memory_;
  std::optional<CrashRegion> region_;
  std::unique_ptr<VirtualLoop> loop_;
  kv::NoDevice device_;
  std::unique_ptr<Pool> pool_;
  std::unique_ptr<kv::Log> log_;
  Random random_{0};
  Faults faults_;
  ExpectedLog expected_;
  Ticket last_;
  std::optional<Ticket> noted_;  // when the marks may move
  LogDamage damage_{pool_bytes};
  std::list<ModelPool> pools_;  // those that may be found; while cleaning the last is the next one
  ModelPool* current_ = nullptr;  // of pools_
  ModelPool* next_ = nullptr;     // of pools_, while a cleaning is under way
};

}  // namespace remora
