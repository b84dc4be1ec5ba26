#include "front/resp/guests.h"

#include <gtest/gtest.h>

namespace remora::resp {
namespace {

TEST(Guests, have_so_many_places_each_and_in_all) {
  Guests guests(3, 2);
  guests.came("a");
  guests.came("a");
  EXPECT_FALSE(guests.has_place_for("a"));
  EXPECT_TRUE(guests.has_place_for("b"));
  guests.came("b");
  EXPECT_FALSE(guests.has_place_for("c"));
}

TEST(Guests, give_their_places_back) {
  Guests guests(2, 1);
  guests.came("a");
  guests.came("b");
  guests.note_left("a");
  EXPECT_TRUE(guests.has_place_for("a"));
  EXPECT_FALSE(guests.has_place_for("b"));
  guests.note_left("nobody");
  guests.came("a");
  EXPECT_FALSE(guests.has_place_for("c"));
}

TEST(Guests, the_stores_own_are_not_counted) {
  Guests guests(0, 0);
  guests.came("");
  EXPECT_TRUE(guests.has_place_for(""));
  EXPECT_FALSE(guests.has_place_for("a"));
}

}  // namespace
}  // namespace remora::resp
