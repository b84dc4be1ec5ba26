// What the fuzzer of messages about memory tries, and the tests too: any bytes.
#pragma once

#include <cstddef>
#include <cstdint>

namespace remora::fabric::nic::joined {

// Ends the process when a rule does not hold.
int fuzz_mapped_message(const std::uint8_t* data, std::size_t size);

}  // namespace remora::fabric::nic::joined
