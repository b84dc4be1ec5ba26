// A disk that refuses a write, under the real server: the store has failed for good, and says so.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/syscalls/served.h"

namespace remora::syscalls {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class FailedStore : public testing::Test {
 protected:
  // The commit of the key "lost" fails; that of "kept" did not.
  void serve_and_fail(const std::vector<std::string>& more) {
    served_ = std::make_unique<Served>(folder_, "", std::vector<std::string>{});
    ASSERT_TRUE(served_->wait_until_it_serves());
    EXPECT_EQ(ask("SET kept value"), "+OK");
    EXPECT_EQ(served_->stop(), 0);
    served_ = std::make_unique<Served>(folder_, "msync:1+", more);
    ASSERT_TRUE(served_->wait_until_it_serves()) << served_->process().err();
    EXPECT_EQ(ask("GET kept"), "$5");
    served_->begin_to_fail();
  }
  std::string ask(const std::string& line) { return RedisClient(served_->redis_port()).ask(line); }
  std::string health_answer() {
    return RedisClient(served_->metrics_port()).ask("GET /health HTTP/1.1\r\n");
  }
  Outcome command(std::vector<std::string> words) {
    words.insert(words.begin(), REMORA_COMMAND);
    words.insert(words.end(), {"--socket", served_->socket()});
    return run_process(words);
  }

  const TestFolder folder_{REMORA_DISK_FOLDER};
  std::unique_ptr<Served> served_;
};

TEST_F(FailedStore, ends_with_status_3_and_a_restart_reads_what_the_disk_has) {
  serve_and_fail({"--resp-durability", "persistent"});
  EXPECT_THAT(ask("SET lost value"), StartsWith("-MISCONF the store has failed"));
  ASSERT_TRUE(served_->ended_within(60));
  EXPECT_EQ(served_->process().wait(), 3);
  EXPECT_THAT(served_->process().err(), HasSubstr("the store has failed: "));
  served_ = std::make_unique<Served>(folder_, "", std::vector<std::string>{});
  ASSERT_TRUE(served_->wait_until_it_serves());
  EXPECT_EQ(ask("GET kept"), "$5");
  EXPECT_EQ(served_->stop(), 0);
}

TEST_F(FailedStore, answers_natives_with_the_failure) {
  serve_and_fail({"--on-failure", "stay"});
  const Outcome put = command({"put", "--persistent", "lost", "value"});
  EXPECT_EQ(put.exit_status, 3);
  EXPECT_THAT(put.err, HasSubstr("could not be written back"));
  const Outcome again = command({"put", "more", "value"});
  EXPECT_EQ(again.exit_status, 3) << again.out;
  EXPECT_EQ(command({"get", "kept"}).out, "value");
  EXPECT_EQ(command({"get", "lost"}).exit_status, 3);
}

TEST_F(FailedStore, says_so_everywhere_when_it_stays) {
  serve_and_fail({"--on-failure", "stay"});
  EXPECT_EQ(command({"stat", "health"}).out, "ok\n");
  EXPECT_EQ(health_answer(), "HTTP/1.1 200 OK");
  EXPECT_EQ(command({"stat", "survives_power_cut"}).out, "yes\n");
  EXPECT_EQ(ask("SET lost value"), "+OK");  // not yet persistent
  std::string health = "ok\n";
  for (int i = 0; i < 1000 && health == "ok\n"; ++i) {
    health = command({"stat", "health"}).out;
  }
  EXPECT_EQ(health, "failed\n");
  EXPECT_EQ(health_answer(), "HTTP/1.1 503 Service Unavailable");
  EXPECT_EQ(command({"stat", "survives_power_cut"}).out, "no\n");
  EXPECT_THAT(command({"stat", "failure"}).out, HasSubstr("could not be written back"));
  EXPECT_THAT(command({"explain"}).out, HasSubstr("\nfailed  "));
  EXPECT_THAT(served_->process().err(),
              HasSubstr("the store has failed; the server goes on, and refuses what it must"));
  EXPECT_THAT(ask("GET lost"), StartsWith("-MISCONF"));
  EXPECT_THAT(ask("SET kept other"), StartsWith("-MISCONF"));
  EXPECT_EQ(ask("GET kept"), "$5");
  EXPECT_EQ(served_->stop(), 3);
}

}  // namespace
}  // namespace remora::syscalls
