#include "lab/check/never_torn.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "lab/check/story.h"

namespace remora {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

std::string only_explanation(const Story& story) {
  const Verdict verdict = never_torn(story.history());
  EXPECT_THAT(verdict.violations, SizeIs(1));
  return verdict.violations.empty() ? "" : verdict.violations[0].explanation;
}

TEST(NeverTorn, accepts_whole_values_of_the_key) {
  Story story;
  story.put(1, 1);
  story.put(1, 1, "other");
  story.get(2, 1);
  story.del(1);
  story.get_nothing(2);
  story.give_up(story.start_get(2));
  EXPECT_TRUE(never_torn(story.history()).passed());
}

TEST(NeverTorn, accepts_the_value_of_a_put_that_is_pending) {
  Story story;
  story.start_put(1, 1);
  story.get(2, 1);
  EXPECT_TRUE(never_torn(story.history()).passed());
}

TEST(NeverTorn, rejects_pieces_of_two_puts) {
  Story story;
  story.put(1, 1);
  story.put(1, 2);
  auto bytes = value_for("k", 1, 64);
  std::copy_n(value_for("k", 2, 64).begin() + 40, 24, bytes.begin() + 40);
  const auto get = story.start_get(2);
  story.returns_bytes(get, bytes);
  const Verdict verdict = never_torn(story.history());
  ASSERT_THAT(verdict.violations, SizeIs(1));
  EXPECT_EQ(verdict.violations[0].rule, "never_torn");
  EXPECT_EQ(verdict.violations[0].key, "k");
  EXPECT_THAT(verdict.violations[0].operations, ElementsAre(get));
  EXPECT_THAT(verdict.violations[0].explanation, HasSubstr("bytes 40..64 of value 2"));
}

TEST(NeverTorn, rejects_a_value_of_wrong_length) {
  Story story;
  story.put(1, 1);
  story.returns_bytes(story.start_get(2), value_for("k", 1, 128));
  EXPECT_THAT(only_explanation(story), HasSubstr("wrote 64 bytes"));
}

TEST(NeverTorn, rejects_the_front_part_of_a_value) {
  Story story;
  story.put(1, 1);
  auto bytes = value_for("k", 1, 64);
  bytes.resize(48);
  story.returns_bytes(story.start_get(2), bytes);
  EXPECT_THAT(only_explanation(story), HasSubstr("torn"));
}

TEST(NeverTorn, rejects_content_that_differs_from_what_was_put) {
  History history;
  Value value = describe_value("k", 1, 64);
  const Identity read = identify(value_for("k", 1, 64));
  ++value.checksum;
  history.respond_write(history.invoke_put(1, "k", value, 0), Outcome::visible, 1);
  history.respond_value(history.invoke_get(1, "k", 2), read, 3);
  EXPECT_THAT(never_torn(history).violations, SizeIs(1));
}

TEST(NeverTorn, rejects_the_bytes_of_another_key) {
  Story story;
  story.put(1, 5, "other");
  story.returns(story.start_get(2), 5, "other");
  EXPECT_THAT(only_explanation(story), HasSubstr("written for key 'other'"));
}

TEST(NeverTorn, rejects_bytes_that_are_no_value) {
  Story story;
  story.put(1, 1);
  story.returns_bytes(story.start_get(2), std::vector<std::byte>(64));
  EXPECT_THAT(only_explanation(story), HasSubstr("foreign"));
}

TEST(NeverTorn, rejects_a_value_that_nobody_wrote) {
  Story story;
  story.put(1, 1);
  story.get(2, 9);
  EXPECT_THAT(only_explanation(story), HasSubstr("nobody wrote that value"));
}

TEST(NeverTorn, rejects_the_value_of_a_refused_put) {
  Story story;
  story.refuse(story.start_put(1, 1));
  story.get(2, 1);
  EXPECT_THAT(only_explanation(story), HasSubstr("refused"));
}

TEST(NeverTorn, rejects_a_value_before_its_put) {
  Story story;
  story.get(2, 1);
  story.put(1, 1);
  EXPECT_THAT(only_explanation(story), HasSubstr("only later"));
}

TEST(NeverTorn, is_never_undecided) {
  EXPECT_THAT(never_torn(Story().history()).undecided, IsEmpty());
}

}  // namespace
}  // namespace remora
