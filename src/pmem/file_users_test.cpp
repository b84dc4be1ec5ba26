#include "pmem/file_users.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "pmem/file_handle.h"
#include "pmem/pmem_testing.h"

namespace remora {
namespace {

using testing::HasSubstr;

class FileUsersTest : public testing::Test {
 protected:
  FileUsersTest() { EXPECT_TRUE(FileHandle::create(path_, 4096).ok()); }
  ~FileUsersTest() override {
    if (child_ > 0) {
      ::kill(child_, SIGKILL);
      ::waitpid(child_, nullptr, 0);
    }
  }

  // As a client of a server that was killed has it: marked, mapped, and closed.
  static bool map_as_client(const std::string& path) {
    const int descriptor = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    const bool is_mapped =
        FileHandle::mark_mapped(descriptor).ok() &&
        ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0) != MAP_FAILED;
    ::close(descriptor);
    return is_mapped;
  }
  // A client that is then stopped.
  void start_stopped_client() {
    child_ = ::fork();
    if (child_ == 0) {
      if (map_as_client(path_)) {
        ::raise(SIGSTOP);
      }
      ::_exit(1);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child_, &status, WUNTRACED), child_);
    ASSERT_TRUE(WIFSTOPPED(status));
  }

  TestFolder folder_;
  const std::string path_ = folder_.file("file");
  pid_t child_ = -1;
};

TEST_F(FileUsersTest, names_the_stopped_client_that_keeps_a_pool_from_being_opened) {
  start_stopped_client();
  const Result<FileHandle> refused = FileHandle::open(path_, true);
  ASSERT_EQ(refused.code(), Code::in_use);
  const std::string number = std::to_string(child_);
  EXPECT_THAT(std::string(refused.status().message()),
              testing::AllOf(HasSubstr("process " + number + " ("), HasSubstr("which is stopped"),
                             HasSubstr("kill -CONT " + number)));
}

TEST_F(FileUsersTest, are_those_that_have_it_open_and_not_this_process_for_that) {
  const int own = ::open(path_.c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_GE(own, 0);
  EXPECT_TRUE(users_of_file(own).empty());
  child_ = ::fork();  // with the same descriptor
  if (child_ == 0) {
    ::pause();
    ::_exit(1);
  }
  const std::vector<FileUser> users = users_of_file(own);
  ASSERT_EQ(users.size(), 1u);
  EXPECT_EQ(users[0].pid, child_);
  EXPECT_FALSE(users[0].is_stopped);
  ::close(own);
}

TEST_F(FileUsersTest, of_a_file_that_nobody_has_are_none) {
  EXPECT_TRUE(users_of_file(-1).empty());
  EXPECT_EQ(words_of({}), "");
  EXPECT_EQ(words_of({{.pid = 7, .name = "one"}, {.pid = 9, .name = "two", .is_stopped = true}}),
            "process 7 (one), process 9 (two), which is stopped (kill -CONT 9 lets it go on)");
}

}  // namespace
}  // namespace remora
