// Rivals under damage, counted apart from the campaign: their designs trust memory more than ours
// does, and what they serve wrongly is silent by design. One thing is held to: a value of an engine
// that claims to compute its checksum when it is read has been put under that key once.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/faults.h"
#include "kv/store.h"
#include "tests/corruption/campaign.h"
#include "tests/corruption/damage.h"

namespace remora::corruption {

enum class RivalOutcome : std::uint8_t {
  refused,   // the pool or the store was not opened
  damaged,   // some key was answered with a failure, all others rightly
  harmless,  // every answer was right
  lost,      // by design: an older version, or no such key
  garbled,   // by design: bytes that nobody has put
  broken,    // the program ended, or hung
  silent,    // bytes that nobody has put, and that the engine's checksum should have refused
};
inline constexpr std::size_t rival_outcome_count = 7;
std::string_view to_string(RivalOutcome outcome);

struct RivalCase {
  std::uint64_t number = 0;
  std::string rival;
  std::string image;
  Damage damage;
  bool while_it_serves = false;  // before it is opened, otherwise
  RivalOutcome outcome = RivalOutcome::harmless;
  std::string detail;
};

using RivalCounts = std::array<std::uint64_t, rival_outcome_count>;

struct RivalTally {
  std::vector<RivalCase> bad;  // silent, in order
  std::map<std::string, RivalCounts> by_rival;

  bool passed() const { return bad.empty(); }
};

// All engines that are not ours.
std::vector<const kv::Engine*> rivals();
// `count` corruptions of each, which are asked with the faults planted.
RivalTally run_rivals(const CampaignOptions& options,
                      const std::function<void(const RivalCase&)>& told,
                      const Faults& planted = Faults());
std::string as_table(const RivalTally& tally);

}  // namespace remora::corruption
