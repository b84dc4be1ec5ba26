#include "lab/check/never_lost.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lab/check/story.h"

namespace remora {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

bool loses_nothing(const Story& story) {
  return never_lost(story.history()).passed();
}

TEST(NeverLost, accepts_what_survived) {
  Story story;
  story.put(1, 1);
  story.put(1, 2);
  story.cut();
  story.get(2, 2);
  EXPECT_TRUE(loses_nothing(story));
}

TEST(NeverLost, rejects_an_older_value_after_a_cut) {
  Story story;
  const auto older = story.put(1, 1);
  const auto lost = story.put(1, 2);
  story.cut();
  const auto get = story.get(2, 1);
  const Verdict verdict = never_lost(story.history());
  ASSERT_THAT(verdict.violations, SizeIs(1));
  EXPECT_EQ(verdict.violations[0].rule, "never_lost");
  EXPECT_THAT(verdict.violations[0].operations, ElementsAre(lost, get, older));
  EXPECT_THAT(verdict.violations[0].explanation, HasSubstr("the power was cut at 4 ns"));
}

TEST(NeverLost, rejects_absence_after_a_cut) {
  Story story;
  story.put(1, 1);
  story.cut_server();
  story.get_nothing(1);
  EXPECT_THAT(never_lost(story.history()).violations[0].explanation,
              HasSubstr("before its first write"));
}

TEST(NeverLost, rejects_a_value_that_came_back_after_its_del) {
  Story story;
  story.put(1, 1);
  story.del(1);
  story.cut();
  story.get(2, 1);
  EXPECT_FALSE(loses_nothing(story));
}

TEST(NeverLost, rejects_absence_that_only_an_older_del_explains) {
  Story story;
  story.del(1);
  story.put(1, 1);
  story.cut();
  story.get_nothing(2);
  EXPECT_FALSE(loses_nothing(story));
}

TEST(NeverLost, rejects_a_loss_that_a_second_cut_brings) {
  Story story;
  story.put(1, 1);
  story.put(1, 2);
  story.cut();
  story.get(2, 2);
  story.cut();
  story.get(2, 1);
  EXPECT_FALSE(loses_nothing(story));
}

TEST(NeverLost, rejects_the_loss_of_what_was_flushed_later) {
  Story story;
  const auto put = story.put_visible(1, 1);
  story.flushed(put);
  story.cut();
  story.get_nothing(2);
  EXPECT_FALSE(loses_nothing(story));
}

TEST(NeverLost, accepts_the_loss_of_what_was_only_visible) {
  Story story;
  story.put(1, 1);
  story.put_visible(1, 2);
  story.cut();
  story.get(2, 1);
  EXPECT_TRUE(loses_nothing(story));
}

TEST(NeverLost, accepts_a_later_write_that_was_not_acknowledged) {
  Story story;
  story.put(1, 1);
  story.start_put(2, 2);
  story.start_del(3);
  story.cut();
  story.get(4, 2);
  story.get_nothing(4);
  story.get(4, 1);
  EXPECT_TRUE(loses_nothing(story));
}

TEST(NeverLost, accepts_a_write_that_overlapped_the_acknowledged_one) {
  Story story;
  const auto slow = story.start_put(1, 1);
  story.put(2, 2);
  story.persistent(slow);
  story.cut();
  story.get(3, 1);
  EXPECT_TRUE(loses_nothing(story));
}

TEST(NeverLost, leaves_staleness_without_a_cut_to_others) {
  Story story;
  story.cut();
  story.put(1, 1);
  story.put(1, 2);
  story.get(2, 1);
  EXPECT_TRUE(loses_nothing(story));
}

TEST(NeverLost, leaves_a_get_that_was_pending_at_the_cut_alone) {
  Story story;
  story.put(1, 1);
  const auto get = story.start_get(2);
  story.put(1, 2);
  story.cut_server();
  story.returns(get, 1);
  EXPECT_TRUE(loses_nothing(story));
}

}  // namespace
}  // namespace remora
