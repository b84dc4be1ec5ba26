// Feeds arbitrary bytes to all that parses what a peer sends over its socket. The first byte
// chooses who is listening.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/check.h"
#include "base/crc32c.h"
#include "base/printable.h"
#include "fabric/nic/wire/ring/handshake.h"
#include "fabric/nic/wire/ring/lending.h"

namespace remora::fabric::nic::ring {
namespace {

constexpr Gid own = {1, 2, 3, 4};

// What was accepted must survive being said again, and must be a ring that can be made.
void fuzz_handshake(ConstBytes bytes) {
  const Result<HandshakeMessage> message = parse_handshake(bytes);
  if (!message.ok()) {
    return;
  }
  REMORA_CHECK(parse_handshake(encode(*message).view()).ok(), "it does not understand itself");
  REMORA_CHECK(std::ranges::all_of(message->text, is_printable), "a reason that steers a terminal");
  if (judge_hello(*message, own, limits::mtu_bytes, limits::ring_bytes_max).ok()) {
    REMORA_CHECK(check_shape(message->shape).ok(), "it welcomed a ring that cannot be");
  }
  (void)judge_answer(*message, own, RingShape(), feature_side);
}

// The same with size and checksum put right, so that chance gets past them.
void fuzz_repaired_handshake(ConstBytes bytes) {
  std::vector<std::byte> message(bytes.begin(), bytes.end());
  if (message.size() >= handshake_head_bytes) {
    store(&message[12], static_cast<std::uint32_t>(message.size()));
    const ConstBytes all = message;
    store(&message[60], crc32c(all.subspan(handshake_head_bytes), crc32c(all.first(60))));
  }
  fuzz_handshake(message);
}

void fuzz_frame(ConstBytes bytes) {
  const Result<Frame> frame = parse_frame(bytes);
  REMORA_CHECK(!frame.ok() || frame->payload.size() < bytes.size(), "it found too many bytes");
}

// What is shown lies in a file that there can be.
void fuzz_lending(ConstBytes bytes) {
  const std::optional<LendingMessage> message = parse_lending(bytes);
  REMORA_CHECK(!message || message->offset + message->size_bytes < std::uint64_t{1} << 63,
               "it takes memory for shown that cannot be");
}

}  // namespace
}  // namespace remora::fabric::nic::ring

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace remora;
  if (size == 0) {
    return 0;
  }
  const ConstBytes bytes = std::as_bytes(std::span(data, size)).subspan(1);
  switch (data[0] % 4) {
    case 0:
      fabric::nic::ring::fuzz_handshake(bytes);
      break;
    case 1:
      fabric::nic::ring::fuzz_frame(bytes);
      break;
    case 3:
      fabric::nic::ring::fuzz_lending(bytes);
      break;
    default:
      fabric::nic::ring::fuzz_repaired_handshake(bytes);
  }
  return 0;
}
