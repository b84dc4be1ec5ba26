// Keys with a time, held to their promise by power cuts; and mistakes with times, which are
// noticed.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>

#include "kv/efactory/engine.h"
#include "kv/efactory/faults.h"
#include "sim/stores/expiry_run.h"

namespace remora::sim {
namespace {

constexpr std::uint64_t usual_seeds = 60;

std::uint64_t seeds_of_campaign() {
  const char* given = std::getenv("REMORA_EXPIRY_SEEDS");
  return given == nullptr ? usual_seeds : std::strtoull(given, nullptr, 10);
}

Platform platform_of(std::uint64_t seed) {
  Platform platform;
  platform.granularity = seed % 2 == 0 ? Granularity::page : Granularity::cache_line;
  platform.ddio = seed % 4 < 2;
  return platform;
}

// The first violation of so many seeds, in words.
std::optional<std::string> first_violation(const Faults& faults, std::uint64_t most_seeds) {
  for (std::uint64_t seed = 1; seed <= most_seeds; ++seed) {
    SiteTable sites;
    ExpiryRun run(kv::efactory::engine(), platform_of(seed), faults, seed, sites);
    if (const std::optional<std::string> violation = run.go()) {
      return "seed " + std::to_string(seed) + ": " + *violation;
    }
  }
  return std::nullopt;
}

TEST(ExpiryCrash, expired_keys_stay_away_and_times_are_kept) {
  const std::uint64_t expiry_seeds = seeds_of_campaign();
  std::uint64_t cuts = 0;
  std::uint64_t kept_times = 0;
  std::uint64_t stayed_away = 0;
  std::uint64_t set_back = 0;
  std::uint64_t cleanings = 0;
  std::uint64_t forgotten = 0;
  for (std::uint64_t seed = 1; seed <= expiry_seeds; ++seed) {
    SiteTable sites;
    ExpiryRun run(kv::efactory::engine(), platform_of(seed), Faults(), seed, sites);
    const std::optional<std::string> violation = run.go();
    ASSERT_FALSE(violation) << "seed " << seed << ": " << *violation;
    cuts += run.cuts();
    kept_times += run.kept_times();
    stayed_away += run.stayed_away();
    set_back += run.set_back();
    cleanings += run.cleanings();
    forgotten += run.forgotten();
  }
  EXPECT_GT(cuts, expiry_seeds / 2);
  EXPECT_GT(kept_times, expiry_seeds / 2);
  EXPECT_GT(stayed_away, expiry_seeds / 4);
  EXPECT_GT(set_back, expiry_seeds / 8);
  EXPECT_GT(cleanings, expiry_seeds);
  EXPECT_GT(forgotten, expiry_seeds);
  std::cout << cuts << " cuts; " << kept_times << " times kept, " << stayed_away
            << " expired keys stayed away, " << set_back << " by an older clock; " << cleanings
            << " cleanings, " << forgotten << " keys forgotten\n";
}

class ExpiryMistakes : public testing::TestWithParam<const Fault*> {};

INSTANTIATE_TEST_SUITE_P(faults, ExpiryMistakes, testing::ValuesIn(kv::efactory::faults::of_times),
                         [](const testing::TestParamInfo<const Fault*>& param) {
                           std::string name(param.param->name);
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST_P(ExpiryMistakes, are_noticed) {
  const std::optional<std::string> violation =
      first_violation(Faults(*GetParam()), 4 * usual_seeds);
  EXPECT_TRUE(violation) << GetParam()->name;
  std::cout << violation.value_or("") << "\n";
}

}  // namespace
}  // namespace remora::sim
