// What the fuzzers of the device try, and its tests too: each takes any bytes, and ends the process
// when a rule does not hold.
#pragma once

#include <cstddef>
#include <cstdint>

namespace remora::fabric::nic::fuzz {

// Requests of every kind, right and wrong, arrive at queue pairs with all rights, some and none.
int try_responder(const std::uint8_t* data, std::size_t size);

// Answers of every kind, right and wrong, arrive at a queue pair with requests on their way.
int try_requester(const std::uint8_t* data, std::size_t size);

}  // namespace remora::fabric::nic::fuzz
