// What the fuzzers of this layer try, and its tests too: each takes any bytes, and ends the process
// when a rule does not hold.
#pragma once

#include <cstddef>
#include <cstdint>

namespace remora::server {

// The parser of settings files.
int fuzz_toml(const std::uint8_t* data, std::size_t size);
// The parser of what clients say before they have a role.
int fuzz_session(const std::uint8_t* data, std::size_t size);

}  // namespace remora::server
