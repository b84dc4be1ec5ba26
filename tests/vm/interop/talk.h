// Talk: a TCP connection on which the two programs of a test of two machines say, beside the wire
// that they test, what they are about to do: messages of some numbers and some bytes.
//
// Waits in `call`, `await_call` and `wait` only, for a bounded time; one thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "fabric/nic/wire/descriptor.h"

namespace remora::fabric::interop {

struct Message {
  std::array<std::uint64_t, 8> numbers{};
  std::vector<std::byte> bytes = {};
};

class Talk {
 public:
  // Calls the one that waits, again and again until it does.
  static Result<Talk> call(const std::string& address, std::uint16_t port);
  // Waits for one caller at this port of all addresses.
  static Result<Talk> await_call(std::uint16_t port);

  Status say(const Message& message);
  // What came, once it is whole. A peer that hung up is `closed`.
  Result<std::optional<Message>> hear();
  // After `hear` had nothing: waits for more at most so long; whether something came.
  bool wait(int most_ms);

 private:
  explicit Talk(nic::Descriptor socket) : socket_(std::move(socket)) {}

  nic::Descriptor socket_;
  std::vector<std::byte> heard_;
};

}  // namespace remora::fabric::interop
