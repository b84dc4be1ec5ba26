#include "server/daemon.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "runtime/poll_loop.h"
#include "server/store_link.h"

namespace remora::server {
namespace {

using testing::HasSubstr;

class DaemonTest : public testing::Test {
 protected:
  DaemonTest() {
    std::string folder = testing::TempDir() + "remora-daemon-XXXXXX";
    EXPECT_NE(mkdtemp(folder.data()), nullptr);
    folder_ = folder;
    settings_.pool = folder + "/deep/down/a.pool";
    settings_.pool_bytes = 4 << 20;
    signals_ = StopSignals::create(loop_).value();
  }
  ~DaemonTest() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  std::unique_ptr<Daemon> opened() {
    Result<std::unique_ptr<Daemon>> daemon = Daemon::open(loop_, settings_, "1.2.3");
    EXPECT_TRUE(daemon.ok()) << daemon.status().message();
    return std::move(daemon).value();
  }
  std::unique_ptr<StoreLink> connected() {
    return loop_.block_on(StoreLink::connect(loop_, socket_of(settings_), {})).value();
  }

  std::string folder_;
  Settings settings_;
  PollLoop loop_;
  std::unique_ptr<StopSignals> signals_;
};

TEST_F(DaemonTest, makes_its_folder_and_says_what_it_is) {
  const auto daemon = opened();
  EXPECT_TRUE(std::filesystem::exists(settings_.pool));
  const std::string said = daemon->announcement();
  EXPECT_THAT(said, HasSubstr("deep/down/a.pool, 4 MiB, engine efactory, new"));
  EXPECT_THAT(said, HasSubstr("deep/down/a.sock"));
  EXPECT_THAT(said, HasSubstr("survives a power cut"));
  EXPECT_EQ(find_fact(daemon->host().facts(), "version"), "1.2.3");
}

TEST_F(DaemonTest, a_signal_ends_it_with_all_persistent) {
  const auto daemon = opened();
  const auto link = connected();
  for (int i = 0; i < 30; ++i) {
    EXPECT_TRUE(loop_.block_on(link->store().put(as_bytes("key"), as_bytes("value"))).ok());
  }
  ASSERT_EQ(::kill(::getpid(), SIGTERM), 0);
  const Status status = daemon->serve(*signals_);
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_FALSE(daemon->host().store().busy());
  EXPECT_EQ(loop_.block_on(link->store().put(as_bytes("key"), as_bytes("value"))).code(),
            Code::closed);
  const auto late = loop_.block_on(StoreLink::connect(loop_, socket_of(settings_), {}));
  EXPECT_EQ(late.code(), Code::closed) << late.status().message();
}

TEST_F(DaemonTest, an_admin_ends_it) {
  const auto daemon = opened();
  EXPECT_TRUE(loop_.block_on(connected()->stop()).ok());
  EXPECT_TRUE(daemon->serve(*signals_).ok());
}

// A client with a loop of its own, which looks only now and then at what it was sent.
class SlowStopper final : public Timer {
 public:
  SlowStopper(PollLoop& server_loop, std::string socket) {
    Task<Result<std::unique_ptr<StoreLink>>> connecting =
        StoreLink::connect(loop_, std::move(socket), {});
    while (!connecting.finished()) {
      (void)server_loop.run_for(100'000);
      (void)loop_.run_for(100'000);
    }
    link_ = connecting.take().value();
    stop_.emplace(link_->stop());
  }
  void expire() override {
    (void)loop_.run_until(*stop_);
    answer_ = stop_->take().status();
    link_.reset();
  }
  const std::optional<Status>& answer() const { return answer_; }

 private:
  PollLoop loop_;
  std::unique_ptr<StoreLink> link_;
  std::optional<Task<Result<Facts>>> stop_;
  std::optional<Status> answer_;
};

TEST_F(DaemonTest, a_slow_admin_who_ends_it_gets_the_answer) {
  const auto daemon = opened();
  SlowStopper admin(loop_, socket_of(settings_));
  loop_.arm(admin, loop_.after(30'000'000));
  EXPECT_TRUE(daemon->serve(*signals_).ok());
  ASSERT_TRUE(admin.answer().has_value());
  EXPECT_TRUE(admin.answer()->ok()) << admin.answer()->message();
}

TEST_F(DaemonTest, a_value_that_never_comes_does_not_keep_it_from_ending) {
  const auto daemon = opened();
  auto link = connected();
  // A put whose client goes in the middle: granted, and never written.
  Task<Status> put = link->store().put(as_bytes("key"), as_bytes("value"));
  (void)loop_.turn();
  ASSERT_EQ(::kill(::getpid(), SIGINT), 0);
  EXPECT_TRUE(daemon->serve(*signals_).ok());
  (void)loop_.run_until(put);
  (void)put.take();
}

TEST_F(DaemonTest, says_which_setting_cannot_work) {
  const auto daemon = opened();
  EXPECT_EQ(Daemon::open(loop_, settings_, "").code(), Code::in_use);
  settings_.pool = "/proc/no/such/place/a.pool";
  EXPECT_FALSE(Daemon::open(loop_, settings_, "").ok());
  settings_.pool = folder_ + "/b.pool";
  settings_.metrics = "192.0.2.1:80";  // an address of nobody
  EXPECT_FALSE(Daemon::open(loop_, settings_, "").ok());
}

}  // namespace
}  // namespace remora::server
