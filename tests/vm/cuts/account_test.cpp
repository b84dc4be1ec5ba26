#include "tests/vm/cuts/account.h"

#include <gtest/gtest.h>

#include <sstream>

namespace remora::vm {
namespace {

// What the account says to a journal; an empty text if nothing is wrong.
std::string verdict(const std::string& journal) {
  Account account(4);
  std::istringstream lines(journal);
  return std::string(account.read(lines).message());
}

TEST(Account, misses_a_put_that_was_acknowledged_as_persistent) {
  EXPECT_EQ(verdict("p 1 1\na 1 1\nf 1 1\n"), "");
  EXPECT_NE(verdict("p 1 1\na 1 1\nf 1 0\n"), "");
  EXPECT_NE(verdict("p 1 1\na 1 1\np 1 2\na 1 2\nf 1 1\n"), "");
}

TEST(Account, lets_a_cut_take_what_was_only_visible) {
  EXPECT_EQ(verdict("p 1 1\na 1 1\np 1 2\nv 1 2\nf 1 1\n"), "");
  EXPECT_EQ(verdict("p 1 1\na 1 1\np 1 2\nv 1 2\nf 1 2\n"), "");
}

TEST(Account, lets_a_put_that_nobody_acknowledged_have_happened_or_not) {
  EXPECT_EQ(verdict("p 1 1\na 1 1\np 1 2\nf 1 2\n"), "");
  EXPECT_EQ(verdict("p 1 1\na 1 1\np 1 2\nf 1 1\n"), "");
  EXPECT_NE(verdict("p 1 1\na 1 1\nf 1 2\n"), "") << "nobody put that";
}

TEST(Account, misses_what_a_get_had_returned) {
  EXPECT_NE(verdict("p 1 1\nv 1 1\ng 1 1\nf 1 0\n"), "");
}

TEST(Account, lets_a_deletion_have_happened_or_not) {
  EXPECT_EQ(verdict("p 1 1\na 1 1\nd 1 0\nv 1 0\nf 1 0\n"), "");
  EXPECT_EQ(verdict("p 1 1\na 1 1\nd 1 0\nv 1 0\ng 1 0\nf 1 1\n"), "");
  EXPECT_NE(verdict("p 1 1\na 1 1\nd 1 0\nv 1 0\np 1 2\na 1 2\nf 1 0\n"), "");
}

TEST(Account, holds_gets_to_what_is_visible_before_the_cut) {
  EXPECT_NE(verdict("p 1 1\nv 1 1\np 1 2\nv 1 2\ng 1 1\n"), "");
  EXPECT_EQ(verdict("p 1 1\nv 1 1\np 1 2\ng 1 1\ng 1 2\n"), "");
}

TEST(Account, goes_on_from_what_was_found) {
  EXPECT_EQ(verdict("p 1 1\nv 1 1\nf 1 0\nf 1 0\n"), "");
  EXPECT_NE(verdict("p 1 1\nv 1 1\nf 1 0\nf 1 1\n"), "") << "it came back from the dead";
}

TEST(Account, leaves_out_a_line_that_was_cut_off_and_refuses_one_that_is_none) {
  EXPECT_EQ(verdict("p 1 1\na 1 1\nf 1 1\na 1"), "");
  EXPECT_NE(verdict("p 1 one\n"), "");
  EXPECT_NE(verdict("p 9 1\n"), "");
}

TEST(Account, gives_every_put_a_version_of_its_own_across_lives) {
  Account account(2);
  std::istringstream lines("l 0 1\np 1 7\nf 1 0\nl 0 2\n");
  ASSERT_TRUE(account.read(lines).ok());
  EXPECT_EQ(account.next_version(1), 8U);
  EXPECT_EQ(account.next_version(0), 1U);
  EXPECT_EQ(account.lives(), 2U);
}

TEST(Event, is_the_same_after_its_line) {
  const Event event{Event::Kind::returned, 12, 345};
  std::string line = line_of(event);
  ASSERT_EQ(line.back(), '\n');
  line.pop_back();
  const Result<Event> read = event_in(line);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(*read, event);
}

}  // namespace
}  // namespace remora::vm
