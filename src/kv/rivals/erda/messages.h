// What Erda's client and server say beside the plain messages.
#pragma once

#include <cstdint>

namespace remora::kv::erda {

// The reply to a get: what the key's bucket says.
struct VersionsReply {
  std::uint64_t versions = 0;  // 0: there is no such key
  std::uint64_t sizes = 0;
  std::uint64_t generation = 0;
};

}  // namespace remora::kv::erda
