// What a target grants, to whom, and with which rights on the file.
#include "fabric/nic/wire/mapped/mapped_target.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <thread>

#include "pmem/open_region.h"
#include "runtime/poll_loop.h"

namespace remora::fabric::nic::mapped {
namespace {

constexpr LinkId link = 7;
constexpr std::size_t size_bytes = 8192;

class OneRegion final : public ShortcutTarget {
 public:
  std::optional<Reachable> reachable(LinkId from, QpNumber own, QpNumber peer,
                                     RemoteKey key) const override {
    if (from != link || own != 2 || peer != 1 || key != 3) {
      return std::nullopt;
    }
    return Reachable{region->bytes().subspan(4096), rights, region.get()};
  }

  std::unique_ptr<Region> region = make_dram(size_bytes).value();
  AccessFlags rights = every_access;
};

class MappedTargetTest : public testing::Test {
 protected:
  MappedTargetTest() {
    target_.attach(&nic_);
    target_.link_up(link, HostPeer{{}, {geteuid(), getegid(), getpid()}}, own_process());
  }

  static Descriptor own_process() {
    return Descriptor(static_cast<int>(syscall(SYS_pidfd_open, getpid(), 0)));
  }
  static Descriptor copy_of(int descriptor) {
    return Descriptor(descriptor < 0 ? -1 : fcntl(descriptor, F_DUPFD_CLOEXEC, 0));
  }

  // The kind of the last answer.
  MappedKind ask(MappedMessage message = {.key = 3, .initiator_qp = 1, .target_qp = 2}) {
    message.kind = static_cast<std::uint16_t>(MappedKind::ask);
    target_.ask(link, message, copy_of(epoch_.descriptor()));
    return static_cast<MappedKind>(said_.kind);
  }

  bool is_mappable(int protection) const {
    void* at = mmap(nullptr, size_bytes, protection, MAP_SHARED, passed_.number(), 0);
    if (at == MAP_FAILED) {
      return false;
    }
    munmap(at, size_bytes);
    return true;
  }

  PollLoop loop_;
  OneRegion nic_;
  SharedPages epoch_ = SharedPages::create(SharedPages::epoch_bytes).value();
  MappedMessage said_;
  Descriptor passed_;
  Descriptor gate_;
  MappedTarget target_{loop_, {}, [this](LinkId, const MappedMessage& message, int passed) {
                         said_ = message;
                         const bool gate =
                             static_cast<MappedKind>(message.kind) == MappedKind::gate;
                         (gate ? gate_ : passed_) = copy_of(passed);
                         return Status();
                       }};
};

TEST_F(MappedTargetTest, grants_what_the_device_grants) {
  ASSERT_EQ(ask(), MappedKind::grant);
  EXPECT_EQ(said_.base, reinterpret_cast<std::uintptr_t>(nic_.region->data()) + 4096);
  EXPECT_EQ(said_.length, 4096u);
  EXPECT_EQ(said_.offset, 4096u);
  EXPECT_EQ(said_.rights, every_access);
  EXPECT_TRUE(is_mappable(PROT_READ | PROT_WRITE));
  EXPECT_TRUE(gate_.open());
  EXPECT_EQ(target_.grants(), 1u);
}

TEST_F(MappedTargetTest, what_has_changed_is_asked_for_again_and_mapped_anew) {
  ASSERT_EQ(ask(), MappedKind::grant);
  const MappedMessage first = said_;
  target_.renew(3);
  EXPECT_EQ(static_cast<MappedKind>(said_.kind), MappedKind::forget);
  EXPECT_EQ(said_.region, first.region);
  EXPECT_EQ(target_.grants(), 0u);
  ASSERT_EQ(ask(), MappedKind::grant);
  EXPECT_NE(said_.region, first.region);
  EXPECT_NE(said_.grant, first.grant);
  target_.renew(4);
  EXPECT_EQ(target_.grants(), 1u) << "another key is nobody's";
}

// The peer is in the middle of something when the region changes, and is waited for when it goes.
TEST_F(MappedTargetTest,
       whoever_is_in_the_middle_of_something_is_not_waited_for_and_not_forgotten) {
  ASSERT_EQ(ask(), MappedKind::grant);
  epoch_.word(0).store(1);
  target_.renew(3);
  EXPECT_FALSE(target_.quiet(2));
  ASSERT_EQ(ask(), MappedKind::grant);
  std::thread peer([this] { epoch_.word(0).store(2); });
  target_.release(3);
  EXPECT_EQ(epoch_.word(0).load(), 2u);
  peer.join();
  EXPECT_TRUE(target_.quiet(2));
}

TEST_F(MappedTargetTest, another_key_or_queue_pair_gets_nothing) {
  EXPECT_EQ(ask({.key = 4, .initiator_qp = 1, .target_qp = 2}), MappedKind::deny);
  EXPECT_EQ(ask({.key = 3, .initiator_qp = 9, .target_qp = 2}), MappedKind::deny);
  EXPECT_EQ(ask({.key = 3, .initiator_qp = 1, .target_qp = 9}), MappedKind::deny);
  EXPECT_EQ(target_.grants(), 0u);
}

TEST_F(MappedTargetTest, what_may_only_be_read_cannot_be_mapped_writable) {
  nic_.rights = remote_read | flush_visibility;
  ASSERT_EQ(ask(), MappedKind::grant);
  EXPECT_TRUE(is_mappable(PROT_READ));
  EXPECT_FALSE(is_mappable(PROT_READ | PROT_WRITE));
  void* at = mmap(nullptr, size_bytes, PROT_READ, MAP_SHARED, passed_.number(), 0);
  ASSERT_NE(at, MAP_FAILED);
  EXPECT_NE(mprotect(at, size_bytes, PROT_READ | PROT_WRITE), 0);
  munmap(at, size_bytes);
}

TEST_F(MappedTargetTest, nor_can_another_user_open_the_file_anew_to_write_it) {
  if (geteuid() != 0) {
    GTEST_SKIP() << "only root can become another user";
  }
  nic_.rights = remote_read;
  ASSERT_EQ(ask(), MappedKind::grant);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const std::string path = "/proc/self/fd/" + std::to_string(passed_.number());
    _exit(setuid(65534) != 0 ? 2 : open(path.c_str(), O_RDWR) >= 0 ? 1 : 0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST_F(MappedTargetTest, a_grant_that_is_taken_back_is_dead_in_the_gate) {
  ASSERT_EQ(ask(), MappedKind::grant);
  Result<SharedPages> gate = SharedPages::adopt(copy_of(gate_.number()), SharedPages::gate_bytes);
  ASSERT_TRUE(gate.ok());
  EXPECT_EQ(gate->word(said_.slot).load(), said_.grant);
  target_.retire(2);
  EXPECT_EQ(gate->word(said_.slot).load(), 0u);
  EXPECT_TRUE(target_.quiet(2));
}

TEST_F(MappedTargetTest, who_is_inside_is_not_quiet_until_its_epoch_moves) {
  ASSERT_EQ(ask(), MappedKind::grant);
  epoch_.word(0).store(5);
  target_.retire(2);
  EXPECT_FALSE(target_.quiet(2));
  EXPECT_TRUE(target_.quiet(4)) << "another queue pair";
  epoch_.word(0).store(7);
  EXPECT_TRUE(target_.quiet(2)) << "it came out, and went into something else";
}

TEST_F(MappedTargetTest, a_link_that_goes_does_not_hide_who_is_inside) {
  ASSERT_EQ(ask(), MappedKind::grant);
  epoch_.word(0).store(5);
  target_.link_down(link);
  EXPECT_FALSE(target_.quiet(2));
  epoch_.word(0).store(6);
  EXPECT_TRUE(target_.quiet(2));
}

TEST_F(MappedTargetTest, slots_are_used_again) {
  for (std::uint32_t i = 0; i < 2 * limits::grants; ++i) {
    ASSERT_EQ(ask(), MappedKind::grant) << i;
    EXPECT_EQ(said_.grant, i + 1);
    target_.retire(2);
  }
}

TEST_F(MappedTargetTest, a_region_that_goes_is_forgotten_by_its_peers) {
  ASSERT_EQ(ask(), MappedKind::grant);
  const std::uint64_t region = said_.region;
  target_.release(3);
  EXPECT_EQ(static_cast<MappedKind>(said_.kind), MappedKind::forget);
  EXPECT_EQ(said_.region, region);
  ASSERT_EQ(ask(), MappedKind::grant);
  EXPECT_NE(said_.region, region) << "the same key may come to mean another region";
}

}  // namespace
}  // namespace remora::fabric::nic::mapped
