#include "base/file_size.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

namespace remora {
namespace {

TEST(FileSize, that_of_a_regular_file_as_it_is_now) {
  const int file = ::memfd_create("file_size_test", 0);
  ASSERT_GE(file, 0);
  EXPECT_EQ(file_size(file), 0U);
  ASSERT_EQ(::ftruncate(file, 12'345), 0);
  EXPECT_EQ(file_size(file), 12'345U);
  ASSERT_EQ(::ftruncate(file, 45), 0);
  EXPECT_EQ(file_size(file), 45U);
  ::close(file);
}

TEST(FileSize, a_device_and_a_descriptor_that_is_none_have_none) {
  const int device = ::open("/dev/null", O_RDONLY);
  ASSERT_GE(device, 0);
  EXPECT_EQ(file_size(device), std::nullopt);
  ::close(device);
  EXPECT_EQ(file_size(-1), std::nullopt);
}

}  // namespace
}  // namespace remora
