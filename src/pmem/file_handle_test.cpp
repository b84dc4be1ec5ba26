#include "pmem/file_handle.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "pmem/pmem_testing.h"

namespace remora {
namespace {

namespace fs = std::filesystem;

class FileHandleTest : public testing::Test {
 protected:
  const TestFolder folder_{fs::temp_directory_path()};
  const std::string path_ = folder_.file("file");
};

std::string text_of(const Status& status) {
  return std::string(status.message());
}

TEST_F(FileHandleTest, creates_a_file_that_is_allocated_and_zero) {
  Result<FileHandle> file = FileHandle::create(path_, 1 << 20);
  ASSERT_TRUE(file.ok()) << text_of(file.status());
  EXPECT_EQ(*file->size_bytes(), 1u << 20);
  EXPECT_TRUE(file->writable());
  EXPECT_EQ(file->path(), path_);
  struct stat facts {};
  ASSERT_EQ(fstat(file->descriptor(), &facts), 0);
  EXPECT_GE(facts.st_blocks * 512, 1 << 20);
  std::vector<char> content(1 << 20, 'x');
  ASSERT_EQ(pread(file->descriptor(), content.data(), content.size(), 0), 1 << 20);
  EXPECT_TRUE(std::ranges::all_of(content, [](char byte) { return byte == 0; }));
}

TEST_F(FileHandleTest, a_new_file_is_its_owners_alone) {
  Result<FileHandle> file = FileHandle::create(path_, 4096);
  ASSERT_TRUE(file.ok());
  struct stat facts {};
  ASSERT_EQ(fstat(file->descriptor(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0600u);
}

TEST_F(FileHandleTest, is_not_opened_while_somebody_else_has_it_mapped) {
  ASSERT_TRUE(FileHandle::create(path_, 4096).ok());
  const int other = open(path_.c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_GE(other, 0);
  ASSERT_TRUE(FileHandle::mark_mapped(other).ok());
  void* mapped = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, other, 0);
  ASSERT_NE(mapped, MAP_FAILED);
  close(other);  // the mapping is enough
  Result<FileHandle> refused = FileHandle::open(path_, true);
  EXPECT_EQ(refused.code(), Code::in_use);
  EXPECT_NE(text_of(refused.status()).find("try again"), std::string::npos);
  munmap(mapped, 4096);
  EXPECT_TRUE(FileHandle::open(path_, true).ok());
}

// Between the open and the lock of a start, another one may undo what it made.
TEST_F(FileHandleTest, knows_a_path_that_leads_elsewhere_meanwhile) {
  std::ofstream(path_) << "first";
  const int opened = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_GE(opened, 0);
  EXPECT_TRUE(leads_to(path_, opened));
  ASSERT_EQ(unlink(path_.c_str()), 0);
  EXPECT_FALSE(leads_to(path_, opened));
  std::ofstream(path_) << "second";
  EXPECT_FALSE(leads_to(path_, opened));
  // What has no name any more can be meant by its descriptor.
  EXPECT_TRUE(leads_to("/proc/self/fd/" + std::to_string(opened), opened));
  close(opened);
}

TEST_F(FileHandleTest, create_refuses_a_file_that_exists_and_leaves_it_alone) {
  std::ofstream(path_) << "precious";
  Result<FileHandle> file = FileHandle::create(path_, 4096);
  EXPECT_EQ(file.code(), Code::already_exists);
  EXPECT_NE(text_of(file.status()).find("choose another path"), std::string::npos);
  EXPECT_EQ(fs::file_size(path_), 8u);
}

TEST_F(FileHandleTest, create_refuses_other_things_in_its_place) {
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  EXPECT_EQ(FileHandle::create(path_, 4096).code(), Code::already_exists);
  EXPECT_EQ(FileHandle::create(folder_.path().string(), 4096).code(), Code::already_exists);
  const std::string link = folder_.file("link");
  fs::create_symlink(folder_.file("nowhere"), link);
  EXPECT_EQ(FileHandle::create(link, 4096).code(), Code::already_exists);
  EXPECT_FALSE(fs::exists(folder_.file("nowhere")));
}

TEST_F(FileHandleTest, create_refuses_a_folder_that_is_not_there) {
  EXPECT_EQ(FileHandle::create(folder_.file("no/such"), 4096).code(), Code::not_found);
}

TEST(FileHandleSpace, create_without_room_leaves_no_file) {
  const TestFolder folder(memory_place());
  constexpr std::uint64_t exbibyte = std::uint64_t{1} << 60;
  Result<FileHandle> file = FileHandle::create(folder.file("file"), exbibyte);
  EXPECT_EQ(file.code(), Code::no_space);
  EXPECT_NE(text_of(file.status()).find("choose a smaller size"), std::string::npos);
  EXPECT_TRUE(folder.empty());
}

TEST_F(FileHandleTest, create_beyond_the_limit_for_files_leaves_no_file) {
  const int code = in_child([this] {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{1 << 20, 1 << 20};
    setrlimit(RLIMIT_FSIZE, &limit);
    return static_cast<int>(FileHandle::create(path_, 2 << 20).code());
  });
  EXPECT_EQ(code, static_cast<int>(Code::no_space));
  EXPECT_TRUE(folder_.empty());
}

TEST(FileHandleSpace, holes_are_filled_and_no_byte_changes) {
  for (const fs::path& place : {memory_place(), fs::temp_directory_path()}) {
    const TestFolder folder(place);
    const std::string path = folder.file("file");
    std::ofstream(path) << "word";
    fs::resize_file(path, 1 << 20);
    const std::string before = content_of(path);
    Result<FileHandle> file = FileHandle::open(path, true);
    ASSERT_TRUE(file.ok()) << text_of(file.status());
    struct stat facts {};
    ASSERT_EQ(fstat(file->descriptor(), &facts), 0);
    ASSERT_LT(facts.st_blocks * 512, 1 << 20);
    EXPECT_TRUE(file->fill_holes().ok());
    ASSERT_EQ(fstat(file->descriptor(), &facts), 0);
    EXPECT_GE(facts.st_blocks * 512, 1 << 20);
    EXPECT_EQ(facts.st_size, 1 << 20);
    EXPECT_TRUE(content_of(path) == before);
    EXPECT_TRUE(file->fill_holes().ok());
  }
}

TEST(FileHandleSpace, holes_without_room_are_refused_with_what_is_missing) {
  const TestFolder folder(memory_place());
  constexpr std::uint64_t pebibyte = std::uint64_t{1} << 50;
  std::ofstream(folder.file("file")) << "word";
  fs::resize_file(folder.file("file"), pebibyte);
  Result<FileHandle> file = FileHandle::open(folder.file("file"), true);
  ASSERT_TRUE(file.ok()) << text_of(file.status());
  const Status filled = file->fill_holes();
  EXPECT_EQ(filled.code(), Code::no_space);
  EXPECT_NE(text_of(filled).find(std::to_string(pebibyte - page_bytes) + " bytes; make room"),
            std::string::npos)
      << text_of(filled);
}

TEST_F(FileHandleTest, open_refuses_a_file_that_is_not_there) {
  for (const bool writable : {false, true}) {
    Result<FileHandle> file = FileHandle::open(path_, writable);
    EXPECT_EQ(file.code(), Code::not_found);
    EXPECT_NE(text_of(file.status()).find("remora pool create"), std::string::npos);
  }
}

TEST_F(FileHandleTest, open_refuses_what_is_not_a_regular_file) {
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  for (const std::string& path : {path_, folder_.path().string(), std::string("/dev/null")}) {
    for (const bool writable : {false, true}) {
      EXPECT_EQ(FileHandle::open(path, writable).code(), Code::invalid_argument) << path;
    }
  }
}

TEST_F(FileHandleTest, one_writer_excludes_everybody) {
  Result<FileHandle> owner = FileHandle::create(path_, 4096);
  ASSERT_TRUE(owner.ok());
  for (const bool writable : {false, true}) {
    const int code =
        in_child([&] { return static_cast<int>(FileHandle::open(path_, writable).code()); });
    EXPECT_EQ(code, static_cast<int>(Code::in_use));
  }
  Result<FileHandle> second = FileHandle::open(path_, true);
  EXPECT_EQ(second.code(), Code::in_use);
  EXPECT_NE(text_of(second.status()).find("stop the process"), std::string::npos);
}

TEST_F(FileHandleTest, readers_exclude_writers_only) {
  ASSERT_TRUE(FileHandle::create(path_, 4096).ok());
  Result<FileHandle> reader = FileHandle::open(path_, false);
  ASSERT_TRUE(reader.ok());
  EXPECT_FALSE(reader->writable());
  EXPECT_EQ(in_child([&] { return static_cast<int>(FileHandle::open(path_, false).code()); }),
            static_cast<int>(Code::ok));
  EXPECT_EQ(in_child([&] { return static_cast<int>(FileHandle::open(path_, true).code()); }),
            static_cast<int>(Code::in_use));
}

TEST_F(FileHandleTest, closing_gives_the_lock_back) {
  { ASSERT_TRUE(FileHandle::create(path_, 4096).ok()); }
  { ASSERT_TRUE(FileHandle::open(path_, true).ok()); }
  EXPECT_TRUE(FileHandle::open(path_, true).ok());
}

TEST_F(FileHandleTest, a_killed_owner_gives_the_lock_back) {
  ASSERT_TRUE(FileHandle::create(path_, 4096).ok());
  const int ended = in_child([this] {
    Result<FileHandle> file = FileHandle::open(path_, true);
    return file.ok() ? raise(SIGKILL) : 1;
  });
  EXPECT_EQ(ended, -SIGKILL);
  EXPECT_TRUE(FileHandle::open(path_, true).ok());
}

TEST_F(FileHandleTest, moving_moves_the_lock) {
  Result<FileHandle> file = FileHandle::create(path_, 4096);
  ASSERT_TRUE(file.ok());
  FileHandle moved(std::move(file).value());
  EXPECT_EQ(FileHandle::open(path_, true).code(), Code::in_use);
  EXPECT_EQ(*moved.size_bytes(), 4096u);
  Result<FileHandle> other = FileHandle::create(folder_.file("other"), 8192);
  ASSERT_TRUE(other.ok());
  moved = std::move(other).value();
  EXPECT_EQ(*moved.size_bytes(), 8192u);
  EXPECT_EQ(moved.path(), folder_.file("other"));
}

TEST(FileHandlePlace, knows_a_file_system_in_memory) {
  const TestFolder in_memory(memory_place());
  Result<FileHandle> file = FileHandle::create(in_memory.file("file"), 4096);
  ASSERT_TRUE(file.ok());
  EXPECT_TRUE(file->in_memory());
  if (!disk_place()) {
    GTEST_SKIP() << "every folder for tests is in memory here";
  }
  const TestFolder on_disk(*disk_place());
  Result<FileHandle> other = FileHandle::create(on_disk.file("file"), 4096);
  ASSERT_TRUE(other.ok());
  EXPECT_FALSE(other->in_memory());
}

}  // namespace
}  // namespace remora
