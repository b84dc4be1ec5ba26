#include "lab/check/scans.h"

#include <gtest/gtest.h>

#include "lab/check/story.h"

namespace remora {
namespace {

bool passes(const Story& story) {
  return scans(story.history()).passed();
}

TEST(Scans, list_what_was_put_and_not_what_was_deleted) {
  Story story;
  story.scan(1, {});
  story.put_visible(1, 1);
  story.scan(2, {"k"});
  story.del(1);
  story.scan(2, {});
  EXPECT_TRUE(passes(story));
}

TEST(Scans, must_list_what_was_acknowledged_before) {
  Story story;
  story.put_visible(1, 1);
  story.scan(2, {});
  EXPECT_FALSE(passes(story));
}

TEST(Scans, may_miss_at_a_cut_what_was_not_persistent) {
  Story story;
  story.put_visible(1, 1);
  story.cut();
  story.scan(2, {});
  EXPECT_TRUE(passes(story));
  Story lasting;
  lasting.put(1, 1);
  lasting.cut();
  lasting.scan(2, {});
  EXPECT_FALSE(passes(lasting));
}

TEST(Scans, may_miss_what_a_deletion_without_an_answer_took) {
  Story story;
  story.put(1, 1);
  story.start_del(1);
  story.scan(2, {});
  EXPECT_TRUE(passes(story));
}

TEST(Scans, must_not_list_what_was_deleted_before) {
  Story story;
  story.put(1, 1);
  story.del(1);
  story.cut();
  story.scan(2, {"k"});
  EXPECT_FALSE(passes(story));
}

TEST(Scans, must_not_list_what_nobody_put) {
  Story story;
  story.scan(1, {"k"});
  EXPECT_FALSE(passes(story));
}

// The value of a put that was given up may come, but not come and go.
TEST(Scans, agree_with_gets_around_them) {
  Story story;
  story.start_put(1, 1);
  story.get_nothing(2);
  story.scan(2, {"k"});
  EXPECT_TRUE(passes(story));
  story.get_nothing(2);
  EXPECT_FALSE(passes(story));
  Story other;
  other.start_put(1, 1);
  other.get(2, 1);
  other.scan(2, {});
  EXPECT_FALSE(passes(other));
}

TEST(Scans, that_overlap_a_write_may_say_either) {
  Story story;
  const std::size_t with = story.start_scan(2);
  const std::size_t without = story.start_scan(3);
  story.put(1, 1);
  story.lists(with, {"k"});
  story.lists(without, {});
  EXPECT_TRUE(passes(story));
}

TEST(Scans, without_an_answer_say_nothing) {
  Story story;
  story.put(1, 1);
  story.start_scan(2);
  EXPECT_TRUE(passes(story));
}

}  // namespace
}  // namespace remora
