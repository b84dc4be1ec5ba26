// Marks: how far each segment of the log is known to be persistent. Damage before a mark is
// noticed. Marks move on while the store serves. They pass what an earlier life has left when its
// checksums were verified.
//
// Two flows on the loop, which end when the medium fails.
#pragma once

#include <cstdint>

#include "host/committer.h"
#include "kv/efactory/catalogue.h"
#include "kv/efactory/verifier.h"
#include "runtime/task.h"

namespace remora::kv::efactory {

class Marks {
 public:
  // All outlive it.
  Marks(Catalogue& catalogue, Committer& commits, const Verifier& verifier, std::uint64_t every_ns);

  // The flows: the marks move on, and what recovery found is verified.
  Task<void> move_always();
  Task<void> verify_recovered();

  // An orderly stop: the marks move to where everything ends. Blocks.
  Status finish();
  // Of the keys that recovery found.
  std::uint64_t verified_keys() const;

 private:
  bool note_bounds();
  bool has_unsettled() const;
  Task<Status> move();
  Task<Status> tend_pool();
  Task<Status> verify_segment(const Segment& segment);

  Catalogue& catalogue_;
  const Host background_;
  Committer& commits_;
  const Verifier& verifier_;
  const std::uint64_t every_ns_;
  std::uint64_t verified_keys_ = 0;
  bool all_verified_ = false;
};

}  // namespace remora::kv::efactory
