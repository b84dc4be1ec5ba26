#include "fabric/nic/wire/mapped/mapped_pages.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <thread>
#include <vector>

namespace remora::fabric::nic::mapped {
namespace {

constexpr std::uint64_t file_bytes = 8 * page_bytes;

Descriptor make_file() {
  Descriptor file(::memfd_create("mapped-pages", MFD_CLOEXEC));
  EXPECT_EQ(::ftruncate(file.number(), file_bytes), 0);
  return file;
}

TEST(MappedPages, ConnectionsOfOneThreadHaveThemInCommon) {
  const Descriptor file = make_file();
  const Descriptor again(::dup(file.number()));
  const auto first = MappedPages::of(file, 0, file_bytes, true, false);
  const auto second = MappedPages::of(again, 0, file_bytes, true, true);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first, second);
  const std::byte value{3};
  second->medium()->copy(second->bytes().data() + 9, ConstBytes(&value, 1));
  EXPECT_EQ(first->bytes()[9], value);
}

TEST(MappedPages, OtherRightsRangesFilesAndThreadsGetTheirOwn) {
  const Descriptor file = make_file();
  const Descriptor other = make_file();
  const auto whole = MappedPages::of(file, 0, file_bytes, true, false);
  ASSERT_NE(whole, nullptr);
  EXPECT_NE(MappedPages::of(file, 0, file_bytes, false, false), whole);
  EXPECT_NE(MappedPages::of(file, page_bytes, page_bytes, true, false), whole);
  EXPECT_NE(MappedPages::of(other, 0, file_bytes, true, false), whole);
  std::thread([&] { EXPECT_NE(MappedPages::of(file, 0, file_bytes, true, false), whole); }).join();
}

TEST(MappedPages, TheyAreMappedAnewOnceNobodyHasThem) {
  const Descriptor file = make_file();
  auto pages = MappedPages::of(file, 0, file_bytes, true, false);
  ASSERT_NE(pages, nullptr);
  pages->bytes()[5] = std::byte{7};
  pages.reset();
  pages = MappedPages::of(file, 0, file_bytes, true, false);
  ASSERT_NE(pages, nullptr);
  EXPECT_EQ(pages->bytes()[5], std::byte{7});
}

TEST(MappedPages, AFileThatWasCutShortIsNotMadeLongerByAWrite) {
  const Descriptor file = make_file();
  const auto pages = MappedPages::of(file, 0, file_bytes, true, true);
  ASSERT_NE(pages, nullptr);
  const std::vector<std::byte> value(page_bytes, std::byte{5});
  EXPECT_TRUE(pages->write(file_bytes - page_bytes, value));
  ASSERT_EQ(::ftruncate(file.number(), page_bytes), 0);
  EXPECT_FALSE(pages->write(file_bytes - page_bytes, value));
  EXPECT_EQ(::lseek(file.number(), 0, SEEK_END), static_cast<off_t>(page_bytes));
}

TEST(MappedPages, WhatTheTargetCommitsCanBeWrittenByTheFile) {
  const Descriptor file = make_file();
  const auto pages = MappedPages::of(file, page_bytes, 2 * page_bytes, true, true);
  ASSERT_NE(pages, nullptr);
  const std::vector<std::byte> value(page_bytes, std::byte{7});
  ASSERT_TRUE(pages->write(100, value));
  EXPECT_TRUE(std::ranges::equal(pages->bytes().subspan(100, page_bytes), value));
  EXPECT_EQ(pages->bytes()[99], std::byte{0});
  EXPECT_EQ(pages->bytes()[100 + page_bytes], std::byte{0});
}

TEST(MappedPages, WhatMayOnlyBeReadOrNeedsNoCommitIsNotWrittenByTheFile) {
  const Descriptor file = make_file();
  const std::vector<std::byte> value(100, std::byte{7});
  const auto read = MappedPages::of(file, 0, file_bytes, false, true);
  const auto memory = MappedPages::of(file, 0, file_bytes, true, false);
  ASSERT_TRUE(read != nullptr && memory != nullptr);
  EXPECT_FALSE(read->write(0, value));
  EXPECT_FALSE(memory->write(0, value));
  EXPECT_EQ(memory->bytes()[0], std::byte{0});
}

TEST(MappedPages, AFileBeyondTheLimitOnFileSizesIsNotWrittenByTheFile) {
  const Descriptor file = make_file();
  rlimit before = {};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit small = before;
  small.rlim_cur = file_bytes / 2;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const auto pages = MappedPages::of(file, 0, file_bytes, true, true);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  ASSERT_NE(pages, nullptr);
  EXPECT_FALSE(pages->write(0, std::vector<std::byte>(100)));
}

TEST(MappedPages, ARangeBeyondTheFileIsRefused) {
  const Descriptor file = make_file();
  EXPECT_EQ(MappedPages::of(file, page_bytes, file_bytes, true, false), nullptr);
  EXPECT_EQ(MappedPages::of(file, 2 * file_bytes, page_bytes, true, false), nullptr);
}

}  // namespace
}  // namespace remora::fabric::nic::mapped
