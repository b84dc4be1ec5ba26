#include "lab/workload/key_choice.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "lab/workload/chi_square.h"

namespace remora::workload {
namespace {

constexpr int draws_of_choice = 100'000;

std::vector<std::uint64_t> count_keys(const Distribution& distribution, const Inserts& inserts,
                                      std::uint64_t seed, std::uint64_t keys) {
  KeyChoice choice(distribution, inserts);
  Random random(seed);
  std::vector<std::uint64_t> counts(keys);
  for (int i = 0; i < draws_of_choice; ++i) {
    const std::uint64_t key = choice.draw(random);
    EXPECT_TRUE(inserts.exists(key));
    ++counts.at(key);
  }
  return counts;
}

// The share of every rank, measured by the Zipfian itself: zipfian_test holds that to theory.
std::vector<double> zipfian_shares(std::uint64_t items, double theta) {
  const Zipfian zipfian(items, theta);
  constexpr int steps = 2'000'000;
  std::vector<double> shares(items);
  for (int i = 0; i < steps; ++i) {
    shares[zipfian.rank_at((i + 0.5) / steps)] += 1.0 / steps;
  }
  return shares;
}

TEST(KeyChoice, uniform_is_uniform_over_loaded_and_inserted_keys) {
  Inserts inserts(80, 2);
  inserts.publish(0, 10);
  inserts.publish(1, 10);
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const auto counts = count_keys({Choice::uniform, 0}, inserts, seed, 100);
    EXPECT_LT(std::abs(excess_of(counts, std::vector<double>(100, 0.01))), 5) << seed;
  }
}

TEST(KeyChoice, zipfian_gives_each_scattered_rank_its_share) {
  const Inserts inserts(200, 1);
  const Scatter scatter(200);
  const std::vector<double> by_rank = zipfian_shares(200, 0.99);
  std::vector<double> shares(200);
  for (std::uint64_t rank = 0; rank < 200; ++rank) {
    shares[scatter.key_of(rank, 200)] = by_rank[rank];
  }
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const auto counts = count_keys({Choice::zipfian, 0.99}, inserts, seed, 200);
    EXPECT_LT(std::abs(excess_of(counts, shares)), 5) << seed;
  }
}

// YCSB's rule: the last key less a zipfian rank.
TEST(KeyChoice, latest_counts_back_from_the_newest_key) {
  std::vector<double> shares = zipfian_shares(200, 0.99);
  std::reverse(shares.begin(), shares.end());
  for (const std::uint32_t clients : {1u, 4u}) {
    Inserts inserts(160, clients);
    for (std::uint32_t client = 0; client < clients; ++client) {
      inserts.publish(client, 40 / clients);
    }
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      const auto counts = count_keys({Choice::latest, 0.99}, inserts, seed, 200);
      EXPECT_LT(std::abs(excess_of(counts, shares)), 5) << clients << " " << seed;
    }
  }
}

TEST(KeyChoice, latest_follows_the_inserts) {
  Inserts inserts(100, 1);
  KeyChoice choice({Choice::latest, 0.99}, inserts);
  Random random(1);
  for (std::uint64_t count = 0; count < 200; ++count) {
    inserts.publish(0, count);
    const std::uint64_t newest = 100 + count - 1;
    int hits = 0;
    for (int i = 0; i < 300; ++i) {
      const std::uint64_t key = choice.draw(random);
      ASSERT_LE(key, newest);
      hits += key == newest ? 1 : 0;
    }
    // Its share is 0.16 to 0.19.
    ASSERT_GT(hits, 20);
    ASSERT_LT(hits, 100);
  }
}

TEST(KeyChoice, names_no_absent_key_when_clients_insert_at_different_paces) {
  for (const Choice kind : {Choice::zipfian, Choice::uniform, Choice::latest}) {
    Inserts inserts(50, 3);
    KeyChoice choice({kind, 0.99}, inserts);
    Random random(2);
    std::uint64_t counts[3] = {};
    for (int step = 0; step < 20'000; ++step) {
      const auto client = static_cast<std::uint32_t>(random.below(10) == 0 ? 2 : 0);
      if (random.chance(1, 20)) {
        inserts.publish(client, ++counts[client]);
      }
      ASSERT_TRUE(inserts.exists(choice.draw(random)));
    }
    EXPECT_GT(counts[2], 0u);
  }
}

// A client that never inserts leaves no artificial hot spot behind.
TEST(KeyChoice, latest_stays_spread_when_one_client_inserts_nothing) {
  Inserts inserts(1'000, 2);
  inserts.publish(0, 100);
  const auto counts = count_keys({Choice::latest, 0.99}, inserts, 3, 1'200);
  const std::uint64_t most = *std::max_element(counts.begin(), counts.end());
  EXPECT_LT(static_cast<double>(most) / draws_of_choice, 1.1 / zeta(1'100, 0.99));
}

TEST(KeyChoice, draws_the_only_key) {
  const Inserts inserts(1, 1);
  Random random(4);
  for (const Choice kind : {Choice::zipfian, Choice::uniform, Choice::latest}) {
    KeyChoice choice({kind, 0.99}, inserts);
    EXPECT_EQ(choice.draw(random), 0u);
  }
}

}  // namespace
}  // namespace remora::workload
