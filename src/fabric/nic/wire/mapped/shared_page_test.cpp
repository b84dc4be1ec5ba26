#include "fabric/nic/wire/mapped/shared_page.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <string>

namespace remora::fabric::nic::mapped {
namespace {

Descriptor copy_of(const SharedPages& pages) {
  return Descriptor(::fcntl(pages.descriptor(), F_DUPFD_CLOEXEC, 0));
}

TEST(SharedPages, both_see_one_word) {
  Result<SharedPages> made = SharedPages::create(SharedPages::gate_bytes);
  ASSERT_TRUE(made.ok()) << made.status().message();
  Result<SharedPages> adopted = SharedPages::adopt(copy_of(*made), SharedPages::gate_bytes);
  ASSERT_TRUE(adopted.ok()) << adopted.status().message();
  made->word(17).store(5);
  EXPECT_EQ(adopted->word(17).load(), 5u);
  EXPECT_EQ(adopted->word(18).load(), 0u);
}

TEST(SharedPages, cannot_be_written_by_whoever_is_handed_them) {
  Result<SharedPages> made = SharedPages::create(SharedPages::gate_bytes);
  ASSERT_TRUE(made.ok());
  const Descriptor copy = copy_of(*made);
  EXPECT_EQ(::mmap(nullptr, SharedPages::gate_bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
                   copy.number(), 0),
            MAP_FAILED);
  const std::string path = "/proc/self/fd/" + std::to_string(copy.number());
  const Descriptor again(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (again.open()) {
    EXPECT_EQ(::mmap(nullptr, SharedPages::gate_bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
                     again.number(), 0),
              MAP_FAILED);
  }
  const std::uint64_t word = 1;
  EXPECT_LT(::pwrite(copy.number(), &word, sizeof word, 0), 0);
  void* read_only =
      ::mmap(nullptr, SharedPages::gate_bytes, PROT_READ, MAP_SHARED, copy.number(), 0);
  ASSERT_NE(read_only, MAP_FAILED);
  EXPECT_NE(::mprotect(read_only, SharedPages::gate_bytes, PROT_READ | PROT_WRITE), 0);
  ::munmap(read_only, SharedPages::gate_bytes);
}

TEST(SharedPages, what_could_be_cut_short_or_has_another_size_is_refused) {
  Descriptor loose(::memfd_create("loose", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  ASSERT_EQ(::ftruncate(loose.number(), SharedPages::epoch_bytes), 0);
  EXPECT_FALSE(SharedPages::adopt(std::move(loose), SharedPages::epoch_bytes).ok());
  Result<SharedPages> made = SharedPages::create(SharedPages::epoch_bytes);
  ASSERT_TRUE(made.ok());
  EXPECT_FALSE(SharedPages::adopt(copy_of(*made), 2 * SharedPages::epoch_bytes).ok());
  EXPECT_FALSE(SharedPages::adopt(Descriptor(), SharedPages::epoch_bytes).ok());
}

}  // namespace
}  // namespace remora::fabric::nic::mapped
