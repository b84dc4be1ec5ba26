// What RPC's client and server say beside the plain messages.
#pragma once

#include <cstdint>

#include "kv/common/messages.h"
#include "kv/limits.h"

namespace remora::kv::rpc_store {

// Values that travel in the message itself: behind PutRequest and key, and behind ValueReply.
inline constexpr std::size_t inline_bytes = 4096;

enum Message : rpc::Kind {
  stage_request = first_of_engine,  // StageRequest -> StageReply
};

// A staging area of at least so many bytes. The one before is gone when this is answered: the
// client has nothing under way there.
struct StageRequest {
  std::uint64_t size_bytes = 0;
};

struct StageReply {
  fabric::RemoteAddress area;
  std::uint64_t size_bytes = 0;
};

// The reply to a get.
struct ValueReply {
  GetReply found;
  std::uint64_t value_bytes = 0;  // that follow, up to inline_bytes; a larger value is to be READ
};

inline constexpr std::uint32_t request_bytes =
    sizeof(PutRequest) + limits::key_bytes + inline_bytes;
inline constexpr std::uint32_t reply_bytes = sizeof(ValueReply) + inline_bytes;

}  // namespace remora::kv::rpc_store
