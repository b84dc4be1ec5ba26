#include "kv/efactory/time_wheel.h"

#include <gtest/gtest.h>

#include <map>

#include "base/random.h"

namespace remora::kv::efactory {
namespace {

constexpr auto is_any = [](const TimedVersion&) { return true; };

// Versions with their times, and the wheel that is to know when these come.
struct TimedModel {
  explicit TimedModel(std::uint64_t at_ms) : now_ms(at_ms), wheel(at_ms) {}

  auto is_there() {
    return [this](const TimedVersion& version) { return versions.contains(version.tag); };
  }
  void add(std::uint64_t expires_ms) {
    const std::uint64_t sequence = ++last_sequence;
    versions[sequence] = expires_ms;
    wheel.add(TimedVersion::of(sequence, expires_ms, sequence), versions.size(), is_there());
  }
  // All that is due goes.
  void turn() {
    bool goes_on = true;
    while (goes_on) {
      goes_on = wheel.turn(now_ms, 8, is_there(), [this](const TimedVersion& version) {
        EXPECT_LE(version.expires_ms(), now_ms);
        versions.erase(version.tag);
        return TimeWheel::Outcome::ended;
      });
    }
  }
  std::uint64_t due() const {
    std::uint64_t sum = 0;
    for (const auto& [sequence, expires_ms] : versions) {
      sum += expires_ms <= now_ms ? 1u : 0u;
    }
    return sum;
  }

  std::uint64_t now_ms;
  TimeWheel wheel;
  std::map<std::uint64_t, std::uint64_t> versions;
  std::uint64_t last_sequence = 0;
};

TEST(TimeWheel, gives_each_version_when_its_time_has_come) {
  TimedModel model(1'700'000'000'000);
  const std::uint64_t begin_ms = model.now_ms;
  for (const std::uint64_t span : {0u, 1u, 63u, 64u, 65u, 4'096u, 300'000u, 86'400'000u}) {
    model.add(begin_ms + span);
  }
  for (const std::uint64_t span :
       {0u, 1u, 62u, 63u, 64u, 70u, 4'095u, 4'096u, 299'999u, 300'000u, 86'399'999u, 86'400'000u}) {
    model.now_ms = begin_ms + span;
    EXPECT_EQ(model.wheel.count_due(model.now_ms, is_any), model.due()) << span;
    model.turn();
    EXPECT_EQ(model.due(), 0u) << span;
  }
  EXPECT_TRUE(model.versions.empty());
  EXPECT_EQ(model.wheel.next_ms(), TimeWheel::never_ms);
}

TEST(TimeWheel, says_before_when_nothing_is_due) {
  TimedModel model(1'000'000);
  model.add(1'000'000 + 10'000'000);
  std::uint64_t steps = 0;
  while (!model.versions.empty()) {
    model.now_ms = std::max(model.now_ms, model.wheel.next_ms());
    ASSERT_LE(model.now_ms, 11'000'000u);
    model.turn();
    ASSERT_LT(++steps, 20u);
  }
  EXPECT_EQ(model.now_ms, 11'000'000u);
}

TEST(TimeWheel, takes_times_that_never_come) {
  TimedModel model(1'000);
  model.add(UINT64_MAX);
  model.add(TimedVersion::latest_ms + 7);
  model.now_ms += 1'000'000'000'000;
  model.turn();
  EXPECT_EQ(model.versions.size(), 2u);
}

TEST(TimeWheel, is_bounded_in_a_turn) {
  TimedModel model(1'000);
  for (int i = 0; i < 10'000; ++i) {
    model.add(2'000 + static_cast<std::uint64_t>(i % 500));
  }
  model.now_ms = 5'000;
  std::uint64_t turns = 0;
  for (bool goes_on = true; goes_on; ++turns) {
    std::uint64_t ended = 0;
    goes_on = model.wheel.turn(5'000, 16, is_any, [&](const TimedVersion&) {
      ++ended;
      return TimeWheel::Outcome::ended;
    });
    ASSERT_LE(ended, 16u);
  }
  EXPECT_GE(turns, 10'000u / 16);
  EXPECT_EQ(model.wheel.size(), 0u);
}

TEST(TimeWheel, what_is_to_come_again_does) {
  TimeWheel wheel(1'000);
  wheel.add(TimedVersion::of(1, 1'500, 1), 1, is_any);
  int looks = 0;
  const auto look = [&](const TimedVersion&) {
    return ++looks == 3 ? TimeWheel::Outcome::ended : TimeWheel::Outcome::later;
  };
  EXPECT_FALSE(wheel.turn(1'499, 8, is_any, look));
  EXPECT_EQ(looks, 0);
  for (int i = 1; i <= 5; ++i) {
    EXPECT_FALSE(wheel.turn(1'500, 8, is_any, look));
    EXPECT_EQ(looks, std::min(i, 3));
  }
}

TEST(TimeWheel, is_cleared_at_once_and_gives_back_its_memory_by_and_by) {
  TimedModel model(1'000);
  for (int i = 0; i < 10'000; ++i) {
    model.add(2'000 + static_cast<std::uint64_t>(i) * 7);
  }
  model.wheel.clear();
  model.versions.clear();
  EXPECT_EQ(model.wheel.size(), 0u);
  EXPECT_EQ(model.wheel.count_due(1'000'000, is_any), 0u);
  model.add(3'000);
  model.now_ms = 2'999;
  model.turn();
  EXPECT_EQ(model.versions.size(), 1u);
  model.now_ms = 3'000;
  model.turn();
  EXPECT_TRUE(model.versions.empty());
  EXPECT_EQ(model.wheel.next_ms(), TimeWheel::never_ms);
}

// Keys that are put again and again.
TEST(TimeWheel, holds_no_heap_of_versions_that_were_replaced) {
  TimedModel model(1'000'000);
  Random random(7);
  std::uint64_t largest = 0;
  std::vector<std::uint64_t> newest(500);
  for (int i = 0; i < 100'000; ++i) {
    std::uint64_t& key = newest[random.below(newest.size())];
    model.versions.erase(key);
    model.add(model.now_ms + random.between(1'000'000, 100'000'000));
    key = model.last_sequence;
    model.now_ms += random.below(2);
    if (i % 64 == 0) {
      model.turn();
    }
    largest = std::max(largest, model.wheel.size());
  }
  EXPECT_EQ(model.versions.size(), newest.size());
  EXPECT_LE(largest, 3 * newest.size() + 1'500);
}

// Whatever comes in between, and whatever the clock does: what is due is counted and comes, and
// nothing comes before its time.
TEST(TimeWheel, is_as_a_map_by_time_would_be) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Random random(seed);
    TimedModel model(1'000'000'000 + random.below(1'000'000));
    for (int step = 0; step < 300; ++step) {
      const std::uint64_t dice = random.below(10);
      if (dice < 5) {
        const std::uint64_t digits = random.below(28);
        model.add(model.now_ms + random.below(std::uint64_t{1} << digits));
      } else if (dice < 6 && !model.versions.empty()) {
        auto at = model.versions.begin();
        std::advance(at, static_cast<std::ptrdiff_t>(random.below(model.versions.size())));
        model.versions.erase(at);
      } else if (dice < 9) {
        model.now_ms += random.below(std::uint64_t{1} << random.below(26));
      } else if (random.chance(1, 5)) {
        model.now_ms -= random.below(100'000);  // somebody has set the clock
      }
      ASSERT_EQ(model.wheel.count_due(model.now_ms, model.is_there()), model.due())
          << "seed " << seed << ", step " << step;
      if (random.chance(1, 2)) {
        (void)model.wheel.turn(model.now_ms, random.below(6), model.is_there(),
                               [&](const TimedVersion& version) {
                                 model.versions.erase(version.tag);
                                 return TimeWheel::Outcome::ended;
                               });
        ASSERT_EQ(model.wheel.count_due(model.now_ms, model.is_there()), model.due())
            << "seed " << seed << ", step " << step;
      }
      if (random.chance(1, 10)) {
        model.turn();
        ASSERT_EQ(model.due(), 0u) << "seed " << seed << ", step " << step;
      }
    }
  }
}

}  // namespace
}  // namespace remora::kv::efactory
