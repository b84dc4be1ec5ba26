#include "lab/subjects/stores/witness.h"

#include <gtest/gtest.h>

namespace remora::lab {
namespace {

constexpr kv::Durability standard = kv::Durability::standard;
constexpr kv::Durability persistent = kv::Durability::persistent;

struct WitnessTest : testing::Test {
  Witness::Asked put(std::uint64_t id) {
    return witness.asks_put(1, "key", describe_value("key", id, 64), now_ns += 10);
  }
  const Operation& operation(const Witness::Asked& asked) {
    return witness.history()[asked.operation];
  }

  Witness witness;
  std::uint64_t now_ns = 0;
};

TEST_F(WitnessTest, takes_an_acknowledgement_for_what_was_asked_for) {
  const Witness::Asked first = put(1);
  witness.told_write(first, Status(), standard, true, now_ns += 10);
  const Witness::Asked second = put(2);
  witness.told_write(second, Status(), persistent, true, now_ns += 10);
  EXPECT_EQ(operation(first).outcome, Outcome::visible);
  EXPECT_EQ(operation(second).outcome, Outcome::persistent);
}

TEST_F(WitnessTest, knows_a_refusal_from_a_failure_that_says_nothing) {
  const Witness::Asked refused = put(1);
  witness.told_write(refused, Status(Code::no_space, "full"), standard, true, now_ns += 10);
  const Witness::Asked late = put(2);
  witness.told_write(late, Status(Code::timed_out, "late"), standard, true, now_ns += 10);
  const Witness::Asked lost = put(3);
  witness.told_write(lost, Status(Code::closed, "gone"), standard, false, now_ns += 10);
  EXPECT_EQ(operation(refused).outcome, Outcome::refused);
  EXPECT_EQ(operation(late).outcome, Outcome::unknown);
  EXPECT_EQ(operation(lost).outcome, Outcome::pending);
}

TEST_F(WitnessTest, hears_no_answer_from_before_a_cut) {
  const Witness::Asked asked = put(1);
  witness.cut(now_ns += 10);
  witness.told_write(asked, Status(), persistent, true, now_ns += 10);
  EXPECT_EQ(operation(asked).outcome, Outcome::pending);
}

TEST_F(WitnessTest, a_store_at_rest_vouches_for_what_it_acknowledged_since_the_last_cut) {
  const Witness::Asked before = put(1);
  witness.told_write(before, Status(), standard, true, now_ns += 10);
  witness.cut(now_ns += 10);
  const Witness::Asked after = put(2);
  witness.told_write(after, Status(), standard, true, now_ns += 10);
  witness.all_is_persistent(now_ns += 10);
  EXPECT_EQ(operation(before).persisted, never);
  EXPECT_NE(operation(after).persisted, never);
}

TEST_F(WitnessTest, identifies_what_a_get_returned) {
  const Witness::Asked asked = witness.asks_get(1, "key", now_ns += 10);
  std::vector<std::byte> buffer = value_for("key", 7, 100);
  buffer.resize(200);
  witness.told_get(asked, std::size_t{100}, buffer, now_ns += 10);
  EXPECT_EQ(operation(asked).read.wholeness, Wholeness::whole);
  EXPECT_EQ(operation(asked).read.value.id, 7u);
}

}  // namespace
}  // namespace remora::lab
