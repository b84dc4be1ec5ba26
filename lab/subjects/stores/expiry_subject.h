// Keys with a time held to their promise by power cuts (expiry_run.h).
#pragma once

#include "lab/crash/subject.h"

namespace remora::lab {

class ExpirySubject final : public CrashSubject {
 public:
  const Descriptor& descriptor() const override;
  std::string_view promise() const override {
    return "a key is not there once its time has come, and no older version of it is, whatever the "
           "clock says after a cut; what survives has the time that it was put with";
  }
  std::unique_ptr<CrashWorker> worker() const override;
};

// What a run with these settings has for a medium.
Platform expiry_platform(const CrashRun& run);

}  // namespace remora::lab
