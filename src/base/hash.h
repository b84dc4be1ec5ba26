// A 64-bit hash for tables and sharding (XXH3). Its values are the same on every machine and in
// every version of Remora, so that they may stand in a format. It spreads; it does not detect
// damage (crc32c does) and does not resist an opponent who knows the seed.
//
// Any thread; never fails.
#pragma once

#include <cstdint>

#include "base/bytes.h"

namespace remora {

// The hash of `bytes`. Different seeds give hashes that have nothing in common.
std::uint64_t hash64(ConstBytes bytes, std::uint64_t seed = 0);

}  // namespace remora
