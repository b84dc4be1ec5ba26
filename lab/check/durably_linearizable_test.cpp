#include "lab/check/durably_linearizable.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lab/check/story.h"

namespace remora {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

bool is_durably_linearizable(const Story& story) {
  const Verdict verdict = durably_linearizable(story.history());
  EXPECT_THAT(verdict.undecided, IsEmpty());
  return verdict.passed();
}

TEST(DurablyLinearizable, accepts_an_empty_history) {
  EXPECT_TRUE(is_durably_linearizable(Story()));
}

TEST(DurablyLinearizable, accepts_a_sequential_history) {
  Story story;
  story.get_nothing(2);
  story.put(1, 1);
  story.get(2, 1);
  story.put(1, 2);
  story.cut();
  story.get(2, 2);
  story.del(1);
  story.get_nothing(2);
  EXPECT_TRUE(is_durably_linearizable(story));
}

TEST(DurablyLinearizable, accepts_overlapping_writes_in_either_order) {
  for (const std::uint64_t last : {1u, 2u}) {
    Story story;
    const auto one = story.start_put(1, 1);
    const auto two = story.start_put(2, 2);
    story.persistent(two);
    story.persistent(one);
    story.get(3, last);
    EXPECT_TRUE(is_durably_linearizable(story));
    story.get(3, 3 - last);
    EXPECT_FALSE(is_durably_linearizable(story));
  }
}

TEST(DurablyLinearizable, rejects_a_stale_read_and_names_it) {
  Story story;
  const auto older = story.put(1, 1);
  const auto newer = story.put(1, 2);
  const auto get = story.get(2, 1);
  const Verdict verdict = durably_linearizable(story.history());
  ASSERT_THAT(verdict.violations, SizeIs(1));
  EXPECT_EQ(verdict.violations[0].rule, "durably_linearizable");
  EXPECT_EQ(verdict.violations[0].operations.front(), get);
  EXPECT_THAT(verdict.violations[0].operations, Contains(older));
  EXPECT_THAT(verdict.violations[0].operations, Contains(newer));
  EXPECT_THAT(verdict.violations[0].explanation, HasSubstr("may have held value 2"));
}

TEST(DurablyLinearizable, rejects_a_read_that_goes_back) {
  Story story;
  story.put(1, 1);
  const auto put = story.start_put(1, 2);
  story.get(2, 2);
  story.get(3, 1);
  story.persistent(put);
  EXPECT_FALSE(is_durably_linearizable(story));
}

TEST(DurablyLinearizable, rejects_a_lost_acknowledged_put) {
  Story story;
  story.put(1, 1);
  story.put(1, 2);
  story.cut();
  const auto get = story.get(2, 1);
  const Verdict verdict = durably_linearizable(story.history());
  ASSERT_THAT(verdict.violations, SizeIs(1));
  EXPECT_EQ(verdict.violations[0].operations.front(), get);
  EXPECT_THAT(verdict.violations[0].explanation, HasSubstr("the last cut was at 4 ns"));
}

TEST(DurablyLinearizable, rejects_a_value_that_came_back_after_its_del) {
  Story story;
  story.put(1, 1);
  story.del(1);
  story.cut();
  story.get(2, 1);
  EXPECT_FALSE(is_durably_linearizable(story));
}

TEST(DurablyLinearizable, rejects_a_value_that_nobody_wrote) {
  Story story;
  story.put(1, 1);
  story.get(2, 9);
  EXPECT_FALSE(is_durably_linearizable(story));
}

TEST(DurablyLinearizable, rejects_the_value_of_a_refused_put) {
  Story story;
  story.refuse(story.start_put(1, 1));
  story.get(2, 1);
  EXPECT_FALSE(is_durably_linearizable(story));
}

TEST(DurablyLinearizable, rejects_a_value_before_its_put) {
  Story story;
  story.get(2, 1);
  story.put(1, 1);
  EXPECT_FALSE(is_durably_linearizable(story));
}

TEST(DurablyLinearizable, accepts_either_fate_of_a_put_pending_at_a_cut) {
  for (const std::uint64_t survived : {1u, 2u}) {
    Story story;
    story.put(1, 1);
    story.start_put(1, 2);
    story.cut();
    story.get(2, survived);
    EXPECT_TRUE(is_durably_linearizable(story));
    story.get(2, 3 - survived);
    EXPECT_FALSE(is_durably_linearizable(story)) << "once decided, it stays";
  }
}

TEST(DurablyLinearizable, rejects_a_pending_put_seen_and_then_gone_after_a_cut) {
  Story story;
  story.put(1, 1);
  story.start_put(1, 2);
  story.get(2, 2);
  story.cut();
  story.get(2, 1);
  EXPECT_FALSE(is_durably_linearizable(story));
}

TEST(DurablyLinearizable, rejects_a_dead_clients_put_that_takes_effect_after_the_cut) {
  Story story;
  story.put(1, 1);
  story.start_put(1, 2);
  story.cut();
  story.put(2, 3);
  story.get(2, 2);
  EXPECT_FALSE(is_durably_linearizable(story));
}

TEST(DurablyLinearizable, accepts_a_living_clients_put_that_takes_effect_after_the_cut) {
  Story story;
  story.put(1, 1);
  const auto put = story.start_put(1, 2);
  story.cut_server();
  story.get(2, 1);
  story.get(2, 2);
  story.persistent(put);
  EXPECT_TRUE(is_durably_linearizable(story));
}

TEST(DurablyLinearizable, rejects_a_put_that_takes_effect_after_it_was_given_up) {
  Story story;
  story.put(1, 1);
  const auto put = story.start_put(1, 2);
  story.cut_server();
  story.give_up(put);
  story.get(2, 1);
  EXPECT_TRUE(is_durably_linearizable(story));
  story.get(2, 2);
  EXPECT_FALSE(is_durably_linearizable(story));
}

TEST(DurablyLinearizable, accepts_a_put_without_response_that_takes_effect_late) {
  Story story;
  story.put(1, 1);
  story.start_put(1, 2);
  story.cut_server();
  story.put(2, 3);
  story.get(2, 3);
  story.get(2, 2);
  EXPECT_TRUE(is_durably_linearizable(story));
}

TEST(DurablyLinearizable, rejects_a_put_that_takes_effect_twice) {
  Story story;
  const auto put = story.start_put(1, 1);
  story.get(2, 1);
  story.put(2, 2);
  story.cut_server();
  story.get(2, 1);
  story.persistent(put);
  EXPECT_FALSE(is_durably_linearizable(story));
}

TEST(DurablyLinearizable, accepts_the_loss_of_what_was_only_visible) {
  Story story;
  story.put(1, 1);
  story.put_visible(1, 2);
  story.get(2, 2);
  story.cut();
  story.get(2, 1);
  EXPECT_TRUE(is_durably_linearizable(story));
}

TEST(DurablyLinearizable, rejects_the_loss_of_what_was_flushed) {
  Story story;
  story.put(1, 1);
  story.flushed(story.put_visible(1, 2));
  story.cut();
  story.get(2, 1);
  EXPECT_FALSE(is_durably_linearizable(story));
}

TEST(DurablyLinearizable, rejects_absence_that_no_del_explains) {
  Story story;
  story.put(1, 1);
  story.get_nothing(2);
  EXPECT_FALSE(is_durably_linearizable(story));
}

TEST(DurablyLinearizable, holds_each_key_by_itself) {
  Story story;
  story.put(1, 1, "a");
  story.put(1, 1, "b");
  story.returns_nothing(story.start_get(2, "b"));
  const Verdict verdict = durably_linearizable(story.history());
  ASSERT_THAT(verdict.violations, SizeIs(1));
  EXPECT_EQ(verdict.violations[0].key, "b");
}

TEST(DurablyLinearizable, is_undecided_beyond_its_budget) {
  Story story;
  for (ClientId client = 1; client <= 8; ++client) {
    story.start_put(client, client);
  }
  for (ClientId client = 1; client <= 8; ++client) {
    story.get(9, client);
  }
  EXPECT_TRUE(is_durably_linearizable(story));
  const Verdict verdict = durably_linearizable(story.history(), 2);
  EXPECT_FALSE(verdict.passed());
  EXPECT_THAT(verdict.violations, IsEmpty());
  ASSERT_THAT(verdict.undecided, SizeIs(1));
  EXPECT_THAT(to_text(verdict), HasSubstr("undecided"));
}

TEST(DurablyLinearizable, does_not_count_pending_puts_that_nobody_read) {
  Story story;
  for (ClientId client = 1; client <= 200; ++client) {
    story.start_put(client, client);
  }
  story.put(201, 201);
  story.get(202, 201);
  EXPECT_TRUE(is_durably_linearizable(story));
}

TEST(DurablyLinearizable, is_undecided_when_too_much_is_open_at_once) {
  Story story;
  for (ClientId client = 1; client <= 65; ++client) {
    story.start_put(client, client);
  }
  for (ClientId client = 1; client <= 65; ++client) {
    story.get(99, client);
  }
  const Verdict verdict = durably_linearizable(story.history());
  EXPECT_FALSE(verdict.passed());
  EXPECT_THAT(verdict.undecided, SizeIs(1));
}

}  // namespace
}  // namespace remora
