#include "fabric/nic/wire/mapped/mapped_pages.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <thread>

namespace remora::fabric::nic {
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
  const auto first = MappedPages::of(file, 0, file_bytes, true, true);
  const auto second = MappedPages::of(again, 0, file_bytes, true, false);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first, second);
  const std::byte value{3};
  second->medium()->copy(second->bytes().data() + 9, ConstBytes(&value, 1));
  EXPECT_EQ(first->bytes()[9], value);
}

TEST(MappedPages, OtherRightsRangesFilesAndThreadsGetTheirOwn) {
  const Descriptor file = make_file();
  const Descriptor other = make_file();
  const auto whole = MappedPages::of(file, 0, file_bytes, true, true);
  ASSERT_NE(whole, nullptr);
  EXPECT_NE(MappedPages::of(file, 0, file_bytes, false, true), whole);
  EXPECT_NE(MappedPages::of(file, page_bytes, page_bytes, true, true), whole);
  EXPECT_NE(MappedPages::of(other, 0, file_bytes, true, true), whole);
  std::thread([&] { EXPECT_NE(MappedPages::of(file, 0, file_bytes, true, true), whole); }).join();
}

TEST(MappedPages, TheyAreMappedAnewOnceNobodyHasThem) {
  const Descriptor file = make_file();
  auto pages = MappedPages::of(file, 0, file_bytes, true, true);
  ASSERT_NE(pages, nullptr);
  pages->bytes()[5] = std::byte{7};
  pages.reset();
  pages = MappedPages::of(file, 0, file_bytes, true, true);
  ASSERT_NE(pages, nullptr);
  EXPECT_EQ(pages->bytes()[5], std::byte{7});
}

TEST(MappedPages, ARangeBeyondTheFileIsRefused) {
  const Descriptor file = make_file();
  EXPECT_EQ(MappedPages::of(file, page_bytes, file_bytes, true, true), nullptr);
  EXPECT_EQ(MappedPages::of(file, 2 * file_bytes, page_bytes, true, true), nullptr);
}

}  // namespace
}  // namespace remora::fabric::nic
