#include "lab/check/history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lab/check/story.h"

namespace remora {
namespace {

using testing::ElementsAre;

TEST(History, orders_events_of_the_same_nanosecond_as_recorded) {
  History history;
  const auto first = history.invoke_del(1, "k", 5);
  history.respond_write(first, Outcome::visible, 5);
  const auto second = history.invoke_get(1, "k", 5);
  EXPECT_LT(history[first].responded, history[second].invoked);
  EXPECT_EQ(history[first].responded, history[first].closed);
  EXPECT_EQ(history[second].closed, never);
}

TEST(History, closes_what_is_pending_in_a_whole_world_cut) {
  Story story;
  const auto put = story.start_put(1, 1);
  const auto acknowledged = story.put(2, 2);
  story.cut();
  const History& history = story.history();
  EXPECT_EQ(history[put].closed, history.cuts()[0].at);
  EXPECT_EQ(history[put].outcome, Outcome::pending);
  EXPECT_EQ(history[acknowledged].closed, history[acknowledged].responded);
}

TEST(History, leaves_what_is_pending_open_in_a_server_cut) {
  Story story;
  const auto put = story.start_put(1, 1);
  story.cut_server();
  story.persistent(put);
  EXPECT_EQ(story.history()[put].epoch, 0u);
  EXPECT_EQ(story.history().epoch_at(story.history()[put].responded), 1u);
}

TEST(History, counts_epochs) {
  Story story;
  story.put(1, 1);
  story.cut();
  story.cut();
  EXPECT_EQ(story.history()[story.put(1, 2)].epoch, 2u);
}

TEST(History, sorts_operations_by_key) {
  Story story;
  story.put(1, 1, "b");
  story.put(1, 1, "a");
  story.put(1, 2, "b");
  const auto keys = story.history().by_key();
  EXPECT_THAT(keys.at("a"), ElementsAre(1));
  EXPECT_THAT(keys.at("b"), ElementsAre(0, 2));
}

TEST(History, can_raise_every_acknowledgement) {
  Story story;
  const auto put = story.put_visible(1, 1);
  const History raised = story.history().with_every_acknowledgement_persistent();
  EXPECT_EQ(raised[put].outcome, Outcome::persistent);
  EXPECT_EQ(raised[put].persisted, raised[put].responded);
}

TEST(History, describes_operations_to_people) {
  Story story;
  const auto put = story.put(3, 7);
  const auto get = story.get(1, 7);
  const auto pending = story.start_del(2);
  EXPECT_EQ(describe(story.history(), put),
            "put #0 by client 3 of value 7 (64 bytes), 0..1 ns, acknowledged as persistent");
  EXPECT_EQ(describe(story.history(), get),
            "get #1 by client 1, 2..3 ns, returned value 7 (64 bytes)");
  EXPECT_EQ(describe(story.history(), pending), "del #2 by client 2, 4.. ns, no response");
}

TEST(HistoryDeathTest, refuses_what_cannot_have_happened) {
  Story story;
  const auto put = story.put(1, 1);
  EXPECT_DEATH(story.persistent(put), "answered already");
  EXPECT_DEATH(story.start_put(2, 1), "share a value id");
  EXPECT_DEATH(story.start_put(2, 0), "not 0");
  EXPECT_DEATH(story.flushed(put), "acknowledged as visible");
  EXPECT_DEATH(story.returns_nothing(story.start_put(1, 2)), "only a get");
  EXPECT_DEATH(story.visible(story.start_get(1)), "not how a write ends");
  History history;
  history.invoke_get(1, "k", 10);
  EXPECT_DEATH(history.invoke_get(1, "k", 9), "order of time");
}

TEST(HistoryDeathTest, tells_nothing_to_the_dead) {
  Story story;
  const auto pending = story.start_put(1, 1);
  const auto visible = story.put_visible(2, 2);
  story.cut();
  EXPECT_DEATH(story.persistent(pending), "died in a cut");
  EXPECT_DEATH(story.flushed(visible), "died in a cut");
}

}  // namespace
}  // namespace remora
