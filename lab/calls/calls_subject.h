// Durable calls held to their promise: callers that live through power cuts, recoveries and a
// network that fails, by seed (calls_run.h). One subject for each design.
#pragma once

#include "lab/crash/subject.h"

namespace remora::lab {

class CallsSubject final : public CrashSubject {
 public:
  // Of one of rpc::calls::designs().
  explicit CallsSubject(const Descriptor& design, bool receiver_flushes)
      : design_(design), receiver_flushes_(receiver_flushes) {}

  const Descriptor& descriptor() const override { return design_; }
  std::string_view promise() const override {
    return "a call that was told to be persistent, or answered, runs exactly once, in the order of "
           "its key, untorn, with the result that was told; others run once or never";
  }
  std::unique_ptr<CrashWorker> worker() const override;

 private:
  const Descriptor& design_;
  const bool receiver_flushes_;
};

// WFlush-RPC and W-RFlush-RPC.
const CrashSubject& wflush_rpc_subject();
const CrashSubject& w_rflush_rpc_subject();

}  // namespace remora::lab
