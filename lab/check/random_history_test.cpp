// The checkers against random histories: those of a true register pass, and on small histories the
// search says what trying every order says.
#include "lab/check/random_history.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "lab/check/buffered_durable.h"
#include "lab/check/durably_linearizable.h"
#include "lab/check/monotonic_reads.h"
#include "lab/check/never_lost.h"
#include "lab/check/promise.h"

namespace remora {
namespace {

constexpr std::uint64_t accepted_seeds = 2000;
constexpr std::uint64_t compared_seeds = 3000;

// A world of the seed's own size and habits.
WorldSetting some_world(std::uint64_t seed, CutRule rule) {
  Random random(mix(seed));
  WorldSetting setting;
  setting.clients = static_cast<std::uint32_t>(random.between(1, 16));
  setting.operations = static_cast<std::uint32_t>(random.between(5, 120));
  setting.cuts = static_cast<std::uint32_t>(random.below(4));
  setting.rule = rule;
  setting.visible_percent =
      rule == CutRule::keeps_all ? 0 : static_cast<std::uint32_t>(random.between(50, 100));
  setting.del_percent = static_cast<std::uint32_t>(random.below(40));
  return setting;
}

WorldSetting small_world(std::uint64_t seed, CutRule rule) {
  Random random(mix(seed));
  WorldSetting setting;
  setting.clients = static_cast<std::uint32_t>(random.between(2, 5));
  setting.operations = static_cast<std::uint32_t>(random.between(3, 6));
  setting.cuts = static_cast<std::uint32_t>(random.below(3));
  setting.rule = rule;
  setting.visible_percent = static_cast<std::uint32_t>(random.below(3) * 50);
  setting.give_up_percent = static_cast<std::uint32_t>(random.below(2) * 10);
  setting.del_percent = static_cast<std::uint32_t>(random.below(2) * 30);
  return setting;
}

TEST(RandomHistory, of_a_durable_register_keeps_the_persistent_promise) {
  for (std::uint64_t seed = 0; seed < accepted_seeds; ++seed) {
    const WorldSetting setting = some_world(seed, CutRule::keeps_all);
    const Verdict verdict = check(record(simulate(setting, seed)), promise_persistent);
    ASSERT_TRUE(verdict.passed()) << "seed " << seed << ": " << to_text(verdict);
  }
}

TEST(RandomHistory, of_a_buffered_register_keeps_the_visible_promise) {
  for (std::uint64_t seed = 0; seed < accepted_seeds; ++seed) {
    const WorldSetting setting = some_world(seed, CutRule::may_roll_back);
    const Verdict verdict = check(record(simulate(setting, seed)), promise_visible);
    ASSERT_TRUE(verdict.passed()) << "seed " << seed << ": " << to_text(verdict);
  }
}

TEST(RandomHistory, of_a_register_that_keeps_what_was_read_keeps_the_asynchronous_promise) {
  for (std::uint64_t seed = 0; seed < accepted_seeds; ++seed) {
    WorldSetting setting = some_world(seed, CutRule::may_roll_back);
    setting.returned_survives = true;
    const Verdict verdict = check(record(simulate(setting, seed)), promise_asynchronous);
    ASSERT_TRUE(verdict.passed()) << "seed " << seed << ": " << to_text(verdict);
  }
}

// How often each answer came, so that a comparison which never sees one of them is noticed.
struct Tally {
  std::uint64_t accepted = 0;
  std::uint64_t rejected = 0;
};

std::string to_text(const History& history) {
  std::string text;
  for (OperationIndex i = 0; i < history.operations().size(); ++i) {
    text += describe(history, i) + "\n";
  }
  for (const Cut& cut : history.cuts()) {
    text += fmt::format("{} at {} ns\n", cut.scope == CutScope::whole_world ? "cut" : "server cut",
                        cut.time_ns);
  }
  return text;
}

void compare(const History& history, std::uint64_t seed, Tally (&tally)[2]) {
  for (const CutRule rule : {CutRule::keeps_all, CutRule::may_roll_back}) {
    const bool expected = some_order_explains(history, rule);
    const Verdict verdict =
        rule == CutRule::keeps_all ? durably_linearizable(history) : buffered_durable(history);
    Tally& count = tally[rule == CutRule::keeps_all ? 0 : 1];
    ++(expected ? count.accepted : count.rejected);
    ASSERT_TRUE(verdict.undecided.empty());
    ASSERT_EQ(verdict.passed(), expected)
        << "seed " << seed << (rule == CutRule::keeps_all ? ", durable:\n" : ", buffered:\n")
        << to_text(history) << to_text(verdict);
  }
}

// What the rules of thumb reject, the search rejects too.
void expect_agreement(const History& history, std::uint64_t seed) {
  const History raised = history.with_every_acknowledgement_persistent();
  if (durably_linearizable(raised).passed()) {
    EXPECT_TRUE(never_lost(raised).passed()) << "seed " << seed;
    EXPECT_TRUE(monotonic_reads(raised, {}).passed()) << "seed " << seed;
  }
  if (buffered_durable(history).passed()) {
    EXPECT_TRUE(never_lost(history).passed()) << "seed " << seed;
    EXPECT_TRUE(monotonic_reads(history, {.across_clients = true, .across_cuts = false}).passed())
        << "seed " << seed;
  }
}

void compare_all(std::vector<Step> (*make)(const WorldSetting&, std::uint64_t), CutRule world,
                 bool mutate) {
  Tally tally[2];
  for (std::uint64_t seed = 0; seed < compared_seeds; ++seed) {
    std::vector<Step> steps = make(small_world(seed, world), seed);
    if (mutate) {
      mutate_answer(steps, seed);
    }
    const History history = record(steps);
    ASSERT_NO_FATAL_FAILURE(compare(history, seed, tally));
    expect_agreement(history, seed);
  }
  for (const Tally& count : tally) {
    EXPECT_GT(count.accepted, compared_seeds / 20);
    if (mutate) {
      EXPECT_GT(count.rejected, compared_seeds / 20);
    }
  }
}

TEST(RandomHistory, is_judged_as_every_order_judges_it_when_durable) {
  compare_all(simulate, CutRule::keeps_all, false);
}

TEST(RandomHistory, is_judged_as_every_order_judges_it_when_buffered) {
  compare_all(simulate, CutRule::may_roll_back, false);
}

TEST(RandomHistory, is_judged_as_every_order_judges_it_when_durable_and_one_answer_changed) {
  compare_all(simulate, CutRule::keeps_all, true);
}

TEST(RandomHistory, is_judged_as_every_order_judges_it_when_buffered_and_one_answer_changed) {
  compare_all(simulate, CutRule::may_roll_back, true);
}

TEST(RandomHistory, is_judged_as_every_order_judges_it_when_scribbled) {
  compare_all(scribble, CutRule::may_roll_back, true);
}

TEST(RandomHistory, of_two_hundred_operations_and_sixteen_clients_needs_few_states) {
  constexpr std::uint64_t seeds = 200;
  constexpr std::uint64_t few_states = 3000;
  WorldSetting setting;
  setting.clients = 16;
  setting.operations = 200;
  setting.cuts = 2;
  std::uint64_t rejected = 0;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    std::vector<Step> steps = simulate(setting, seed);
    EXPECT_TRUE(durably_linearizable(record(steps), few_states).passed()) << "seed " << seed;
    mutate_answer(steps, seed);
    const Verdict verdict = durably_linearizable(record(steps), few_states);
    EXPECT_TRUE(verdict.undecided.empty()) << "seed " << seed;
    rejected += verdict.violations.size();
  }
  EXPECT_GT(rejected, seeds / 2);
}

TEST(RandomHistory, is_the_same_for_the_same_seed) {
  const WorldSetting setting = some_world(7, CutRule::may_roll_back);
  const History one = record(simulate(setting, 7));
  const History two = record(simulate(setting, 7));
  ASSERT_EQ(one.operations().size(), two.operations().size());
  for (OperationIndex i = 0; i < one.operations().size(); ++i) {
    EXPECT_EQ(describe(one, i), describe(two, i));
  }
}

}  // namespace
}  // namespace remora
