#include "base/printable.h"

#include <gtest/gtest.h>

namespace remora {
namespace {

TEST(Printable, leaves_what_people_write) {
  std::string all;
  for (char letter = ' '; letter <= '~'; ++letter) {
    all += letter;
  }
  EXPECT_EQ(printable(all), all);
  EXPECT_EQ(printable(""), "");
}

TEST(Printable, makes_harmless_what_could_steer_a_terminal) {
  EXPECT_EQ(printable("\x1b[2Jgone\r\n\a"), "?[2Jgone???");
  EXPECT_EQ(printable(std::string_view("a\0b\x7f", 4)), "a?b?");
  EXPECT_EQ(printable("\xc2\x9b"), "??");
  EXPECT_EQ(printable("a\nb\tc", "\n"), "a\nb?c");
}

}  // namespace
}  // namespace remora
