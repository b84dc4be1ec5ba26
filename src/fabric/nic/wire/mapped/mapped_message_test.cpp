#include "fabric/nic/wire/mapped/mapped_message.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "base/random.h"
#include "fabric/nic/wire/mapped/mapped_limits.h"
#include "fabric/types.h"

namespace remora::fabric::nic::mapped {
namespace {

MappedMessage example() {
  return {.kind = static_cast<std::uint16_t>(MappedKind::grant),
          .key = 0x5eed0003,
          .initiator_qp = 0x00a1b001,
          .target_qp = 0x00c2d002,
          .grant = 7,
          .region = 2,
          .base = 0x7f0000010000,
          .length = 0x4000,
          .offset = 0x10000,
          .rights = local_write | remote_write | remote_read | flush_visibility | flush_persistence,
          .slot = 6,
          .medium = 1};
}

// docs/formats/mapped.md shows a grant: it must be the one that the code makes.
TEST(MappedFormat, the_example_in_the_document_is_true) {
  const MappedMessage message = example();
  const ConstBytes bytes = encode(message);
  std::string dump;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    dump += i % 16 == 0 ? fmt::format("{:04x} ", i) : "";
    dump += fmt::format(" {:02x}{}", std::to_integer<unsigned>(bytes[i]), i % 16 == 15 ? "\n" : "");
  }
  std::ifstream file(REMORA_SOURCE "/docs/formats/mapped.md");
  const std::string document{std::istreambuf_iterator<char>(file), {}};
  EXPECT_NE(document.find(dump), std::string::npos) << dump;
}

TEST(MappedFormat, what_is_encoded_is_parsed_back) {
  const MappedMessage message = example();
  const std::optional<MappedMessage> parsed = parse_mapped(encode(message));
  ASSERT_TRUE(parsed);
  EXPECT_EQ(std::memcmp(&*parsed, &message, sizeof message), 0);
}

TEST(MappedFormat, what_cannot_be_is_refused) {
  const auto refused = [](void (*spoil)(MappedMessage&)) {
    MappedMessage message = example();
    spoil(message);
    return !parse_mapped(encode(message));
  };
  EXPECT_TRUE(refused([](MappedMessage& message) { message.kind = 0; }));
  EXPECT_TRUE(refused([](MappedMessage& message) { message.kind = 6; }));
  EXPECT_TRUE(refused([](MappedMessage& message) { message.zero = 1; }));
  EXPECT_TRUE(refused([](MappedMessage& message) { message.zero_too = 1; }));
  EXPECT_TRUE(refused([](MappedMessage& message) { message.medium = 3; }));
  EXPECT_TRUE(refused([](MappedMessage& message) { message.slot = limits::grants; }));
  EXPECT_TRUE(refused([](MappedMessage& message) { message.base = ~std::uint64_t{0} - 8; }));
  EXPECT_TRUE(refused([](MappedMessage& message) { message.offset = ~std::uint64_t{0} - 8; }));
  const MappedMessage message = example();
  EXPECT_FALSE(parse_mapped(encode(message).first(63)));
  EXPECT_FALSE(parse_mapped({}));
}

TEST(MappedFormat, whatever_comes_is_refused_or_makes_sense) {
  Random random(1);
  for (int i = 0; i < 20'000; ++i) {
    MappedMessage message = example();
    std::vector<std::byte> bytes(encode(message).begin(), encode(message).end());
    for (std::uint64_t left = random.between(1, 8); left > 0; --left) {
      bytes[random.below(bytes.size())] = static_cast<std::byte>(random.next());
    }
    if (const std::optional<MappedMessage> parsed = parse_mapped(bytes)) {
      EXPECT_LT(parsed->slot, limits::grants);
      EXPECT_GE(parsed->base + parsed->length, parsed->base);
      EXPECT_GE(parsed->offset + parsed->length, parsed->offset);
    }
  }
}

}  // namespace
}  // namespace remora::fabric::nic::mapped
