// The same for clients: a system call of the command fails, once or from then on, while a sound
// server serves. The command does what it was asked to, or ends with a status of its own and a
// word.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/syscalls/served.h"

namespace remora::syscalls {
namespace {

using testing::AnyOf;

class ClientCalls : public testing::TestWithParam<const char*> {
 protected:
  Outcome command(const std::string& fail, std::vector<std::string> words) const {
    words.insert(words.begin(),
                 {"/usr/bin/timeout", "60", "/usr/bin/env", "LD_PRELOAD=" REMORA_SYSCALL_SHIM,
                  "REMORA_FAIL=" + fail, REMORA_COMMAND});
    words.insert(words.end(), {"--socket", served_.socket()});
    return run_process(words);
  }

  const TestFolder folder_{REMORA_DISK_FOLDER};
  Served served_{folder_, ""};
};

INSTANTIATE_TEST_SUITE_P(Kinds, ClientCalls,
                         testing::Values("connect", "socket", "recv", "send", "memfd_create",
                                         "mmap", "ftruncate", "eventfd", "epoll_ctl",
                                         "epoll_create", "epoll_wait", "read", "thread"),
                         [](const auto& kind) { return std::string(kind.param); });

TEST_P(ClientCalls, end_the_command_with_a_word_or_not_at_all) {
  ASSERT_TRUE(served_.wait_until_it_serves()) << served_.process().err();
  ASSERT_EQ(RedisClient(served_.redis_port()).ask("SET key value"), "+OK");
  for (const std::string call : {"1", "1+", "2", "2+", "4", "4+"}) {
    const std::string fail = std::string(GetParam()) + ":" + call;
    SCOPED_TRACE(fail);
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{"put", "--persistent", "new", "value"}, {"get", "key"}}) {
      const Outcome outcome = command(fail, words);
      EXPECT_THAT(outcome.exit_status, AnyOf(0, 2, 3)) << outcome.err;
      EXPECT_EQ(outcome.exit_status != 0, outcome.err.starts_with("remora: ")) << outcome.err;
      if (words[0] == "get" && outcome.exit_status == 0) {
        EXPECT_EQ(outcome.out, "value");
      }
    }
  }
  EXPECT_EQ(RedisClient(served_.redis_port()).ask("GET key"), "$5");
  EXPECT_EQ(served_.stop(), 0) << served_.process().err();
}

}  // namespace
}  // namespace remora::syscalls
