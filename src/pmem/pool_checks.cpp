#include "pmem/pool_checks.h"

#include "base/crc32c.h"
#include "base/random.h"

namespace remora::pool_format {
namespace {

constexpr unsigned value_bits = 48;

std::uint64_t share(Offset place, std::span<const std::uint64_t> words) {
  std::uint64_t sum = mix(place);
  for (const std::uint64_t word : words) {
    sum = mix(sum ^ word);
  }
  return sum;
}

}  // namespace

std::uint64_t head_word(const ChunkHead& head, std::uint64_t block, std::uint64_t detail) {
  const std::array<std::uint64_t, 3> covered = {block, head.low(), detail};
  return head.low() | std::uint64_t{crc32c(std::as_bytes(std::span(covered)))} << 32;
}

std::uint64_t in_use_word(std::size_t index, std::uint64_t value,
                          const std::array<char, 48>& name) {
  const std::array<std::uint64_t, 2> covered = {index, value};
  const std::uint32_t front = crc32c(std::as_bytes(std::span(covered)));
  return 1 | std::uint64_t{crc32c(std::as_bytes(std::span(name)), front)} << 32;
}

std::uint64_t share_of(Offset place, const BlockEntry& entry) {
  return entry.head == 0 ? 0 : share(place, std::array{entry.head, entry.detail});
}

std::uint64_t share_of(Offset place, const Root& root) {
  if (root.in_use == 0) {
    return 0;
  }
  std::array<std::uint64_t, sizeof root / word_bytes> words;
  std::memcpy(words.data(), &root, sizeof root);
  return share(place, words);
}

// The two halves of a CRC-32C, added without carry: any one or two bits that change are noticed.
std::uint64_t control_word(ControlWord which, std::uint64_t value) {
  const std::array<std::uint64_t, 2> covered = {static_cast<std::uint64_t>(which), value};
  const std::uint32_t crc = crc32c(std::as_bytes(std::span(covered)));
  const std::uint64_t check = (crc ^ crc >> 16) & 0xffff;
  return value | (check == 0 ? 0xffff : check) << value_bits;
}

std::optional<std::uint64_t> control_value(ControlWord which, std::uint64_t word,
                                           std::uint32_t found_version) {
  const std::uint64_t value = word & (control_limit - 1);
  const bool older = found_version == oldest_version && word == value;
  return older || control_word(which, value) == word ? std::optional(value) : std::nullopt;
}

namespace version_one {

// Kind in bits 0-7, size class in 8-15, blocks in 32-63.
std::optional<ChunkHead> from(std::uint64_t word, Account account) {
  const std::uint64_t blocks = word >> 32;
  const std::uint64_t size_class = word >> 8 & 0xff;
  if ((word & 0xffff0000) != 0 || blocks > 0xffff || size_class > 31) {
    return std::nullopt;
  }
  return ChunkHead{static_cast<ChunkKind>((word & 0xff) + 2), static_cast<std::uint8_t>(size_class),
                   static_cast<std::uint16_t>(blocks), account};
}

std::uint64_t head_word(const ChunkHead& head) {
  return (static_cast<std::uint64_t>(head.kind) - 2) | std::uint64_t{head.size_class} << 8 |
         std::uint64_t{head.blocks} << 32;
}

}  // namespace version_one

}  // namespace remora::pool_format
