// What the fuzzer of this layer tries, and its test too: it takes any bytes, and ends the process
// when a rule does not hold.
#pragma once

#include <cstddef>
#include <cstdint>

namespace remora::server {

// The parser of settings files.
int fuzz_toml(const std::uint8_t* data, std::size_t size);

}  // namespace remora::server
