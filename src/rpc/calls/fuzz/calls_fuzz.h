// What the fuzzer of durable calls tries, and its test too: it takes any bytes, and ends the
// process when a rule does not hold.
#pragma once

#include <cstddef>
#include <cstdint>

namespace remora {

// A ring, as a caller may have filled it. The first byte says which form its entries have and which
// of them get the words that make them count.
int fuzz_log(const std::uint8_t* data, std::size_t size);

}  // namespace remora
