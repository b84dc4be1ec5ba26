// A store engine held to its promise: clients, power cuts, recoveries and a network that fails, by
// seed (store_run.h).
#pragma once

#include <string>

#include "kv/store.h"
#include "lab/crash/subject.h"

namespace remora::lab {

class StoreSubject final : public CrashSubject {
 public:
  explicit StoreSubject(const kv::Engine& engine);

  const Descriptor& descriptor() const override { return engine_.descriptor(); }
  std::string_view promise() const override { return promise_; }
  std::optional<Promise> store_promise() const override { return engine_.promise(); }
  std::unique_ptr<CrashWorker> worker() const override;

 private:
  const kv::Engine& engine_;
  const std::string promise_;
};

}  // namespace remora::lab
