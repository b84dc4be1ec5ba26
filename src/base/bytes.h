// Spans of bytes, and integers in the order that every format of Remora has: little-endian.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>

namespace remora {

using Bytes = std::span<std::byte>;
using ConstBytes = std::span<const std::byte>;

inline constexpr std::size_t cache_line_bytes = 64;
inline constexpr std::size_t page_bytes = 4096;
inline constexpr std::size_t word_bytes = 8;

static_assert(std::endian::native == std::endian::little,
              "formats are little-endian and mapped as they are; a big-endian host needs swaps");

inline ConstBytes as_bytes(std::string_view text) {
  return std::as_bytes(std::span<const char>(text.data(), text.size()));
}

inline std::string_view as_text(ConstBytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// The bytes of an object that has no padding and no pointers.
template <typename T>
requires std::has_unique_object_representations_v<T> ConstBytes object_bytes(const T& object) {
  return std::as_bytes(std::span<const T, 1>(&object, 1));
}

// Copies to where there is room for as much; the two do not overlap. std::ranges::copy of std::byte
// is a loop over single bytes in libstdc++ 12, and memcpy must not be handed a null pointer.
inline void copy_bytes(std::byte* to, ConstBytes from) {
  if (!from.empty()) {
    std::memcpy(to, from.data(), from.size());
  }
}

// Loads and stores at any alignment.
template <std::integral T>
T load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <std::integral T>
void store(std::byte* to, T value) {
  std::memcpy(to, &value, sizeof value);
}

template <std::unsigned_integral T>
constexpr T round_up(T value, T multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

template <std::unsigned_integral T>
constexpr T round_down(T value, T multiple) {
  return value / multiple * multiple;
}

// Whether [offset, offset + size) lies within [0, limit), with no overflow on the way.
constexpr bool within(std::uint64_t offset, std::uint64_t size, std::uint64_t limit) {
  return offset <= limit && size <= limit - offset;
}

}  // namespace remora
