// CRC-32C (Castagnoli), the checksum of every format of Remora: iSCSI's and SSE4.2's polynomial,
// reflected, inverted at both ends, so that crc32c("123456789") is 0xE3069283.
//
// Any thread; never fails; takes any size and any alignment.
#pragma once

#include <cstdint>

#include "base/bytes.h"

namespace remora {

// The checksum of `bytes` after those that `seed` is the checksum of:
// crc32c(b, crc32c(a)) == crc32c(a followed by b). The checksum of nothing is 0.
std::uint32_t crc32c(ConstBytes bytes, std::uint32_t seed = 0);

}  // namespace remora
