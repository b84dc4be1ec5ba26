// Hands the parser anything; what it takes for a packet must encode to the same packet again.
#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/check.h"
#include "fabric/nic/packet/packet.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace remora;
  using namespace remora::fabric::nic;
  const ConstBytes bytes = std::as_bytes(std::span(data, size));
  Parsed parsed;
  if (!parse(bytes, parsed)) {
    return 0;
  }
  std::vector<std::byte> again(packet_bytes(parsed.packet.opcode, parsed.payload.size()));
  REMORA_CHECK(again.size() == size, "a packet takes as many bytes as it was parsed from");
  const Bytes payload = encode(parsed.packet, again);
  REMORA_CHECK(payload.size() == parsed.payload.size(), "the payload has its size");
  std::copy(parsed.payload.begin(), parsed.payload.end(), payload.begin());
  Parsed second;
  REMORA_CHECK(parse(again, second), "what was encoded is a packet");
  REMORA_CHECK(second.packet == parsed.packet, "encoding keeps every field");
  return 0;
}
