// Doubt: the words of which a power cut at this moment may leave one value or another, and the
// values that each may have.
//
// Which values can a word have after the cut? On `dmp` and on page media:
//   - the durable value, if nothing newer arrives;
//   - the value in any snapshot that is on its way (flushed and not drained, or in a running
//     commit) and was taken later than the durable value was read: an older one can no longer
//     arrive, since the medium never goes back;
//   - the visible value, since a dirty word may be written back at any time;
//   - what inbound writes make of the visible value: each may be placed, and then written back,
//     before the lights go out. Writes of one queue pair come in its order; between queue pairs,
//     in any.
// A value that a CPU store replaced before any event is not among them: it was never seen here.
// On `mhp`: the visible value, and what inbound writes make of it. On `wsp`: the same, but every
// acknowledged inbound write has been placed.
//
// Words are independent of each other; equal values are listed once. A word with a single value is
// not in doubt.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lab/memory/inbound.h"
#include "lab/memory/platform.h"
#include "lab/memory/two_images.h"

namespace remora {

// A line on x86 goes to the medium whole. The versions of a line are: as it is on the medium (bit
// 0), as each of its snapshots on the way has it (bits 1 to 62, in time order), as it is visible
// (bit 63). A candidate has the bit of every version that gives its word this value. Words written
// by DMA are bound to no version and have all bits.
struct Candidate {
  std::uint64_t value = 0;
  std::uint64_t versions = 0;
};

struct WordInDoubt {
  WordIndex word = 0;
  std::uint32_t first = 0;  // candidate
  std::uint32_t count = 0;  // at least 2
  std::uint32_t kept = 0;   // which candidate is the newest value; candidate 0 is the oldest
};

struct LineInDoubt {
  std::uint32_t first = 0;      // word in doubt
  std::uint32_t count = 0;      // of words in doubt
  std::uint32_t snapshots = 0;  // versions besides the durable and the visible one
};

struct CertainWord {
  WordIndex word = 0;
  std::uint64_t value = 0;
};

// Reusable: finding doubt again allocates nothing once the vectors have grown.
struct Doubt {
  std::vector<WordInDoubt> words;  // ascending
  std::vector<LineInDoubt> lines;  // ascending; they cover `words`
  std::vector<Candidate> candidates;
  // Words that are certain, and yet differ from the image that the domain keeps (`wsp`:
  // acknowledged and not placed).
  std::vector<CertainWord> certain;

  std::span<const Candidate> of(const WordInDoubt& word) const {
    return std::span(candidates).subspan(word.first, word.count);
  }

  // How many images there are, or `limit` + 1 if they are more than `limit`.
  std::uint64_t combinations(std::uint64_t limit) const;
};

// What doubt is found in, and the room to sort it.
class DoubtFinder {
 public:
  // More values than this for one word are cut short: the first ones and the newest stay.
  static constexpr std::size_t max_candidates = 32;

  // Snapshots must stay where they are until find() returns.
  void add(std::span<const LineSnapshot> on_the_way);

  // Fills `out`, and forgets the snapshots. `platform` is the one in force.
  void find(const TwoImages& images, const Inbound& inbound, const Platform& platform, Doubt& out);

 private:
  using Snapshots = std::span<const LineSnapshot* const>;
  using Arrivals = std::span<const InboundWord>;

  void gather(const TwoImages& images, const Inbound& inbound, bool caches_are_lost);
  void find_in_line(LineIndex line, Snapshots snapshots, Doubt& out);
  void add_stored(WordIndex word, Snapshots snapshots);
  void add_arrivals(std::uint64_t below, Arrivals arrivals, bool acknowledged_are_kept);
  void close_word(WordIndex word, Doubt& out);
  // Past max_candidates only what must not be missing is added.
  void add_value(std::uint64_t value, std::uint64_t versions, bool must = false);
  template <typename Items, typename Mine>
  static Items take_while(Items& rest, Mine mine);

  const TwoImages* images_ = nullptr;
  const Inbound* inbound_ = nullptr;
  Platform platform_;
  std::vector<const LineSnapshot*> snapshots_;
  std::vector<InboundWord> arrivals_;
  Arrivals arrivals_left_;
  std::vector<LineIndex> lines_;
  std::vector<Candidate> values_;  // of the word at hand
  std::uint64_t newest_ = 0;       // value of the word at hand
};

}  // namespace remora
