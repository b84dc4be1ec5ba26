#include "lab/check/promise.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "lab/check/story.h"

namespace remora {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

std::set<std::string_view> broken(const Story& story, const Promise& promise) {
  const Verdict verdict = check(story.history(), promise);
  EXPECT_THAT(verdict.undecided, IsEmpty());
  std::set<std::string_view> rules;
  for (const Violation& violation : verdict.violations) {
    rules.insert(violation.rule);
  }
  return rules;
}

Story a_visible_put_is_lost() {
  Story story;
  story.put_visible(1, 1);
  story.cut();
  story.get_nothing(2);
  return story;
}

Story a_visible_put_is_read_and_lost() {
  Story story;
  story.put_visible(1, 1);
  story.get(2, 1);
  story.cut();
  story.get_nothing(2);
  return story;
}

Story a_read_is_stale() {
  Story story;
  story.put_visible(1, 1);
  story.put_visible(1, 2);
  story.get(2, 1);
  return story;
}

Story a_client_steps_back() {
  Story story = a_read_is_stale();
  story.get(3, 2);
  story.get(3, 1);
  return story;
}

TEST(Promise, persistent_counts_every_acknowledgement_as_persistent) {
  EXPECT_THAT(broken(a_visible_put_is_lost(), promise_persistent),
              UnorderedElementsAre("never_lost", "durably_linearizable"));
}

TEST(Promise, asynchronous_may_lose_what_nobody_read) {
  EXPECT_THAT(broken(a_visible_put_is_lost(), promise_asynchronous), IsEmpty());
  EXPECT_THAT(broken(a_visible_put_is_read_and_lost(), promise_asynchronous),
              UnorderedElementsAre("monotonic_reads"));
}

TEST(Promise, visible_may_lose_what_was_read) {
  EXPECT_THAT(broken(a_visible_put_is_read_and_lost(), promise_visible), IsEmpty());
  EXPECT_THAT(broken(a_read_is_stale(), promise_visible), UnorderedElementsAre("buffered_durable"));
}

TEST(Promise, monotonic_may_be_stale_and_may_not_step_back) {
  Promise promise = {Acknowledged::visible, Returned::monotonic, false};
  EXPECT_THAT(broken(a_read_is_stale(), promise), IsEmpty());
  EXPECT_THAT(broken(a_client_steps_back(), promise), UnorderedElementsAre("monotonic_reads"));
  promise.returned = Returned::monotonic_per_client;
  EXPECT_THAT(broken(a_client_steps_back(), promise), UnorderedElementsAre("monotonic_reads"));
}

TEST(Promise, volatile_keeps_values_whole_and_nothing_else) {
  EXPECT_THAT(broken(a_client_steps_back(), promise_volatile), IsEmpty());
  Story story;
  story.put_visible(1, 1);
  story.returns_bytes(story.start_get(1), std::vector<std::byte>(64));
  EXPECT_THAT(broken(story, promise_volatile), UnorderedElementsAre("never_torn"));
}

TEST(Promise, holds_an_explicit_flush_to_its_word_whatever_the_promise) {
  for (const Promise& promise : {promise_volatile, promise_visible, promise_asynchronous}) {
    Story story;
    story.flushed(story.put_visible(1, 1));
    story.cut();
    story.get_nothing(1);
    EXPECT_TRUE(broken(story, promise).contains("never_lost")) << to_text(promise);
  }
}

// What becomes persistent by itself does so key by key.
TEST(Promise, asynchronous_keeps_the_order_of_a_key_and_none_between_keys) {
  Story keys;
  keys.visible(keys.start_put(1, 1, "first"));
  keys.visible(keys.start_put(1, 2, "second"));
  keys.cut();
  keys.returns_nothing(keys.start_get(1, "first"));
  keys.returns(keys.start_get(1, "second"), 2, "second");
  EXPECT_THAT(broken(keys, promise_asynchronous), IsEmpty());
  Story key;
  key.put_visible(1, 1);
  key.put_visible(1, 2);
  key.cut();
  key.get(1, 2);
  key.get(1, 1);
  EXPECT_THAT(broken(key, promise_asynchronous),
              UnorderedElementsAre("buffered_durable", "monotonic_reads"));
}

TEST(Promise, is_put_into_words) {
  EXPECT_EQ(to_text(promise_persistent),
            "an acknowledged write is visible and persistent; a get returns the latest version, "
            "which then survives every cut");
}

TEST(PromiseDeathTest, cannot_compare_reads_across_cuts_and_not_compare_them) {
  const Promise promise = {Acknowledged::visible, Returned::any_version, true};
  EXPECT_DEATH(check(History(), promise), "compares no reads");
}

TEST(Verdict, is_text_for_people) {
  EXPECT_EQ(to_text(Verdict()), "passed\n");
  const std::string text = to_text(check(a_visible_put_is_lost().history(), promise_persistent));
  EXPECT_THAT(text, HasSubstr("never_lost violated for key 'k': put #0 by client 1 of value 1"));
}

}  // namespace
}  // namespace remora
