#include "lab/lives/stamped_value.h"

#include <gtest/gtest.h>

namespace remora::lab {
namespace {

TEST(StampedValue, tells_its_version_to_whom_it_belongs) {
  const std::string value = stamped_value("key-1", 42, 100);
  EXPECT_GE(value.size(), 90u);
  EXPECT_EQ(stamp_of("key-1", value), 42u);
  EXPECT_EQ(stamp_of("key-2", value), std::nullopt);
}

TEST(StampedValue, tells_nothing_when_it_is_torn) {
  const std::string value = stamped_value("key-1", 42, 100);
  for (std::size_t at = 0; at < value.size(); ++at) {
    std::string torn = value;
    torn[at] = torn[at] == 'x' ? 'y' : 'x';
    EXPECT_EQ(stamp_of("key-1", torn), std::nullopt) << at;
  }
  EXPECT_EQ(stamp_of("key-1", value.substr(0, 60)), std::nullopt);
  EXPECT_EQ(stamp_of("key-1", ""), std::nullopt);
}

}  // namespace
}  // namespace remora::lab
