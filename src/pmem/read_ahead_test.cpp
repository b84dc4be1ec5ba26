#include "pmem/read_ahead.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/folder_testing.h"

namespace remora {
namespace {

TEST(ReadAhead, ChangesNothingOfMemoryWithNoFileBehindIt) {
  std::vector<std::byte> bytes(3 * page_bytes, std::byte{7});
  read_ahead(ConstBytes(bytes).subspan(5, 2 * page_bytes));
  read_ahead({});
  EXPECT_EQ(bytes, std::vector<std::byte>(3 * page_bytes, std::byte{7}));
}

// A file that is larger than what the kernel fetches of one call, mapped as pools are. What is
// asked for is advice: a busy kernel may leave pages out or take them away again, so this looks for
// far more than one call brings and not for every page, and asks again before it complains.
TEST(ReadAhead, FetchesFarMoreOfALargeRangeThanOneCallDoes) {
  constexpr std::size_t size = 24 << 20;
  constexpr std::size_t pages = size / page_bytes;
  const TestFolder folder;
  const std::string path = folder.path() / "large";
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  ASSERT_GE(file, 0);
  const std::vector<std::byte> content(size, std::byte{1});
  ASSERT_EQ(::pwrite(file, content.data(), size, 0), static_cast<ssize_t>(size));
  ASSERT_EQ(::fdatasync(file), 0);
  std::size_t most_present = 0;
  for (int attempts = 0; attempts < 5 && most_present < pages / 2; ++attempts) {
    ASSERT_EQ(::posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED), 0);
    void* const mapped = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    ASSERT_NE(mapped, MAP_FAILED);
    ASSERT_EQ(::madvise(mapped, size, MADV_RANDOM), 0);
    read_ahead(ConstBytes(static_cast<std::byte*>(mapped), size));
    std::vector<unsigned char> resident(pages);
    for (int looks = 0; looks < 300 && most_present < pages / 2; ++looks) {
      ASSERT_EQ(::mincore(mapped, size, resident.data()), 0);
      const auto present =
          std::ranges::count_if(resident, [](unsigned char page) { return (page & 1) != 0; });
      most_present = std::max(most_present, static_cast<std::size_t>(present));
      ::usleep(10'000);
    }
    ::munmap(mapped, size);
  }
  EXPECT_GE(most_present, pages / 2);
  ::close(file);
}

}  // namespace
}  // namespace remora
