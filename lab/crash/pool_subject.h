// The pool held to its promise: allocator, roots, log and recovery under power cuts, in lives
// within lives. A life starts from an image, recovers, and goes on with more transactions; at its
// events the power is cut, and each image that may be left starts a life of its own one level
// deeper. So cuts during recovery, and during the recovery from that, are the same thing.
#pragma once

#include "lab/crash/subject.h"

namespace remora {

class PoolSubject final : public CrashSubject {
 public:
  const Descriptor& descriptor() const override;
  std::string_view promise() const override {
    return "a transaction whose ticket is persistent survives; every other one happened wholly or "
           "not at all; nothing is torn and no space leaks";
  }
  std::unique_ptr<CrashWorker> worker() const override;
};

}  // namespace remora
