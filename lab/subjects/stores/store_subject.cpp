#include "lab/subjects/stores/store_subject.h"

#include "lab/check/promise.h"
#include "lab/subjects/stores/store_run.h"

namespace remora::lab {
namespace {

class StoreWorker final : public CrashWorker {
 public:
  explicit StoreWorker(const kv::Engine& engine) : engine_(engine) {}

  std::optional<CrashViolation> run(const CrashRun& run, CrashCount& count) override {
    return StoreRun(engine_, run, sites_, count).go();
  }
  SiteTable& sites() override { return sites_; }

 private:
  const kv::Engine& engine_;
  SiteTable sites_;
};

}  // namespace

StoreSubject::StoreSubject(const kv::Engine& engine)
    : engine_(engine), promise_(to_text(engine.promise())) {}

std::unique_ptr<CrashWorker> StoreSubject::worker() const {
  return std::make_unique<StoreWorker>(engine_);
}

}  // namespace remora::lab
