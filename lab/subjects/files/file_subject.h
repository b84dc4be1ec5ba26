// Files held to their promise: names and bytes, orphans and long changes, under power cuts in lives
// within lives. The model of names (posix_tree.h) and that of bytes (file_contents.h) share no code
// with src/file.
#pragma once

#include "lab/crash/subject.h"

namespace remora::lab {

class FileSubject final : public CrashSubject {
 public:
  const Descriptor& descriptor() const override;
  std::string_view promise() const override {
    return "changes of names are atomic and survive in order; synced bytes survive, others are old "
           "or new; a size is never ahead of its bytes; nothing else ever shows, and no space "
           "leaks";
  }
  std::unique_ptr<CrashWorker> worker() const override;
};

}  // namespace remora::lab
