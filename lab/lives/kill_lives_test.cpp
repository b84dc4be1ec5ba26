#include "lab/lives/kill_lives.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>

namespace remora::lab {
namespace {

// A campaign whose server ends at once, and which would wait longer than any test for one that
// lives.
class KillLivesOfNobody : public testing::Test {
 protected:
  KillLivesOfNobody() {
    std::filesystem::remove_all(options.folder);
    std::filesystem::create_directories(options.folder);
  }
  ~KillLivesOfNobody() override { std::filesystem::remove_all(options.folder); }

  KillOptions options = {.program = "/bin/false",
                         .folder = testing::TempDir() + "/nobody-" + std::to_string(::getpid()),
                         .patience_ns = std::uint64_t{24} * 3600 * 1'000'000'000};
};

TEST_F(KillLivesOfNobody, does_not_wait_for_a_server_that_has_ended_by_natives) {
  options.clients = 1;
  EXPECT_EQ(KillLives(options).start_and_check().code(), Code::closed);
}

TEST_F(KillLivesOfNobody, does_not_wait_for_a_server_that_has_ended_by_redis) {
  options.clients = 0;
  options.redis_clients = 1;
  EXPECT_FALSE(KillLives(options).start_and_check().ok());
}

}  // namespace
}  // namespace remora::lab
