// A store engine held to its promise: clients, power cuts, recoveries and a network that fails, by
// seed (store_run.h).
#pragma once

#include <string>

#include "kv/store.h"
#include "sim/crash/subject.h"

namespace remora::sim {

class StoreSubject final : public CrashSubject {
 public:
  explicit StoreSubject(const kv::Engine& engine);

  std::string_view name() const override { return engine_.name(); }
  std::string_view promise() const override { return promise_; }
  std::span<const Fault* const> faults() const override { return engine_.faults(); }
  std::unique_ptr<CrashWorker> worker() const override;
  // Those of the engine and of what it stands on, down to the object log; the pool below has a
  // campaign of its own.
  bool owns(const SiteKey& site) const override;

 private:
  const kv::Engine& engine_;
  const std::string promise_;
};

}  // namespace remora::sim
