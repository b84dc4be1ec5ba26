#include "lab/measured/child.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

namespace remora::lab {
namespace {

TEST(Child, ends_with_what_it_returns) {
  const Result<pid_t> child = fork_child("a test", [] { return 7; });
  ASSERT_TRUE(child.ok());
  int ended = 0;
  ASSERT_EQ(waitpid(*child, &ended, 0), *child);
  EXPECT_TRUE(WIFEXITED(ended));
  EXPECT_EQ(WEXITSTATUS(ended), 7);
}

TEST(Child, is_gone_when_it_was_ended) {
  const Result<pid_t> child = fork_child("a test", [] { return pause(); });
  ASSERT_TRUE(child.ok());
  end_child(*child);
  EXPECT_EQ(kill(*child, 0), -1);
  EXPECT_EQ(errno, ESRCH);
}

// The grandchild would hold its end of the pipe open for ever.
TEST(Child, ends_with_its_parent) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const Result<pid_t> child = fork_child("a test", [] {
    (void)fork_child("a test of a test", [] { return pause(); });
    return 0;
  });
  ASSERT_TRUE(child.ok());
  close(ends[1]);
  ASSERT_EQ(waitpid(*child, nullptr, 0), *child);
  char byte = 0;
  EXPECT_EQ(read(ends[0], &byte, 1), 0);
  close(ends[0]);
}

}  // namespace
}  // namespace remora::lab
