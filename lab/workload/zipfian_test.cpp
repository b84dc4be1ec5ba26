#include "lab/workload/zipfian.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "lab/workload/chi_square.h"

namespace remora::workload {
namespace {

constexpr double thetas[] = {0, 0.5, 0.9, 0.99, 0.999};

double slow_zeta(std::uint64_t items, double theta) {
  double sum = 0;
  for (std::uint64_t i = items; i > 0; --i) {
    sum += std::pow(static_cast<double>(i), -theta);
  }
  return sum;
}

// What the k first ranks have together, for every k: by the true law, and by the formula of Gray et
// al., which the Zipfian inverts.
std::vector<double> true_prefixes(std::uint64_t items, double theta) {
  std::vector<double> prefixes = {0};
  for (std::uint64_t i = 1; i <= items; ++i) {
    prefixes.push_back(prefixes.back() + std::pow(static_cast<double>(i), -theta));
  }
  const double all = prefixes.back();
  for (double& prefix : prefixes) {
    prefix /= all;
  }
  return prefixes;
}

std::vector<double> formula_prefixes(std::uint64_t items, double theta) {
  std::vector<double> prefixes = true_prefixes(items, theta);
  const auto n = static_cast<double>(items);
  const double eta = (1 - std::pow(2 / n, 1 - theta)) / (1 - prefixes[2]);
  for (std::uint64_t k = 3; k <= items; ++k) {
    prefixes[k] = 1 + (std::pow(static_cast<double>(k) / n, 1 - theta) - 1) / eta;
  }
  return prefixes;
}

std::vector<double> shares_by_formula(std::uint64_t items, double theta) {
  const std::vector<double> prefixes = formula_prefixes(items, theta);
  std::vector<double> shares;
  for (std::uint64_t rank = 0; rank < items; ++rank) {
    shares.push_back(prefixes[rank + 1] - prefixes[rank]);
  }
  return shares;
}

std::vector<std::uint64_t> count_ranks(const Zipfian& zipfian, std::uint64_t seed, int draws) {
  Random random(seed);
  std::vector<std::uint64_t> counts(zipfian.items());
  for (int i = 0; i < draws; ++i) {
    ++counts[zipfian.draw(random)];
  }
  return counts;
}

TEST(Zeta, is_the_sum_of_all_terms) {
  for (const double theta : thetas) {
    for (const std::uint64_t items : {1u, 2u, 999u, 1'000u, 1'001u, 1'002u, 54'321u}) {
      const double right = slow_zeta(items, theta);
      EXPECT_NEAR(zeta(items, theta), right, right * 1e-11) << items << " " << theta;
    }
  }
}

// The constant that YCSB has in its source for 10^10 items.
TEST(Zeta, agrees_with_the_published_sum_of_ten_billion_terms) {
  EXPECT_NEAR(zeta(10'000'000'000, 0.99), 26.46902820178302, 1e-6);
}

TEST(Zipfian, follows_its_formula_over_seeds) {
  for (const double theta : thetas) {
    const Zipfian zipfian(300, theta);
    const std::vector<double> shares = shares_by_formula(300, theta);
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      EXPECT_LT(std::abs(excess_of(count_ranks(zipfian, seed, 100'000), shares)), 5)
          << "theta " << theta << " seed " << seed;
    }
  }
}

// The check above would notice another theta.
TEST(Zipfian, is_told_apart_from_a_neighbouring_theta) {
  const std::vector<double> shares = shares_by_formula(300, 0.99);
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    EXPECT_GT(excess_of(count_ranks(Zipfian(300, 0.95), seed, 100'000), shares), 5) << seed;
  }
}

// The two first ranks have the share of the true law, within four standard deviations.
TEST(Zipfian, gives_the_two_first_ranks_their_true_share) {
  constexpr int draws = 200'000;
  for (const std::uint64_t items : {10u, 1'000u, 100'000u}) {
    const double all = slow_zeta(items, 0.99);
    const Zipfian zipfian(items, 0.99);
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      const std::vector<std::uint64_t> counts = count_ranks(zipfian, seed, draws);
      for (const std::uint64_t rank : {0u, 1u}) {
        const double share = std::pow(static_cast<double>(rank + 1), -0.99) / all;
        EXPECT_NEAR(static_cast<double>(counts[rank]), share * draws,
                    4 * std::sqrt(draws * share * (1 - share)))
            << "items " << items << " seed " << seed << " rank " << rank;
      }
    }
  }
}

// How good the formula itself is beside the true law.
TEST(Zipfian, has_no_prefix_of_ranks_off_by_more_than_two_hundredths) {
  for (const double theta : {0.5, 0.9, 0.99}) {
    for (const std::uint64_t items : {100u, 10'000u, 100'000u}) {
      const std::vector<double> right = true_prefixes(items, theta);
      const std::vector<double> drawn = formula_prefixes(items, theta);
      double worst = 0;
      for (std::size_t k = 0; k <= items; ++k) {
        worst = std::max(worst, std::abs(drawn[k] - right[k]));
      }
      EXPECT_LT(worst, 0.02) << "theta " << theta << " items " << items;
    }
  }
}

TEST(Zipfian, rises_with_the_uniform_number_and_reaches_both_ends) {
  for (const double theta : thetas) {
    for (const std::uint64_t items : {1u, 2u, 3u, 4u, 100u}) {
      const Zipfian zipfian(items, theta);
      std::uint64_t last = 0;
      for (int i = 0; i < 10'000; ++i) {
        const std::uint64_t rank = zipfian.rank_at(i * 1e-4);
        ASSERT_GE(rank, last);
        ASSERT_LT(rank, items);
        last = rank;
      }
      EXPECT_EQ(zipfian.rank_at(0), 0u);
      EXPECT_EQ(zipfian.rank_at(1 - 0x1p-53), items - 1) << items << " " << theta;
    }
  }
}

TEST(Zipfian, grown_equals_made_at_once) {
  for (const std::uint64_t step : {1u, 7u, 500u}) {
    Zipfian grown(5, 0.99);
    for (std::uint64_t items = 5; items < 3'000; items += step) {
      grown.grow(items);
    }
    const Zipfian made(grown.items(), 0.99);
    Random random(step);
    for (int i = 0; i < 10'000; ++i) {
      const double uniform = random.unit();
      ASSERT_EQ(grown.rank_at(uniform), made.rank_at(uniform)) << "step " << step;
    }
  }
}

TEST(Zipfian, follows_its_formula_after_growing) {
  Zipfian zipfian(100, 0.99);
  for (std::uint64_t items = 101; items <= 300; ++items) {
    zipfian.grow(items);
  }
  EXPECT_LT(std::abs(excess_of(count_ranks(zipfian, 1, 100'000), shares_by_formula(300, 0.99))), 5);
}

TEST(ZipfianDeathTest, shrinking_is_a_bug) {
  Zipfian zipfian(10, 0.99);
  EXPECT_DEATH(zipfian.grow(9), "never shrinks");
}

TEST(ZipfianDeathTest, a_theta_of_one_is_a_bug) {
  EXPECT_DEATH(Zipfian(10, 1), "theta lies between");
}

}  // namespace
}  // namespace remora::workload
