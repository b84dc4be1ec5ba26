// Scrubber: computes the checksum of everything that lives, again and again, so that what the
// medium has lost is known before somebody needs it. By itself it takes its time: a few versions at
// once, and long pauses. When somebody asks for a pass, it goes as fast as requests let it.
//
// One flow on the loop.
#pragma once

#include <cstdint>
#include <optional>

#include "kv/efactory/catalogue.h"
#include "runtime/event.h"
#include "runtime/runtime.h"
#include "runtime/task.h"

namespace remora::kv::efactory {

class Scrubber {
 public:
  // A pass takes so long if nobody asks for one; 0: then there is none.
  Scrubber(Catalogue& catalogue, std::uint64_t pass_ns);

  // The flow; it does not end.
  Task<void> scrub();
  // Begins a pass, unless one that somebody has asked for is under way.
  void hurry();

  struct Tally {
    std::uint64_t reached = 0;  // keys of this pass
    std::uint64_t damaged = 0;  // of these
    std::uint64_t objects = 0;  // of all passes
    std::uint64_t passes = 0;   // that came to their end
    std::uint64_t last_keys = 0;
    std::uint64_t last_damaged = 0;
    std::uint64_t last_end_ms = 0;  // since 1970
  };
  const Tally& tally() const { return tally_; }

 private:
  void look();
  Task<void> pause();
  void end_pass();

  Catalogue& catalogue_;
  const Host background_;
  const std::uint64_t pass_ns_;
  Tally tally_;
  Tag from_ = 0;
  bool hurried_ = false;     // somebody asked for a pass, which is under way
  std::uint64_t looks_ = 1;  // until the next pause
  Sleep* pause_ = nullptr;
  std::optional<Event> asked_;
};

}  // namespace remora::kv::efactory
