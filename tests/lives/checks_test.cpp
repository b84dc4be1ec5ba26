// The checks of these tests can fail: each sees what it is there to see.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <filesystem>
#include <vector>

#include "tests/lives/area.h"
#include "tests/lives/census.h"
#include "tests/lives/child.h"
#include "tests/support/files.h"

namespace remora::fabric::lives {
namespace {

TEST(Census, counts_what_is_left_open_and_mapped) {
  const TestFolder folder;
  const Census before = Census::take(folder.path());
  EXPECT_EQ(Census::take(folder.path()), before);
  const int memory = memfd_create("remora-link", MFD_CLOEXEC);
  ASSERT_GE(memory, 0);
  ASSERT_EQ(ftruncate(memory, page_bytes), 0);
  void* mapped = mmap(nullptr, page_bytes, PROT_READ, MAP_SHARED, memory, 0);
  ASSERT_NE(mapped, MAP_FAILED);
  EXPECT_EQ(Census::take(folder.path()).descriptors, before.descriptors + 1);
  close(memory);
  EXPECT_EQ(Census::take(folder.path()).descriptors, before.descriptors);
  EXPECT_EQ(Census::take(folder.path()).shared_mappings, before.shared_mappings + 1);
  munmap(mapped, page_bytes);
  EXPECT_EQ(Census::take(folder.path()), before);
}

TEST(Area, sees_a_byte_that_nobody_sent) {
  std::vector<std::byte> memory(2 * area::size_bytes);
  const Area area(memory, area::size_bytes);
  area.reset();
  EXPECT_EQ(area.flaw(), "");
  *area.at(area::target.begin + 77) = own_pattern()[77];
  EXPECT_EQ(area.flaw(), "");
  *area.at(area::target.begin + 78) = own_pattern()[78] ^ std::byte{1};
  EXPECT_NE(area.flaw(), "");
  area.reset();
  *area.at(area::inbox.end()) = std::byte{0};
  EXPECT_NE(area.flaw(), "");
  area.reset();
  *area.at(area::own.begin) ^= std::byte{1};
  EXPECT_NE(area.flaw(), "");
}

TEST(Area, sees_a_byte_that_was_overwritten) {
  std::vector<std::byte> memory(area::size_bytes);
  const Area area(memory, 0);
  area.fill(std::byte{0x99});
  EXPECT_EQ(area.change_from(std::byte{0x99}), "");
  for (const std::size_t place : {std::size_t{0}, area::size_bytes / 2, area::size_bytes - 1}) {
    *area.at(place) = std::byte{0};
    EXPECT_EQ(area.change_from(std::byte{0x99}),
              "byte " + std::to_string(place) + " was overwritten");
    area.fill(std::byte{0x99});
  }
  EXPECT_NE(area.change_from(std::byte{0x98}), "");
}

TEST(Child, is_stopped_goes_on_and_tells) {
  Child child([](const Teller& teller) {
    teller.tell("ready");
    ::kill(getpid(), SIGSTOP);
    teller.tell("late: 3");
    _exit(5);
  });
  while (!child.stopped()) {
    sched_yield();
  }
  EXPECT_TRUE(child.told("ready"));
  EXPECT_EQ(child.told_after("late: "), "");
  EXPECT_EQ(child.trouble(), "it is stopped");
  child.send(SIGCONT);
  while (!child.gone()) {
    sched_yield();
  }
  EXPECT_EQ(child.told_after("late: "), "3");
  EXPECT_EQ(child.trouble(), "exit status 5");
}

}  // namespace
}  // namespace remora::fabric::lives
