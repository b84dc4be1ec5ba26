#include "lab/subjects/files/posix_tree.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "lab/subjects/files/file_contents.h"

namespace remora::lab {
namespace {

TEST(PosixTree, has_the_errnos_of_posix) {
  PosixTree tree;
  ASSERT_EQ(tree.make(0, "a", PosixKind::directory, 0755), 0);
  const int a = tree.last_made();
  ASSERT_EQ(tree.make(a, "f", PosixKind::file, 0644), 0);
  const int f = tree.last_made();
  EXPECT_EQ(tree.make(0, "a", PosixKind::file, 0644), EEXIST);
  EXPECT_EQ(tree.make(f, "x", PosixKind::file, 0644), ENOTDIR);
  EXPECT_EQ(tree.make(0, std::string(256, 'x'), PosixKind::file, 0644), ENAMETOOLONG);
  EXPECT_EQ(tree.unlink(0, "a"), EISDIR);
  EXPECT_EQ(tree.unlink(0, "none"), ENOENT);
  EXPECT_EQ(tree.remove_directory(0, "a"), ENOTEMPTY);
  EXPECT_EQ(tree.rename(0, "a", a, "x", PosixRename::replace), EINVAL);
  EXPECT_EQ(tree.rename(a, "f", 0, "a", PosixRename::replace), ENOTEMPTY);
  EXPECT_EQ(tree.rename(a, "f", 0, "a", PosixRename::no_replace), EEXIST);
  EXPECT_EQ(tree.rename(a, "f", 0, "g", PosixRename::exchange), ENOENT);
  EXPECT_EQ(tree.link(a, 0, "b"), EPERM);
  EXPECT_EQ(tree.links_of(0), 3u);
}

TEST(PosixTree, says_of_two_names_that_they_are_one_file) {
  PosixTree tree;
  ASSERT_EQ(tree.make(0, "b", PosixKind::file, 0644), 0);
  ASSERT_EQ(tree.link(tree.last_made(), 0, "a"), 0);
  EXPECT_EQ(tree.describe(), " d 755 0:0 x2 @0\n/a f 644 0:0 x2 @0\n/b f 644 0:0 x2 @0 = /a\n");
  ASSERT_EQ(tree.unlink(0, "a"), 0);
  EXPECT_EQ(tree.describe(), " d 755 0:0 x2 @0\n/b f 644 0:0 x1 @0\n");
}

TEST(FileContents, takes_words_of_any_version_since_the_sync_and_no_others) {
  FileContents contents("aaaaaaaabbbbbbbb");
  contents.add("ccccccccddddddddee");
  EXPECT_FALSE(contents.fault_of("aaaaaaaabbbbbbbb"));
  EXPECT_FALSE(contents.fault_of("ccccccccbbbbbbbb"));
  EXPECT_FALSE(contents.fault_of("aaaaaaaaddddddddee"));
  EXPECT_TRUE(contents.fault_of("aaaaaaaadddddddde"));
  EXPECT_TRUE(contents.fault_of("aaaaccccdddddddd"));
  EXPECT_TRUE(contents.fault_of(std::string("aaaaaaaadddddddd\0\0", 18)));
  contents.synced(contents.version());
  EXPECT_TRUE(contents.fault_of("aaaaaaaabbbbbbbb"));
  EXPECT_FALSE(contents.fault_of("ccccccccddddddddee"));
}

}  // namespace
}  // namespace remora::lab
