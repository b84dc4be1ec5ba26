// A pool file with holes on a file system that has no room for them: opening refuses it, where a
// store would have ended the process with SIGBUS. The small file system is a tmpfs of a mount
// namespace, and gone with the process that had it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/syscalls/served.h"

namespace remora::syscalls {
namespace {

using testing::HasSubstr;

class SparsePool : public testing::Test {
 protected:
  // What a shell says that has a tmpfs of 8 MB at $PLACE, with the command in $REMORA.
  Outcome in_small_place(const std::string& lines) {
    return run_process(
        {"/usr/bin/env", "PLACE=" + folder_.path().string(), "REMORA=" REMORA_COMMAND,
         "/usr/bin/unshare", "--mount", "--", "/bin/sh", "-ec",
         "mount -t tmpfs -o size=8M small \"$PLACE\" 2>&1 || exit 77\ncd \"$PLACE\"\n" + lines});
  }
  bool can_mount() { return in_small_place("true").exit_status == 0; }

  const TestFolder folder_;
};

constexpr const char* sparse_copy =
    "$REMORA pool create a.pool --size 6M >&2\n"
    "cp --sparse=always a.pool b.pool\n"
    "rm a.pool\n";

TEST_F(SparsePool, is_refused_where_the_disk_has_no_room_for_its_holes) {
  if (!can_mount()) {
    GTEST_SKIP() << "no right to mount a small file system here";
  }
  for (const std::string media : {"dram", "file"}) {
    const Outcome served = in_small_place(
        std::string(sparse_copy) + "head -c 9M /dev/zero >rest 2>/dev/null || true\n" +
        "$REMORA serve --pool b.pool --media " + media + " --socket b.sock --resp 127.0.0.1:0\n");
    EXPECT_EQ(served.exit_status, 3) << served.err;
    EXPECT_THAT(served.err, HasSubstr("the file has holes"));
    EXPECT_THAT(served.err, HasSubstr("bytes; make room"));
  }
}

TEST_F(SparsePool, is_made_whole_where_there_is_room) {
  if (!can_mount()) {
    GTEST_SKIP() << "no right to mount a small file system here";
  }
  const Outcome checked =
      in_small_place(std::string(sparse_copy) +
                     "[ $(stat -c %b b.pool) -lt 12288 ]\n"
                     "$REMORA serve --pool b.pool --socket b.sock &\n"
                     "until $REMORA put key value --socket b.sock 2>&1; do :; done\n"
                     "$REMORA stop --socket b.sock\n"
                     "wait\n"
                     "stat -c 'blocks %b' b.pool\n");
  EXPECT_EQ(checked.exit_status, 0) << checked.err << checked.out;
  EXPECT_THAT(checked.out, HasSubstr("blocks 12288"));
}

}  // namespace
}  // namespace remora::syscalls
