// What the fuzzer of a ping-pong's introduction tries, and its test too: it takes any bytes, and
// ends the process when a rule does not hold.
#pragma once

#include <cstddef>
#include <cstdint>

namespace remora::cli {

int fuzz_introduction(const std::uint8_t* data, std::size_t size);

}  // namespace remora::cli
