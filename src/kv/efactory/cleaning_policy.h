// CleaningPolicy: when the log is cleaned, and what of it. The cleaner (cleaner.h) carries out what
// is decided here.
//
// Most of what lies in old segments was overwritten since. Segments of which little lives are freed
// at the price of few copies, where a cleaning of all copies whatever lives. Where there is no room
// for copies of all that lives, the segments that hold least go first, as many as there is room
// for: a server that was killed while it cleaned has left originals and copies, and a store may
// hold nearly half of its space.
//
// It is asked between cleanings. One thread. What it is handed outlives it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "kv/efactory/catalogue.h"
#include "kv/efactory/cleaning_room.h"

namespace remora::kv::efactory {

class CleaningPolicy {
 public:
  // A segment, and about how much of it lives.
  struct Worth {
    Segment segment;
    std::uint64_t living_bytes = 0;
  };
  struct Plan {
    enum class What : std::uint8_t {
      all,
      cheap,  // segments of which little lives
      least,  // segments that hold least, since there is no room for more
    };
    What what = What::all;
    std::vector<Worth> segments;  // those that hold least first; none where all goes
  };

  CleaningPolicy(const Catalogue& catalogue, const CleaningRoom& room,
                 const ServerOptions& options);

  // Whether a cleaning is due, if it is worth it.
  bool wants_cleaning() const;
  // What to clean; nothing, if there turns out to be nothing that pays.
  std::optional<Plan> choose();
  // A put found no space: cleaning must not wait, and need not be gentle.
  void press() { is_pressed_ = true; }
  bool is_pressed() const { return is_pressed_; }

  // A cleaning of a part has copied so much, and so much may go.
  void weigh_part(std::uint64_t copied_bytes, std::uint64_t gone_bytes);
  void ended(const Plan& plan, const Status& status);
  // Segments went in which nothing was left.
  void freed();

  // Cleanings that came to their end.
  std::uint64_t cleaned() const { return cleaned_; }
  std::uint64_t cleaned_parts() const { return cleaned_parts_; }

 private:
  // What the last cleaning tells of the next one.
  enum class Next : std::uint8_t {
    any,    // what is cheap, else all
    parts,  // all found too little room
    all,    // a part would cost more, or cannot be cleaned
  };

  bool is_worthwhile() const;
  bool must_clean() const;
  bool is_told_to_clean() const;
  // Whether it is time to look for segments that are cheap to clean.
  bool looks_for_cheap() const;
  bool may_be_cheap() const;
  // Those, if they are enough.
  std::vector<Worth> cheap_segments();
  // To which no versions are appended, and of which no more lives than that, in percent; those that
  // hold least first.
  std::vector<Worth> closed_segments(std::uint64_t most_living) const;

  const Catalogue& catalogue_;
  const CleaningRoom& room_;
  const Cleaning mode_;
  const std::uint32_t clean_at_percent_;
  const bool clean_always_;
  bool is_pressed_ = false;
  Next next_;
  bool last_was_part_ = false;
  std::uint64_t look_again_bytes_ = 0;  // of segments, for cheap ones
  std::uint64_t used_after_clean_ = 0;
  std::uint64_t live_after_clean_ = 0;
  std::uint64_t cleaned_ = 0;
  std::uint64_t cleaned_parts_ = 0;
};

}  // namespace remora::kv::efactory
