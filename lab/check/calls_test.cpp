#include "lab/check/calls.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.h"

namespace remora {
namespace {

struct CallStory {
  std::vector<MadeCall> calls;
  CallLists lists;
};

// A history that keeps every promise: callers issue calls, which run in an order that respects
// keys, and learn of them; from some moment on the calls of each are lost.
CallStory random_story(std::uint64_t seed) {
  Random random(seed);
  CallStory story;
  const std::uint32_t keys = 1 + static_cast<std::uint32_t>(random.below(4));
  const std::uint32_t callers = 1 + static_cast<std::uint32_t>(random.below(3));
  story.lists.of_key.resize(keys);
  std::uint64_t now_ns = 0;
  std::vector<bool> is_lost(callers);
  std::vector<std::uint32_t> life(callers);
  std::vector<std::size_t> waiting;  // calls that have not run
  const auto run_one = [&](std::size_t at) {
    MadeCall& call = story.calls[waiting[at]];
    std::vector<CallId>& list = story.lists.of_key[call.key];
    call.place = list.size();
    list.push_back(call.id);
    if (random.chance(2, 3)) {
      call.answered_ns = ++now_ns;
    }
    waiting.erase(waiting.begin() + static_cast<std::ptrdiff_t>(at));
  };
  for (CallId id = 1; id <= 60; ++id) {
    const auto caller = static_cast<std::uint32_t>(random.below(callers));
    if (random.chance(1, 15)) {
      is_lost[caller] = !is_lost[caller];
      life[caller] += is_lost[caller] ? 0u : 1u;
    }
    MadeCall call{.id = id,
                  .session = caller,
                  .life = life[caller],
                  .key = static_cast<std::uint32_t>(random.below(keys)),
                  .issued_ns = ++now_ns};
    if (!is_lost[caller]) {
      waiting.push_back(story.calls.size());
      if (random.chance(1, 2)) {
        call.persistent_ns = ++now_ns;
      }
    }
    story.calls.push_back(call);
    while (!waiting.empty() && random.chance(1, 2)) {
      // Of the calls that wait, one that is the first of its key.
      const std::size_t at = random.below(waiting.size());
      const bool is_first = std::none_of(
          waiting.begin(), waiting.begin() + static_cast<std::ptrdiff_t>(at),
          [&](std::size_t one) { return story.calls[one].key == story.calls[waiting[at]].key; });
      if (is_first) {
        run_one(at);
      }
    }
  }
  while (!waiting.empty()) {
    run_one(0);
  }
  story.lists.at_ns = ++now_ns;
  return story;
}

std::string broken_rule(const CallStory& story) {
  const std::optional<BrokenCall> broken = check_calls(story.calls, story.lists);
  return broken ? std::string(broken->rule) : "none";
}

TEST(CheckCalls, passes_what_keeps_the_promise) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const CallStory story = random_story(seed);
    const std::optional<BrokenCall> broken = check_calls(story.calls, story.lists);
    ASSERT_FALSE(broken) << seed << ": " << broken->rule << ": " << broken->explanation;
  }
}

// What stands where a random list has two entries, at least.
std::pair<std::vector<CallId>*, std::size_t> somewhere(CallStory& story, Random& random) {
  for (;;) {
    std::vector<CallId>& list = story.lists.of_key[random.below(story.lists.of_key.size())];
    if (list.size() > 1) {
      return {&list, random.below(list.size() - 1)};
    }
  }
}

TEST(CheckCalls, notices_a_call_that_runs_twice) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    CallStory story = random_story(seed);
    Random random(seed);
    const auto [list, at] = somewhere(story, random);
    list->push_back((*list)[at]);
    EXPECT_EQ(broken_rule(story), "once") << seed;
  }
}

TEST(CheckCalls, notices_an_acknowledged_call_that_is_lost) {
  int noticed = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    CallStory story = random_story(seed);
    Random random(seed);
    // The last of its list, so that no other moves; and the last of its caller's, so that only the
    // acknowledgement speaks for it.
    std::vector<CallId>& list = *somewhere(story, random).first;
    const CallId id = list.back();
    const MadeCall& call = story.calls[id - 1];
    list.pop_back();
    const std::string rule = broken_rule(story);
    if (call.persistent_ns || call.answered_ns) {
      EXPECT_TRUE(rule == "acknowledged" || rule == "prefix") << seed << rule;
      ++noticed;
    } else {
      EXPECT_TRUE(rule == "none" || rule == "prefix") << seed << rule;
    }
  }
  EXPECT_GT(noticed, 30);
}

TEST(CheckCalls, notices_a_hole_before_an_acknowledged_call) {
  const std::vector<MadeCall> calls = {
      {.id = 1, .key = 0, .issued_ns = 1},
      {.id = 2, .key = 1, .issued_ns = 2, .persistent_ns = 5},
      {.id = 3, .key = 0, .issued_ns = 3},
  };
  EXPECT_EQ(broken_rule({calls, {9, {{1}, {2}}}}), "none");
  EXPECT_EQ(broken_rule({calls, {9, {{}, {2}}}}), "prefix");
  EXPECT_EQ(broken_rule({calls, {4, {{}, {}}}}), "none");  // nobody was told anything by then
}

TEST(CheckCalls, notices_calls_of_one_caller_out_of_order) {
  int noticed = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    CallStory story = random_story(seed);
    Random random(seed);
    const auto [list, at] = somewhere(story, random);
    const MadeCall& one = story.calls[(*list)[at] - 1];
    const MadeCall& other = story.calls[(*list)[at + 1] - 1];
    if (one.session != other.session) {
      continue;
    }
    std::swap((*list)[at], (*list)[at + 1]);
    for (MadeCall& call : story.calls) {
      call.answered_ns.reset();
    }
    EXPECT_EQ(broken_rule(story), "key order") << seed;
    ++noticed;
  }
  EXPECT_GT(noticed, 20);
}

TEST(CheckCalls, notices_a_call_that_runs_before_one_that_was_answered_earlier) {
  std::vector<MadeCall> calls = {
      {.id = 1, .session = 1, .issued_ns = 1, .answered_ns = 4, .place = 1},
      {.id = 2, .session = 2, .issued_ns = 3},
  };
  EXPECT_EQ(broken_rule({calls, {9, {{2, 1}}}}), "none");
  calls[1].issued_ns = 5;
  EXPECT_EQ(broken_rule({calls, {9, {{2, 1}}}}), "in time");
}

TEST(CheckCalls, notices_a_wrong_result_and_what_nobody_called) {
  const std::vector<MadeCall> calls = {
      {.id = 7, .key = 0, .issued_ns = 1, .answered_ns = 2, .place = 0}};
  EXPECT_EQ(broken_rule({calls, {9, {{7}}}}), "none");
  EXPECT_EQ(broken_rule({calls, {9, {{8, 7}}}}), "untorn");
  EXPECT_EQ(broken_rule({calls, {9, {{torn_call}}}}), "untorn");
  EXPECT_EQ(broken_rule({calls, {9, {{}, {7}}}}), "untorn");
  std::vector<MadeCall> wrong = calls;
  wrong[0].place = 3;
  EXPECT_EQ(broken_rule({wrong, {9, {{7}}}}), "result");
}

}  // namespace
}  // namespace remora
