#include "runtime/intrusive_list.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace remora {
namespace {

struct Member : ListHook {
  explicit Member(int given) : number(given) {}
  int number;
};

std::vector<int> numbers(IntrusiveList<Member>& list) {
  std::vector<int> all;
  list.for_each([&](Member& member) { all.push_back(member.number); });
  return all;
}

TEST(IntrusiveList, keeps_the_order_of_its_members) {
  Member one(1), two(2);
  IntrusiveList<Member> list;
  EXPECT_TRUE(list.empty());
  list.push_back(one);
  list.push_back(two);
  EXPECT_EQ(list.front().number, 1);
  EXPECT_EQ(list.pop_front().number, 1);
  EXPECT_FALSE(one.linked());
  EXPECT_EQ(numbers(list), std::vector<int>{2});
}

TEST(IntrusiveList, a_destroyed_member_leaves) {
  Member one(1);
  IntrusiveList<Member> list;
  list.push_back(one);
  {
    Member two(2);
    list.push_back(two);
  }
  EXPECT_EQ(numbers(list), std::vector<int>{1});
}

TEST(IntrusiveList, a_destroyed_list_lets_its_members_go) {
  Member one(1);
  {
    IntrusiveList<Member> list;
    list.push_back(one);
  }
  EXPECT_FALSE(one.linked());
  one.unlink();
}

TEST(IntrusiveList, takes_all_behind_its_own) {
  Member one(1), two(2), three(3);
  IntrusiveList<Member> first, second;
  first.push_back(one);
  second.push_back(two);
  second.push_back(three);
  first.take_all(second);
  first.take_all(second);
  EXPECT_TRUE(second.empty());
  EXPECT_EQ(numbers(first), (std::vector<int>{1, 2, 3}));
}

TEST(IntrusiveList, a_visit_may_unlink_its_member) {
  Member one(1), two(2), three(3);
  IntrusiveList<Member> list;
  list.push_back(one);
  list.push_back(two);
  list.push_back(three);
  list.for_each([](Member& member) {
    if (member.number == 2) {
      member.unlink();
    }
  });
  EXPECT_EQ(numbers(list), (std::vector<int>{1, 3}));
}

TEST(IntrusiveList, misuse_ends_the_program) {
  Member one(1);
  IntrusiveList<Member> list;
  EXPECT_DEATH(list.front(), "empty list");
  list.push_back(one);
  EXPECT_DEATH(list.push_back(one), "in a list already");
}

}  // namespace
}  // namespace remora
