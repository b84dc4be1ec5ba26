// SawClient: the client half of send after write; see engine.h.
#pragma once

#include "kv/common/plain_client.h"

namespace remora::kv::saw {

class SawClient final : public PlainClient {
 public:
  using PlainClient::PlainClient;

  Task<Status> put(ConstBytes key, ConstBytes value, PutOptions options) override;
  Task<Result<std::size_t>> get(ConstBytes key, Bytes value) override {
    return get_by_reads(key, value);
  }
};

}  // namespace remora::kv::saw
