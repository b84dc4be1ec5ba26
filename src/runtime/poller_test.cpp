#include "runtime/poller.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <utility>

namespace remora {
namespace {

class Scripted final : public Poller {
 public:
  explicit Scripted(std::function<bool()> script = [] { return false; })
      : script_(std::move(script)) {}
  bool poll() override {
    ++polls_;
    const std::function<bool()> script = script_;  // the script may destroy this poller
    return script();
  }
  int polls() const { return polls_; }

 private:
  std::function<bool()> script_;
  int polls_ = 0;
};

TEST(PollerSet, asks_every_poller_and_tells_of_work) {
  PollerSet set;
  Scripted idle;
  EXPECT_TRUE(set.empty());
  set.add(idle);
  EXPECT_FALSE(set.empty());
  EXPECT_FALSE(set.poll_all());
  Scripted busy([] { return true; });
  set.add(busy);
  EXPECT_TRUE(set.poll_all());
  EXPECT_EQ(idle.polls(), 2);
  EXPECT_EQ(idle.wake_fd(), -1);
  EXPECT_TRUE(idle.arm_wake());
}

TEST(PollerSet, a_poller_may_remove_itself_and_others) {
  PollerSet set;
  Scripted victim;
  Scripted first([&] {
    set.remove(victim);
    set.remove(first);
    return true;
  });
  Scripted last;
  set.add(first);
  set.add(victim);
  set.add(last);
  EXPECT_TRUE(set.poll_all());
  EXPECT_EQ(victim.polls(), 0) << "removed earlier in the same turn";
  EXPECT_EQ(last.polls(), 1);
  EXPECT_FALSE(set.poll_all());
  EXPECT_EQ(first.polls(), 1);
  EXPECT_EQ(last.polls(), 2);
}

TEST(PollerSet, a_poller_may_destroy_itself) {
  PollerSet set;
  std::unique_ptr<Scripted> poller;
  poller = std::make_unique<Scripted>([&] {
    poller.reset();
    return true;
  });
  set.add(*poller);
  EXPECT_TRUE(set.poll_all());
  EXPECT_TRUE(set.empty());
  EXPECT_FALSE(set.poll_all());
}

TEST(PollerSet, one_added_during_a_turn_is_asked_in_the_next) {
  PollerSet set;
  Scripted added;
  Scripted adds([&] {
    if (adds.polls() == 1) {
      set.add(added);
    }
    return false;
  });
  set.add(adds);
  set.poll_all();
  EXPECT_EQ(added.polls(), 0);
  set.poll_all();
  EXPECT_EQ(added.polls(), 1);
}

TEST(PollerSet, the_version_tells_of_changes) {
  PollerSet set;
  const std::size_t before = set.version();
  {
    Scripted poller;
    set.add(poller);
    EXPECT_NE(set.version(), before);
  }
  EXPECT_NE(set.version(), before);
  EXPECT_TRUE(set.empty()) << "a destroyed poller leaves";
}

TEST(PollerSet, misuse_ends_the_program) {
  PollerSet set;
  Scripted poller;
  EXPECT_DEATH(set.remove(poller), "not in this loop");
  set.add(poller);
  EXPECT_DEATH(set.add(poller), "in a loop already");
}

}  // namespace
}  // namespace remora
