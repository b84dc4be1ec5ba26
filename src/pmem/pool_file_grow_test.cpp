// Growing a pool in a file: what is refused, and what stays.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>

#include "pmem/pmem_testing.h"
#include "pmem/pool_file.h"

namespace remora {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t old_bytes = 256 << 10;
constexpr std::uint64_t new_bytes = 1 << 20;

class PoolFileGrow : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (GetParam() && !disk_place()) {
      GTEST_SKIP() << "every folder for tests is in memory here";
    }
    folder_ = std::make_unique<TestFolder>(GetParam() ? *disk_place() : memory_place());
    path_ = folder_->file("pool");
    Result<PoolFile> file = PoolFile::create(path_, old_bytes, Media::automatic);
    ASSERT_TRUE(file.ok()) << file.status().message();
    ASSERT_TRUE(put("first", file->pool()));
  }
  static bool put(const std::string& root, Pool& pool) {
    const Result<Offset> offset = pool.reserve(20'000);
    Transaction transaction;
    if (!offset.ok() || !transaction.publish_sealed(*offset, 20'000).ok() ||
        !transaction.set_root(root, *offset).ok()) {
      return false;
    }
    std::memset(pool.object(*offset).data(), root[0], 20'000);
    const Result<Ticket> ticket = pool.commit(transaction);
    return ticket.ok() && pool.wait(*ticket).ok();
  }
  void expect_size(std::uint64_t pool_bytes) {
    Result<PoolFile> file = PoolFile::open(path_, Media::automatic);
    ASSERT_TRUE(file.ok()) << file.status().message();
    EXPECT_EQ(file->pool().size_bytes(), pool_bytes);
    const Result<Offset> first = file->pool().root("first");
    ASSERT_TRUE(first.ok());
    EXPECT_EQ(file->pool().object(*first)[19'999], std::byte{'f'});
    EXPECT_TRUE(file->pool().check_in_full().ok());
  }
  void expect_refused(std::uint64_t size_bytes, Code code, const std::string& why) {
    const Status status = PoolFile::grow(path_, size_bytes, Media::automatic).status();
    EXPECT_EQ(status.code(), code) << status.message();
    EXPECT_NE(status.message().find(why), std::string_view::npos) << status.message();
    EXPECT_NE(status.message().find(path_), std::string_view::npos) << status.message();
  }

  std::unique_ptr<TestFolder> folder_;
  std::string path_;
};

INSTANTIATE_TEST_SUITE_P(Places, PoolFileGrow, testing::Bool(),
                         [](const auto& place) { return place.param ? "on_disk" : "in_memory"; });

TEST_P(PoolFileGrow, file_and_pool_become_larger) {
  {
    Result<PoolFile> file = PoolFile::grow(path_, new_bytes + 100, Media::automatic);
    ASSERT_TRUE(file.ok()) << file.status().message();
    EXPECT_EQ(file->pool().size_bytes(), new_bytes);
    for (const char* root : {"a", "b", "c", "d", "e", "g", "h", "i", "j", "k", "l", "m"}) {
      EXPECT_TRUE(put(root, file->pool()));
    }
  }
  EXPECT_EQ(fs::file_size(path_), new_bytes);
  struct stat facts {};
  ASSERT_EQ(stat(path_.c_str(), &facts), 0);
  EXPECT_GE(facts.st_blocks * 512, static_cast<std::int64_t>(new_bytes)) << "it has no holes";
  expect_size(new_bytes);
  ASSERT_TRUE(PoolFile::grow(path_, 2 * new_bytes, Media::automatic).ok());
  expect_size(2 * new_bytes);
}

TEST_P(PoolFileGrow, a_file_that_is_longer_than_its_pool_is_taken_as_it_is) {
  std::ofstream(path_, std::ios::app | std::ios::binary) << std::string(2 * new_bytes, '\xa5');
  expect_size(old_bytes);
  ASSERT_TRUE(PoolFile::grow(path_, new_bytes, Media::automatic).ok());
  EXPECT_EQ(fs::file_size(path_), old_bytes + 2 * new_bytes);
  expect_size(new_bytes);
}

TEST_P(PoolFileGrow, refuses_sizes_that_cannot_be) {
  expect_refused(old_bytes, Code::invalid_argument, "256 KiB already");
  expect_refused(old_bytes / 2, Code::invalid_argument, "cannot become smaller");
  expect_refused(old_bytes + 4096, Code::invalid_argument, "32 KiB or more");
  expect_refused(pool_format::largest_pool_bytes + 4096, Code::invalid_argument, "64 TiB");
  EXPECT_EQ(fs::file_size(path_), old_bytes);
  expect_size(old_bytes);
}

TEST_P(PoolFileGrow, leaves_the_file_as_it_was_where_it_cannot_become_larger) {
  const int code = in_child([this] {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{new_bytes, new_bytes};
    setrlimit(RLIMIT_FSIZE, &limit);
    return static_cast<int>(PoolFile::grow(path_, 2 * new_bytes, Media::automatic).code());
  });
  EXPECT_EQ(code, static_cast<int>(Code::no_space));
  EXPECT_EQ(fs::file_size(path_), old_bytes);
  expect_size(old_bytes);
}

TEST_P(PoolFileGrow, says_so_where_the_disk_is_smaller_than_the_pool_is_to_be) {
  constexpr std::uint64_t wanted_bytes = std::uint64_t{1} << 45;
  if (may_have_room(folder_->path(), wanted_bytes)) {
    GTEST_SKIP() << "the disk does not say that it is smaller";
  }
  expect_refused(wanted_bytes, Code::no_space, "the disk has no room");
  EXPECT_EQ(fs::file_size(path_), old_bytes);
  expect_size(old_bytes);
}

TEST_P(PoolFileGrow, refuses_a_pool_that_has_an_owner) {
  Result<PoolFile> owner = PoolFile::open(path_, Media::automatic);
  ASSERT_TRUE(owner.ok());
  expect_refused(new_bytes, Code::in_use, "remora stop");
  EXPECT_EQ(fs::file_size(path_), old_bytes);
}

TEST_P(PoolFileGrow, refuses_a_damaged_pool) {
  const pool_format::Header header = PoolFile::open(path_, Media::automatic)->pool().header();
  // In a group of blocks that has no chunk nobody looks but the full check.
  std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(header.table + 50 * sizeof(pool_format::BlockEntry)));
  file << "x" << std::flush;
  expect_refused(new_bytes, Code::damaged, "block");
  EXPECT_EQ(fs::file_size(path_), old_bytes);
  file.seekp(0);
  file << "x" << std::flush;
  expect_refused(new_bytes, Code::invalid_argument, "not a Remora pool");
  EXPECT_EQ(fs::file_size(path_), old_bytes);
}

TEST_P(PoolFileGrow, refuses_what_is_not_there) {
  path_ = folder_->file("other");
  expect_refused(new_bytes, Code::not_found, "");
  EXPECT_FALSE(fs::exists(path_));
}

TEST_P(PoolFileGrow, a_pool_that_was_grown_is_refused_when_its_file_is_cut_short) {
  ASSERT_TRUE(PoolFile::grow(path_, new_bytes, Media::automatic).ok());
  fs::resize_file(path_, new_bytes - 4096);
  EXPECT_EQ(PoolFile::verify(path_).code(), Code::damaged);
  const Status status = PoolFile::open(path_, Media::automatic).status();
  EXPECT_EQ(status.code(), Code::damaged);
  EXPECT_NE(status.message().find("truncated"), std::string_view::npos) << status.message();
}

}  // namespace
}  // namespace remora
