#include "lab/workload/inserts.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "base/random.h"

namespace remora::workload {
namespace {

TEST(Inserts, clients_never_share_a_number) {
  const Inserts inserts(10, 3);
  std::set<std::uint64_t> seen;
  for (std::uint32_t client = 0; client < 3; ++client) {
    for (std::uint64_t index = 0; index < 100; ++index) {
      const std::uint64_t key = inserts.number(client, index);
      EXPECT_TRUE(seen.insert(key).second);
      EXPECT_EQ(inserts.client_of(key), client);
      EXPECT_EQ(inserts.index_of(key), index);
    }
  }
  EXPECT_EQ(*seen.begin(), 10u);
  EXPECT_EQ(*seen.rbegin(), 309u);
}

TEST(Inserts, a_key_exists_when_loaded_or_published) {
  Inserts inserts(10, 2);
  EXPECT_TRUE(inserts.exists(9));
  EXPECT_FALSE(inserts.exists(10));
  inserts.publish(1, 2);
  EXPECT_FALSE(inserts.exists(10));
  EXPECT_TRUE(inserts.exists(11));
  EXPECT_TRUE(inserts.exists(13));
  EXPECT_FALSE(inserts.exists(15));
  inserts.publish(0, 1);
  EXPECT_TRUE(inserts.exists(10));
  EXPECT_EQ(inserts.inserted(), 3u);
  EXPECT_EQ(inserts.inserted_by(1), 2u);
}

TEST(InsertWindow, counts_only_what_has_no_gap_before_it) {
  InsertWindow window;
  EXPECT_EQ(window.take(), 0u);
  EXPECT_EQ(window.take(), 1u);
  EXPECT_EQ(window.take(), 2u);
  window.acknowledge(2);
  window.acknowledge(1);
  EXPECT_EQ(window.count(), 0u);
  window.acknowledge(0);
  EXPECT_EQ(window.count(), 3u);
  EXPECT_EQ(window.take(), 3u);
}

TEST(InsertWindow, takes_again_what_was_given_back) {
  InsertWindow window;
  EXPECT_EQ(window.take(), 0u);
  EXPECT_EQ(window.take(), 1u);
  window.give_back(0);
  window.acknowledge(1);
  EXPECT_EQ(window.take(), 0u);
  EXPECT_EQ(window.take(), 2u);
  window.acknowledge(0);
  EXPECT_EQ(window.count(), 2u);
}

TEST(InsertWindow, is_full_when_the_oldest_is_far_behind_and_empties_at_once) {
  InsertWindow window;
  for (std::uint64_t index = 0; index < InsertWindow::capacity; ++index) {
    EXPECT_FALSE(window.full());
    EXPECT_EQ(window.take(), index);
  }
  EXPECT_TRUE(window.full());
  for (std::uint64_t index = 1; index < InsertWindow::capacity; ++index) {
    window.acknowledge(index);
  }
  EXPECT_TRUE(window.full());
  EXPECT_EQ(window.count(), 0u);
  window.acknowledge(0);
  EXPECT_FALSE(window.full());
  EXPECT_EQ(window.count(), InsertWindow::capacity);
  EXPECT_EQ(window.take(), InsertWindow::capacity);
}

TEST(InsertWindow, keeps_its_promise_in_any_order) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Random random(seed);
    InsertWindow window;
    std::vector<std::uint64_t> under_way;
    std::set<std::uint64_t> acknowledged;
    std::uint64_t first = 0;  // that is not acknowledged
    for (int step = 0; step < 2'000; ++step) {
      if (!window.full() && random.chance(1, 2)) {
        under_way.push_back(window.take());
        ASSERT_FALSE(acknowledged.contains(under_way.back()));
      } else if (!under_way.empty()) {
        std::swap(under_way[random.below(under_way.size())], under_way.back());
        if (random.chance(1, 5)) {
          window.give_back(under_way.back());
        } else {
          window.acknowledge(under_way.back());
          acknowledged.insert(under_way.back());
        }
        under_way.pop_back();
      }
      while (acknowledged.contains(first)) {
        ++first;
      }
      ASSERT_EQ(window.count(), first) << "seed " << seed << " step " << step;
    }
  }
}

TEST(InsertWindowDeathTest, acknowledging_what_was_not_taken_is_a_bug) {
  InsertWindow window;
  EXPECT_DEATH(window.acknowledge(0), "no such insert");
  (void)window.take();
  window.acknowledge(0);
  EXPECT_DEATH(window.acknowledge(0), "no such insert");
}

}  // namespace
}  // namespace remora::workload
