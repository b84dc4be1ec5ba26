#include "lab/check/monotonic_reads.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lab/check/story.h"

namespace remora {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

constexpr MonotonicReads everywhere = {.across_clients = true, .across_cuts = true};
constexpr MonotonicReads each_client = {.across_clients = false, .across_cuts = true};
constexpr MonotonicReads between_cuts = {.across_clients = true, .across_cuts = false};

bool is_monotonic(const Story& story, const MonotonicReads& setting = everywhere) {
  return monotonic_reads(story.history(), setting).passed();
}

TEST(MonotonicReads, accepts_reads_that_go_forward) {
  Story story;
  story.put(1, 1);
  story.get(2, 1);
  story.put(1, 2);
  story.get(2, 2);
  story.cut();
  story.get(2, 2);
  story.del(1);
  story.get_nothing(2);
  EXPECT_TRUE(is_monotonic(story));
}

TEST(MonotonicReads, accepts_stale_reads_that_do_not_step_back) {
  Story story;
  story.put(1, 1);
  story.put(1, 2);
  story.get(2, 1);
  story.get(2, 1);
  story.get(2, 2);
  EXPECT_TRUE(is_monotonic(story));
}

TEST(MonotonicReads, rejects_a_step_back) {
  Story story;
  const auto older = story.put(1, 1);
  const auto newer = story.put(1, 2);
  const auto first = story.get(2, 2);
  const auto second = story.get(2, 1);
  const Verdict verdict = monotonic_reads(story.history(), everywhere);
  ASSERT_THAT(verdict.violations, SizeIs(1));
  EXPECT_EQ(verdict.violations[0].rule, "monotonic_reads");
  EXPECT_THAT(verdict.violations[0].operations, ElementsAre(older, newer, first, second));
  EXPECT_THAT(verdict.violations[0].explanation, HasSubstr("get #3 by client 2"));
}

TEST(MonotonicReads, rejects_a_step_back_between_clients_if_told_so) {
  Story story;
  story.put(1, 1);
  story.put(1, 2);
  story.get(2, 2);
  story.get(3, 1);
  EXPECT_FALSE(is_monotonic(story, everywhere));
  EXPECT_TRUE(is_monotonic(story, each_client));
}

TEST(MonotonicReads, accepts_a_step_back_of_reads_that_overlap) {
  Story story;
  story.put(1, 1);
  const auto slow = story.start_get(2);
  story.put(1, 2);
  story.get(3, 2);
  story.returns(slow, 1);
  EXPECT_TRUE(is_monotonic(story));
}

TEST(MonotonicReads, accepts_either_order_of_overlapping_writes_but_not_both) {
  Story story;
  const auto one = story.start_put(1, 1);
  const auto two = story.start_put(2, 2);
  story.persistent(one);
  story.persistent(two);
  story.get(3, 2);
  story.get(3, 1);
  EXPECT_TRUE(is_monotonic(story));
  story.get(4, 2);
  EXPECT_FALSE(is_monotonic(story, everywhere));
  EXPECT_TRUE(is_monotonic(story, each_client));
}

TEST(MonotonicReads, rejects_a_step_back_along_a_chain) {
  Story story;
  story.start_put(1, 1);
  story.start_put(2, 2);
  story.start_put(3, 3);
  const auto across = story.start_get(5);
  story.get(4, 1);
  story.get(4, 2);
  story.returns(across, 2);
  const auto last = story.start_get(5);
  story.get(4, 3);
  story.returns(last, 1);
  EXPECT_FALSE(is_monotonic(story));
}

TEST(MonotonicReads, rejects_a_step_behind_what_was_seen_before_the_write) {
  Story story;
  story.start_put(1, 1);
  story.get(3, 1);
  story.put(2, 2);
  story.get(3, 2);
  story.get(3, 1);
  EXPECT_FALSE(is_monotonic(story));
}

TEST(MonotonicReads, rejects_a_value_that_came_back_after_its_del) {
  Story story;
  story.put(1, 1);
  story.get(2, 1);
  story.del(1);
  story.get_nothing(2);
  story.get(2, 1);
  EXPECT_FALSE(is_monotonic(story));
}

TEST(MonotonicReads, rejects_absence_that_no_del_explains) {
  Story story;
  story.del(1);
  story.put(1, 1);
  story.get(2, 1);
  story.get_nothing(2);
  const Verdict verdict = monotonic_reads(story.history(), everywhere);
  ASSERT_THAT(verdict.violations, SizeIs(1));
  EXPECT_THAT(verdict.violations[0].explanation, HasSubstr("no del can have come after"));
}

TEST(MonotonicReads, accepts_absence_that_a_pending_del_explains) {
  Story story;
  story.start_del(1);
  story.put(2, 1);
  story.get(3, 1);
  story.get_nothing(3);
  EXPECT_TRUE(is_monotonic(story));
}

TEST(MonotonicReads, rejects_a_pending_put_seen_and_then_gone_after_a_cut_if_told_so) {
  Story story;
  story.put(1, 1);
  story.start_put(1, 2);
  story.get(2, 2);
  story.cut();
  story.get(2, 1);
  EXPECT_FALSE(is_monotonic(story, everywhere));
  EXPECT_TRUE(is_monotonic(story, between_cuts));
}

TEST(MonotonicReads, rejects_a_step_back_between_two_cuts_even_if_cuts_may_go_back) {
  Story story;
  story.put(1, 1);
  story.put(1, 2);
  story.cut();
  story.get(2, 2);
  story.get(2, 1);
  story.cut();
  EXPECT_FALSE(is_monotonic(story, between_cuts));
}

TEST(MonotonicReads, accepts_another_order_of_writes_that_were_lost_and_repeated) {
  Story story;
  const auto one = story.start_put(1, 1);
  const auto two = story.start_put(2, 2);
  story.get(3, 1);
  story.get(3, 2);
  story.cut_server();
  story.get(3, 2);
  story.get(3, 1);
  story.visible(one);
  story.visible(two);
  EXPECT_TRUE(is_monotonic(story, between_cuts));
  EXPECT_FALSE(is_monotonic(story, everywhere));
}

TEST(MonotonicReads, leaves_values_that_nobody_wrote_to_never_torn) {
  Story story;
  story.get(1, 9);
  story.get_nothing(1);
  story.get(1, 9);
  EXPECT_TRUE(is_monotonic(story));
}

}  // namespace
}  // namespace remora
