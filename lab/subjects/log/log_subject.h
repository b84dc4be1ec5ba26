// The object log held to its promise, in lives within lives: each image that a cut may leave is
// recovered, goes on, and has power cuts of its own.
#pragma once

#include "lab/crash/subject.h"

namespace remora {

class LogSubject final : public CrashSubject {
 public:
  const Descriptor& descriptor() const override;
  std::string_view promise() const override {
    return "an object whose ticket is persistent is found again with its bytes; a data pool ends "
           "as a "
           "whole; nothing dead comes back";
  }
  std::unique_ptr<CrashWorker> worker() const override;
};

}  // namespace remora
