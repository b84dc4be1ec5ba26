#include "pmem/file_ahead.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>

#include "base/folder_testing.h"

namespace remora {
namespace {

constexpr std::size_t ahead_file_bytes = 4 << 20;

// The blocks of the file that were never written; nothing where the file system does not tell.
std::optional<std::size_t> unwritten_bytes(int descriptor) {
  alignas(fiemap) std::byte memory[sizeof(fiemap) + 128 * sizeof(fiemap_extent)] = {};
  auto* const map = reinterpret_cast<fiemap*>(memory);
  map->fm_length = ahead_file_bytes;
  map->fm_flags = FIEMAP_FLAG_SYNC;
  map->fm_extent_count = 128;
  if (ioctl(descriptor, FS_IOC_FIEMAP, map) != 0) {
    return std::nullopt;
  }
  std::size_t bytes = 0;
  for (std::uint32_t i = 0; i < map->fm_mapped_extents; ++i) {
    const fiemap_extent& extent = map->fm_extents[i];
    bytes += (extent.fe_flags & FIEMAP_EXTENT_UNWRITTEN) != 0 ? extent.fe_length : 0;
  }
  return bytes;
}

class FileAheadTest : public testing::Test {
 protected:
  void SetUp() override {
    descriptor_ = open(folder_.file("ahead").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    ASSERT_GE(descriptor_, 0);
    ASSERT_EQ(posix_fallocate(descriptor_, 0, ahead_file_bytes), 0);
    void* const at =
        mmap(nullptr, ahead_file_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0);
    ASSERT_NE(at, MAP_FAILED);
    mapping_ = Bytes(static_cast<std::byte*>(at), ahead_file_bytes);
  }
  void TearDown() override {
    munmap(mapping_.data(), mapping_.size());
    close(descriptor_);
  }

  TestFolder folder_;
  int descriptor_ = -1;
  Bytes mapping_;
};

TEST_F(FileAheadTest, writes_blocks_that_never_were_and_changes_no_byte) {
  std::ranges::fill(mapping_.subspan(1 << 20, 100), std::byte{7});
  const std::optional<std::size_t> before = unwritten_bytes(descriptor_);
  FileAhead ahead(descriptor_, mapping_);
  ahead.prepare(mapping_.first(2 << 20));
  ahead.wait();
  EXPECT_TRUE(std::ranges::all_of(mapping_.subspan(1 << 20, 100),
                                  [](std::byte byte) { return byte == std::byte{7}; }));
  EXPECT_EQ(std::ranges::count(mapping_, std::byte{0}), ahead_file_bytes - 100);
  if (!before || *before < 2 << 20) {
    GTEST_SKIP() << "this file system does not tell of blocks that were never written";
  }
  EXPECT_LE(*unwritten_bytes(descriptor_), ahead_file_bytes - (2 << 20));
}

TEST_F(FileAheadTest, a_new_file_is_written_as_far_as_time_allows) {
  const std::optional<std::size_t> before = unwritten_bytes(descriptor_);
  ASSERT_TRUE(write_blocks(descriptor_, ahead_file_bytes, std::chrono::milliseconds(0)).ok());
  EXPECT_EQ(unwritten_bytes(descriptor_), before);
  ASSERT_TRUE(write_blocks(descriptor_, ahead_file_bytes, std::chrono::hours(1)).ok());
  EXPECT_EQ(std::ranges::count(mapping_, std::byte{0}), ahead_file_bytes);
  EXPECT_EQ(lseek(descriptor_, 0, SEEK_END), ahead_file_bytes);
  if (before) {
    EXPECT_EQ(unwritten_bytes(descriptor_), 0U);
  }
}

TEST_F(FileAheadTest, a_new_file_that_cannot_be_written_says_so) {
  const int reader = open(folder_.file("ahead").c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_GE(reader, 0);
  EXPECT_FALSE(write_blocks(reader, ahead_file_bytes, std::chrono::hours(1)).ok());
  close(reader);
}

TEST_F(FileAheadTest, takes_what_others_store_meanwhile_as_it_is) {
  FileAhead ahead(descriptor_, mapping_);
  ahead.prepare(mapping_);
  for (std::size_t i = 0; i < ahead_file_bytes; i += 64) {
    mapping_[i] = static_cast<std::byte>(i / 64 % 251);
  }
  ahead.wait();
  ASSERT_EQ(msync(mapping_.data(), mapping_.size(), MS_SYNC), 0);
  for (std::size_t i = 0; i < ahead_file_bytes; i += 64) {
    ASSERT_EQ(mapping_[i], static_cast<std::byte>(i / 64 % 251)) << i;
  }
}

TEST_F(FileAheadTest, ends_in_the_middle_of_its_work) {
  FileAhead ahead(descriptor_, mapping_);
  for (int i = 0; i < 100; ++i) {
    ahead.prepare(mapping_);
  }
}

}  // namespace
}  // namespace remora
