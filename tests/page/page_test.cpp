// The live page in a real browser: what a person sees while a store works, is killed, comes back,
// and fails.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>

#include <functional>
#include <memory>
#include <string>

#include "base/folder_testing.h"
#include "tests/page/browser.h"
#include "tests/syscalls/served.h"

namespace remora::page {
namespace {

using syscalls::RedisClient;
using syscalls::Served;
using testing::HasSubstr;

class LivePageInABrowser : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string missing = missing_program(); !missing.empty()) {
      GTEST_SKIP() << "there is no " << missing << "; scripts/setup --browser installs it";
    }
    at_ = syscalls::own_address_text() + ":" + std::to_string(syscalls::free_port());
    browser_ = std::make_unique<Browser>(folder_.file("profile"));
    browser_->resize(1280, 900);
  }

  void serve(const std::string& fail = "", const std::string& on_failure = "exit") {
    served_ = std::make_unique<Served>(
        folder_, fail, std::vector<std::string>{"--http", at_, "--on-failure", on_failure});
    ASSERT_TRUE(served_->wait_until_it_serves()) << served_->process().err();
  }
  void look() { browser_->open("http://" + at_ + "/"); }
  std::string state() { return text_of("document.getElementById('state')"); }
  std::string why() { return text_of("document.getElementById('why')"); }
  std::string text_of(const std::string& element) {
    return browser_->run("return " + element + ".textContent").get<std::string>();
  }
  // A part of the card with this title.
  std::string in_card(const std::string& title, const std::string& part) {
    return "[...document.querySelectorAll('#cards .card')].find(c => "
           "c.querySelector('h2').textContent === '" +
           title + "').querySelector('" + part + "')";
  }
  std::string curve_of(const std::string& title) {
    return browser_->run("return " + in_card(title, "path") + ".getAttribute('d')");
  }
  bool eventually(const std::function<bool()>& is_so) {
    for (int i = 0; i < 600 && !is_so(); ++i) {
      (void)::poll(nullptr, 0, 100);
    }
    return is_so();
  }
  bool is_state(const std::string& state_text) {
    return eventually([&] { return state() == state_text; });
  }

  const TestFolder folder_{REMORA_DISK_FOLDER};
  std::string at_;
  std::unique_ptr<Served> served_;
  std::unique_ptr<Browser> browser_;
};

TEST_F(LivePageInABrowser, shows_what_the_store_does) {
  serve();
  look();
  ASSERT_TRUE(is_state("serving")) << state();
  ASSERT_TRUE(eventually([&] { return text_of(in_card("Keys", "b")) == "0"; }));
  const std::string before = curve_of("Keys");
  RedisClient client(served_->redis_port());
  EXPECT_EQ(client.ask("CONFIG SET slowlog-log-slower-than 100000000"), "+OK");
  for (int i = 0; i < 500; ++i) {
    EXPECT_EQ(client.ask("SET key" + std::to_string(i) + " value"), "+OK");
  }
  EXPECT_TRUE(eventually([&] { return text_of(in_card("Keys", "b")) == "500"; }));
  EXPECT_NE(curve_of("Keys"), before) << "the curve moves";
  EXPECT_THAT(text_of("document.getElementById('facts')"), HasSubstr("an acknowledged put"));
  EXPECT_THAT(text_of("document.getElementById('slow_note')"), HasSubstr("No Redis command"));
  EXPECT_EQ(client.ask("CONFIG SET slowlog-log-slower-than 0"), "+OK");
  EXPECT_EQ(client.ask("KEYS secret*"), "*0");
  EXPECT_EQ(client.ask("CONFIG SET slowlog-log-slower-than 100000000"), "+OK");
  const std::string slow = "document.getElementById('slow')";
  EXPECT_TRUE(eventually([&] { return text_of(slow).find("KEYS") != std::string::npos; }));
  EXPECT_EQ(text_of(slow).find("secret"), std::string::npos) << "keys are not for everybody";
  for (const int width : {1280, 400}) {
    browser_->resize(width, 900);
    EXPECT_LE(browser_->run("return document.documentElement.scrollWidth").get<int>(), width);
  }
  (void)browser_->run("document.getElementById('long').click()");
  EXPECT_EQ(browser_->run("return span").get<int>(), 3600);
}

TEST_F(LivePageInABrowser, notices_a_kill_and_a_restart) {
  serve();
  look();
  ASSERT_TRUE(
      eventually([&] { return browser_->run("return facts.pid !== undefined").get<bool>(); }));
  served_->process().signal(SIGKILL);
  EXPECT_TRUE(is_state("no connection")) << state();
  EXPECT_THAT(why(), HasSubstr("does not answer"));
  serve();
  EXPECT_TRUE(is_state("serving")) << state();
  EXPECT_TRUE(eventually([&] { return why().find("started again") != std::string::npos; }));
}

TEST_F(LivePageInABrowser, a_failed_store_is_red) {
  serve("msync:1+", "stay");
  look();
  ASSERT_TRUE(is_state("serving")) << state();
  served_->begin_to_fail();
  EXPECT_EQ(RedisClient(served_->redis_port()).ask("SET lost value"), "+OK");
  EXPECT_TRUE(is_state("failed")) << state();
  EXPECT_EQ(browser_->run("return document.getElementById('state').className"), "bad");
  EXPECT_THAT(why(), HasSubstr("nothing becomes persistent any more"));
}

}  // namespace
}  // namespace remora::page
