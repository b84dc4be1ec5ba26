// Whether who reads a value computes its checksum first. Memory that has gone bad since the value
// was last verified is noticed then, and not with the next pass of the scrubber.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"

namespace remora::kv {

enum class VerifyReads : std::uint8_t {
  automatic,  // where it costs less than a tenth of a get
  always,
  never,
};

constexpr std::string_view to_string(VerifyReads policy) {
  return policy == VerifyReads::automatic ? "auto"
         : policy == VerifyReads::always  ? "always"
                                          : "never";
}

inline Result<VerifyReads> parse_verify_reads(std::string_view text) {
  if (text == "auto") {
    return VerifyReads::automatic;
  }
  if (text == "always" || text == "never") {
    return text == "always" ? VerifyReads::always : VerifyReads::never;
  }
  return Status(Code::invalid_argument, "reads are verified auto, always or never");
}

// Up to which size a checksum costs less than a tenth of a get, measured by `build/bin/store --only
// verify` (docs/measured.md): by a client on `mapped`, where gets are shortest; by one beyond a
// network; and by the server's own process. The product's links and hosts hand them to engines;
// worlds that are not this machine have limits of their own.
inline constexpr std::uint64_t verified_by_client_bytes = 1024;
inline constexpr std::uint64_t verified_beyond_network_bytes = 65'536;
inline constexpr std::uint64_t verified_by_server_bytes = 256;

constexpr bool is_verified(VerifyReads policy, std::uint64_t value_bytes, std::uint64_t most) {
  return policy == VerifyReads::always ||
         (policy == VerifyReads::automatic && value_bytes <= most && most != 0);
}

}  // namespace remora::kv
