#include "lab/calls/calls_subject.h"

#include "lab/calls/calls_run.h"
#include "rpc/calls/design.h"

namespace remora::lab {

namespace {

class CallsWorker final : public CrashWorker {
 public:
  explicit CallsWorker(bool receiver_flushes) : receiver_flushes_(receiver_flushes) {}

  std::optional<CrashViolation> run(const CrashRun& run, CrashCount& count) override {
    return CallsRun(run, receiver_flushes_, sites_, count).go();
  }
  SiteTable& sites() override { return sites_; }

 private:
  const bool receiver_flushes_;
  SiteTable sites_;
};

}  // namespace

std::unique_ptr<CrashWorker> CallsSubject::worker() const {
  return std::make_unique<CallsWorker>(receiver_flushes_);
}

const CrashSubject& wflush_rpc_subject() {
  static const CallsSubject subject(rpc::calls::wflush_rpc, false);
  return subject;
}

const CrashSubject& w_rflush_rpc_subject() {
  static const CallsSubject subject(rpc::calls::w_rflush_rpc, true);
  return subject;
}

}  // namespace remora::lab
