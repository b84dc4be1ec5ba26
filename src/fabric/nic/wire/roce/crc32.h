// CRC-32, that of Ethernet and of RoCE: reflected, inverted at both ends, so that
// crc32("123456789") is 0xCBF43926.
//
// Any thread; never fails; takes any size and any alignment.
#pragma once

#include <cstdint>

#include "base/bytes.h"

namespace remora::fabric::nic::roce {

// Of `bytes` after those that `seed` is the checksum of; that of nothing is 0.
std::uint32_t crc32(ConstBytes bytes, std::uint32_t seed = 0);

// The same, while they are copied to the start of `to`, which is as large; they must not overlap.
// Somebody may be changing them meanwhile: the checksum is that of the copy.
std::uint32_t copy_with_crc32(Bytes to, ConstBytes bytes, std::uint32_t seed = 0);

}  // namespace remora::fabric::nic::roce
