#include "front/resp/socket_events.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "runtime/poll_loop.h"

namespace remora::resp {
namespace {

// The number that the next descriptor gets: the lowest that is free.
int next_descriptor() {
  const int number = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  ::close(number);
  return number;
}

TEST(SocketEvents, leave_no_descriptor_open) {
  PollLoop loop;
  const int next = next_descriptor();
  {
    SocketEvents events(loop, [] { return false; });
    ASSERT_TRUE(events.open().ok());
    EXPECT_EQ(events.descriptor(), next);
  }
  EXPECT_EQ(next_descriptor(), next);
}

}  // namespace
}  // namespace remora::resp
