// What the fuzzer of this layer tries, and its test too: it takes any bytes, and ends the process
// when a rule does not hold.
#pragma once

#include <cstddef>
#include <cstdint>

namespace remora::link {

// The parser of what clients say before they have a role.
int fuzz_session(const std::uint8_t* data, std::size_t size);

}  // namespace remora::link
