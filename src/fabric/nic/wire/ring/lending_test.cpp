#include "fabric/nic/wire/ring/lending.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "base/folder_testing.h"
#include "pmem/open_region.h"

namespace remora::fabric::nic::ring {
namespace {

constexpr std::size_t shown_bytes = 4 * page_bytes;

std::unique_ptr<Region> memory_with(char fill) {
  std::unique_ptr<Region> memory = make_dram(shown_bytes).value();
  std::ranges::fill(memory->bytes(), static_cast<std::byte>(fill));
  return memory;
}

LendingMessage show(std::uint32_t number, std::uint64_t offset, std::uint64_t size_bytes) {
  return {.kind = static_cast<std::uint16_t>(LendingKind::show),
          .number = number,
          .size_bytes = size_bytes,
          .offset = offset};
}

Descriptor copy_of(const Region& memory) {
  return Descriptor(::fcntl(memory.backing()->descriptor, F_DUPFD_CLOEXEC, 0));
}

TEST(LendingMessage, is_read_as_it_was_written) {
  const LendingMessage message = show(3, 4096, 100);
  const auto parsed = parse_lending(object_bytes(message));
  ASSERT_TRUE(parsed.has_value());
  EXPECT_EQ(parsed->number, 3u);
  EXPECT_EQ(parsed->offset, 4096u);
  EXPECT_EQ(parsed->size_bytes, 100u);
  EXPECT_TRUE(parse_lending(object_bytes(LendingMessage{.kind = 2, .number = 1})).has_value());
  EXPECT_TRUE(parse_lending(object_bytes(LendingMessage{.kind = 3, .number = 1})).has_value());
}

TEST(LendingMessage, is_refused_unless_it_is_exactly_one_that_can_be) {
  const auto refused = [](const LendingMessage& message) {
    return !parse_lending(object_bytes(message)).has_value();
  };
  EXPECT_TRUE(refused({.kind = 0, .number = 1}));
  EXPECT_TRUE(refused({.kind = 4, .number = 1}));
  EXPECT_TRUE(refused({.kind = 2, .zero = 1, .number = 1}));
  EXPECT_TRUE(refused({.kind = 2, .number = 0}));
  EXPECT_TRUE(refused({.kind = 2, .number = 1, .size_bytes = 8}));
  EXPECT_TRUE(refused(show(1, 0, 0)));
  EXPECT_TRUE(refused(show(1, ~std::uint64_t{0}, 2)));
  EXPECT_TRUE(refused(show(1, 2, ~std::uint64_t{0})));
  const LendingMessage right = show(1, 0, 64);
  EXPECT_FALSE(parse_lending(object_bytes(right).first(23)).has_value());
  EXPECT_FALSE(parse_lending({}).has_value());
}

TEST(Offers, are_found_by_what_lies_in_them) {
  const std::unique_ptr<Region> memory = memory_with('a');
  Offers offers;
  offers.add(memory->bytes(), *memory->backing());
  ASSERT_NE(offers.find(memory->bytes()), nullptr);
  EXPECT_NE(offers.find(memory->bytes().last(64)), nullptr);
  EXPECT_EQ(offers.find(ConstBytes(memory->data() + shown_bytes - 32, 64)), nullptr);
  EXPECT_EQ(offers.find(ConstBytes(memory->data() - 32, 64)), nullptr);
}

TEST(Offers, end_when_they_were_withdrawn_as_often_as_they_were_made) {
  const std::unique_ptr<Region> memory = memory_with('a');
  Offers offers;
  offers.add(memory->bytes(), *memory->backing());
  offers.add(memory->bytes(), *memory->backing());
  const std::uint32_t number = offers.find(memory->bytes())->number;
  EXPECT_EQ(offers.remove(memory->bytes()), std::nullopt);
  EXPECT_NE(offers.find(memory->bytes()), nullptr);
  EXPECT_EQ(offers.remove(memory->bytes()), number);
  EXPECT_EQ(offers.find(memory->bytes()), nullptr);
  EXPECT_EQ(offers.remove(memory->bytes()), std::nullopt);
  offers.add(memory->bytes(), *memory->backing());
  EXPECT_NE(offers.find(memory->bytes())->number, number);
}

TEST(Offers, pass_on_what_can_be_read_and_not_written) {
  const std::unique_ptr<Region> memory = memory_with('a');
  Offers offers;
  offers.add(memory->bytes(), *memory->backing());
  const int file = offers.find(memory->bytes())->file.number();
  EXPECT_EQ(::fcntl(file, F_GETFL) & O_ACCMODE, O_RDONLY);
}

// A file of a disk can be cut short by anybody who may write to it.
TEST(Offers, are_of_sealed_memory_alone) {
  const TestFolder folder;
  std::ofstream(folder.file("f")) << std::string(shown_bytes, 'f');
  const Descriptor file(::open(folder.file("f").c_str(), O_RDWR | O_CLOEXEC));
  const Descriptor unsealed(::memfd_create("unsealed", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  ASSERT_EQ(::ftruncate(unsealed.number(), shown_bytes), 0);
  std::vector<std::byte> bytes(shown_bytes);
  Offers offers;
  for (const Descriptor* descriptor : {&file, &unsealed}) {
    ASSERT_TRUE(descriptor->open());
    offers.add(bytes, {.descriptor = descriptor->number()});
    EXPECT_EQ(offers.find(bytes), nullptr);
  }
}

TEST(Borrowed, shows_what_the_lender_has) {
  const std::unique_ptr<Region> memory = memory_with('a');
  Borrowed borrowed;
  ASSERT_TRUE(borrowed.map(show(5, 100, shown_bytes - 100), copy_of(*memory)).ok());
  memory->bytes()[100] = std::byte{'b'};
  EXPECT_EQ(as_text(borrowed.find(5, 0, 3)), "baa");
  EXPECT_EQ(borrowed.find(5, shown_bytes - 164, 64).size(), 64u);
}

TEST(Borrowed, has_bounds) {
  const std::unique_ptr<Region> memory = memory_with('a');
  Borrowed borrowed;
  ASSERT_TRUE(borrowed.map(show(5, 100, 1000), copy_of(*memory)).ok());
  EXPECT_TRUE(borrowed.find(4, 0, 1).empty());
  EXPECT_TRUE(borrowed.find(5, 0, 1001).empty());
  EXPECT_TRUE(borrowed.find(5, 1000, 1).empty());
  EXPECT_TRUE(borrowed.find(5, ~std::uint64_t{0}, 2).empty());
  borrowed.unmap(5);
  EXPECT_TRUE(borrowed.find(5, 0, 1).empty());
  borrowed.unmap(5);
}

TEST(Borrowed, takes_only_what_nobody_can_pull_away) {
  Borrowed borrowed;
  const std::unique_ptr<Region> memory = memory_with('a');
  EXPECT_FALSE(borrowed.map(show(1, 0, shown_bytes + 1), copy_of(*memory)).ok());
  EXPECT_FALSE(borrowed.map(show(1, shown_bytes, 1), copy_of(*memory)).ok());
  EXPECT_FALSE(borrowed.map(show(1, 0, 1), Descriptor()).ok());
  Descriptor unsealed(::memfd_create("unsealed", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  ASSERT_EQ(::ftruncate(unsealed.number(), shown_bytes), 0);
  EXPECT_FALSE(borrowed.map(show(1, 0, shown_bytes), std::move(unsealed)).ok());
  EXPECT_TRUE(borrowed.find(1, 0, 1).empty());
}

TEST(Borrowed, has_no_more_than_it_may) {
  Borrowed borrowed;
  const std::unique_ptr<Region> memory = memory_with('a');
  for (std::uint32_t number = 1; number <= limits::shown_memories; ++number) {
    ASSERT_TRUE(borrowed.map(show(number, 0, shown_bytes), copy_of(*memory)).ok());
  }
  EXPECT_EQ(borrowed.map(show(1000, 0, shown_bytes), copy_of(*memory)).code(), Code::no_space);
  borrowed.unmap(1);
  EXPECT_EQ(borrowed.map(show(2, 0, shown_bytes), copy_of(*memory)).code(), Code::already_exists);
  EXPECT_TRUE(borrowed.map(show(1000, 0, shown_bytes), copy_of(*memory)).ok());
}

TEST(Borrowed, has_an_end_of_address_space) {
  Borrowed borrowed;
  const std::unique_ptr<Region> memory = make_dram(limits::shown_bytes).value();
  EXPECT_FALSE(borrowed.map(show(1, 0, limits::shown_bytes + 1), copy_of(*memory)).ok());
  EXPECT_TRUE(borrowed.map(show(1, 0, limits::shown_bytes - 1), copy_of(*memory)).ok());
  EXPECT_TRUE(borrowed.map(show(2, 0, 1), copy_of(*memory)).ok());
  EXPECT_EQ(borrowed.map(show(3, 0, 1), copy_of(*memory)).code(), Code::no_space);
  borrowed.unmap(1);
  EXPECT_TRUE(borrowed.map(show(3, 0, 1), copy_of(*memory)).ok());
}

}  // namespace
}  // namespace remora::fabric::nic::ring
