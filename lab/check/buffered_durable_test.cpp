#include "lab/check/buffered_durable.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lab/check/story.h"

namespace remora {
namespace {

using testing::IsEmpty;

bool is_buffered_durable(const Story& story) {
  const Verdict verdict = buffered_durable(story.history());
  EXPECT_THAT(verdict.undecided, IsEmpty());
  return verdict.passed();
}

TEST(BufferedDurable, accepts_any_earlier_point_since_the_last_persistent_write) {
  for (std::uint64_t survived = 1; survived <= 4; ++survived) {
    Story story;
    story.put_visible(1, 1);
    story.put(1, 2);
    story.put_visible(1, 3);
    story.put_visible(1, 4);
    story.get(2, 4);
    story.cut();
    story.get(2, survived);
    EXPECT_EQ(is_buffered_durable(story), survived >= 2) << survived;
  }
}

TEST(BufferedDurable, accepts_the_loss_of_everything_when_nothing_was_promised) {
  Story story;
  story.put_visible(1, 1);
  story.get(2, 1);
  story.cut();
  story.get_nothing(2);
  EXPECT_TRUE(is_buffered_durable(story));
}

TEST(BufferedDurable, rejects_a_stale_read_before_the_cut) {
  Story story;
  story.put_visible(1, 1);
  story.put_visible(1, 2);
  story.get(2, 1);
  story.cut();
  story.get(2, 1);
  EXPECT_FALSE(is_buffered_durable(story));
}

TEST(BufferedDurable, rejects_a_recovered_value_that_changes_by_itself) {
  Story story;
  story.put_visible(1, 1);
  story.put_visible(1, 2);
  story.cut();
  story.get(2, 1);
  story.get(2, 2);
  EXPECT_FALSE(is_buffered_durable(story));
}

TEST(BufferedDurable, rejects_a_second_cut_that_goes_behind_the_first) {
  Story story;
  story.put_visible(1, 1);
  story.put_visible(1, 2);
  story.cut();
  story.get(2, 2);
  story.cut();
  story.get(2, 1);
  EXPECT_FALSE(is_buffered_durable(story));
}

TEST(BufferedDurable, rejects_a_lost_value_that_a_second_cut_brings_back) {
  Story story;
  story.put_visible(1, 1);
  story.put_visible(1, 2);
  story.cut();
  story.get(2, 1);
  story.cut();
  story.get(2, 2);
  EXPECT_FALSE(is_buffered_durable(story));
}

TEST(BufferedDurable, rejects_the_loss_of_what_was_flushed) {
  Story story;
  story.put_visible(1, 1);
  story.flushed(story.put_visible(1, 2));
  story.cut();
  story.get(2, 1);
  EXPECT_FALSE(is_buffered_durable(story));
}

TEST(BufferedDurable, rejects_the_loss_of_what_is_acknowledged_as_persistent_after_the_cut) {
  Story story;
  const auto put = story.put_visible(1, 1);
  story.cut_server();
  story.get_nothing(2);
  EXPECT_TRUE(is_buffered_durable(story));
  story.flushed(put);
  EXPECT_FALSE(is_buffered_durable(story));
}

TEST(BufferedDurable, rejects_a_value_that_came_back_after_its_persistent_del) {
  Story story;
  story.put(1, 1);
  story.del(1);
  story.cut();
  story.get(2, 1);
  EXPECT_FALSE(is_buffered_durable(story));
}

TEST(BufferedDurable, accepts_a_value_that_came_back_after_a_del_that_was_only_visible) {
  Story story;
  story.put(1, 1);
  story.del_visible(1);
  story.get_nothing(2);
  story.cut();
  story.get(2, 1);
  EXPECT_TRUE(is_buffered_durable(story));
}

TEST(BufferedDurable, accepts_a_pending_put_that_was_lost_and_took_effect_again) {
  Story story;
  story.put(1, 1);
  const auto put = story.start_put(2, 2);
  story.get(3, 2);
  story.cut_server();
  story.get(3, 1);
  story.get(3, 2);
  story.visible(put);
  story.get(3, 2);
  EXPECT_TRUE(is_buffered_durable(story));
}

TEST(BufferedDurable, accepts_a_lost_and_repeated_put_above_a_persistent_one_that_nobody_read) {
  Story story;
  const auto unseen = story.start_put(1, 1);
  const auto repeated = story.start_put(2, 2);
  story.get(3, 2);
  story.persistent(unseen);
  story.cut_server();
  story.put(4, 3);
  story.get(3, 3);
  story.get(3, 2);
  story.visible(repeated);
  EXPECT_TRUE(is_buffered_durable(story));
}

TEST(BufferedDurable, rejects_an_acknowledgement_of_what_was_lost_and_not_repeated) {
  Story story;
  story.put(1, 1);
  const auto put = story.start_put(2, 2);
  story.get(3, 2);
  story.cut_server();
  story.get(3, 1);
  story.visible(put);
  story.get(3, 1);
  EXPECT_FALSE(is_buffered_durable(story));
}

TEST(BufferedDurable, rejects_a_put_that_survived_and_took_effect_again) {
  Story story;
  const auto put = story.start_put(2, 2);
  story.get(3, 2);
  story.put(1, 3);
  story.cut_server();
  story.get(3, 3);
  story.get(3, 2);
  story.visible(put);
  EXPECT_FALSE(is_buffered_durable(story));
}

TEST(BufferedDurable, rejects_a_dead_clients_put_that_was_lost_and_came_back) {
  Story story;
  story.put(1, 1);
  story.start_put(2, 2);
  story.get(3, 2);
  story.cut();
  story.get(3, 1);
  story.get(3, 2);
  EXPECT_FALSE(is_buffered_durable(story));
}

}  // namespace
}  // namespace remora
