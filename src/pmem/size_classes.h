// The sizes in which small objects are handed out. A class of m * 2^k bytes, m in {1, 3, 5, 7},
// fills a chunk of m blocks (or 1 where m is 1) exactly, with at most 64 objects: one bit each of
// one word. Larger objects take whole blocks of their own.
#pragma once

#include <array>
#include <cstdint>

#include "pmem/pool_format.h"

namespace remora {

struct SizeClass {
  std::uint32_t object_bytes;
  std::uint32_t blocks;  // of its chunk

  constexpr std::uint32_t objects() const {
    return static_cast<std::uint32_t>(blocks * pool_format::block_bytes / object_bytes);
  }
  constexpr std::uint64_t all_bits() const {
    return objects() == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << objects()) - 1;
  }
};

inline constexpr std::array<SizeClass, 22> size_classes = {{
    {64, 1},   {128, 1},  {192, 3},  {256, 1},  {320, 5},  {384, 3},  {448, 7},  {512, 1},
    {640, 5},  {768, 3},  {896, 7},  {1024, 1}, {1280, 5}, {1536, 3}, {1792, 7}, {2048, 1},
    {2560, 5}, {3072, 3}, {3584, 7}, {5120, 5}, {6144, 3}, {7168, 7},
}};

inline constexpr std::uint64_t smallest_object_bytes = 64;
inline constexpr std::uint64_t largest_object_bytes = 64 << 20;

// The class for an object of that size, or size_classes.size() when it takes whole blocks: always
// when it is larger than the largest class, and at 4 KiB, which is one block exactly.
constexpr std::size_t size_class_for(std::uint64_t size_bytes) {
  if (size_bytes > 3584 && size_bytes <= pool_format::block_bytes) {
    return size_classes.size();
  }
  std::size_t index = 0;
  while (index < size_classes.size() && size_classes[index].object_bytes < size_bytes) {
    ++index;
  }
  return index;
}

constexpr bool fills_its_chunk(const SizeClass& size_class) {
  return size_class.objects() <= 64 && size_class.objects() >= 2 &&
         size_class.objects() * size_class.object_bytes ==
             size_class.blocks * pool_format::block_bytes &&
         size_class.object_bytes % cache_line_bytes == 0;
}
static_assert([] {
  for (const SizeClass& size_class : size_classes) {
    if (!fills_its_chunk(size_class)) {
      return false;
    }
  }
  return true;
}());

}  // namespace remora
