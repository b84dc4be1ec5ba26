#include "base/hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace remora {

std::uint64_t hash64(ConstBytes bytes, std::uint64_t seed) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

}  // namespace remora
