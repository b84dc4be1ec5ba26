// LogDamage: a machine beside the others, where one thing of a log is damaged that lies before a
// mark. Recovery must notice: it refuses the log, or finds what it found before (a record of the
// pool's log can mend a word of the superblock).
#pragma once

#include <optional>
#include <vector>

#include "base/random.h"
#include "lab/crash/subject.h"
#include "lab/memory/crash_memory.h"
#include "lab/subjects/log/log_model.h"

namespace remora {

class LogDamage {
 public:
  explicit LogDamage(std::uint64_t pool_bytes)
      : memory_(pool_bytes, Platform{}, Random(0)), image_(pool_bytes) {}

  // `found` is what recovery found in the image, `before` which of it lies before the marks.
  std::optional<Broken> try_one(ConstBytes image, const Platform& platform, const Faults& faults,
                                const std::vector<FoundObject>& found,
                                const std::vector<FoundObject>& before, Offset superblock,
                                Random random);

 private:
  CrashMemory memory_;
  std::vector<std::byte> image_;
};

}  // namespace remora
