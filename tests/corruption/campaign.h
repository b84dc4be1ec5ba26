// The campaign: seeded corruptions over every structure of pool and store, and how each of them was
// met. Silent before a mark is a failure; behind it is what a power cut may leave, and is counted.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tests/corruption/judge.h"

namespace remora::corruption {

struct Case {
  std::uint64_t number = 0;
  std::string image;
  Damage damage;
  Verdict verdict;
};

using Counts = std::array<std::uint64_t, outcome_count>;

struct Tally {
  std::vector<Case> bad;  // silent or broken, in order
  std::map<Structure, Counts> by_structure;
  std::map<Change, Counts> by_change;
  std::map<std::string, Counts> by_image;
  Counts all{};

  bool passed() const { return bad.empty(); }
};

struct CampaignOptions {
  std::uint64_t first = 0;  // number of the first
  std::uint64_t count = 1000;
  std::uint64_t seed = 1;
};

// Called after each.
using Told = std::function<void(const Case&)>;

Tally run_campaign(const CampaignOptions& options, const Told& told);
std::string as_table(const Tally& tally);
std::string as_json(const CampaignOptions& options, const Tally& tally);

}  // namespace remora::corruption
