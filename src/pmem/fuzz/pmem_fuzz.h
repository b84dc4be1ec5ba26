// What the fuzzer of this layer tries, and its test too: it takes any bytes, and ends the process
// when a rule does not hold.
#pragma once

#include <cstddef>
#include <cstdint>

namespace remora {

// The first page of a pool's file: a header and its extensions. The first byte says which checks
// are put right before it is read, the next eight how long the file is.
int fuzz_layout(const std::uint8_t* data, std::size_t size);

}  // namespace remora
