// ForcaClient: the client half of Forca; see engine.h.
#pragma once

#include "kv/common/plain_client.h"

namespace remora::kv::forca {

class ForcaClient final : public PlainClient {
 public:
  using PlainClient::PlainClient;

  Task<Status> put(ConstBytes key, ConstBytes value, PutOptions options) override {
    return put_client_active(key, value, Checksum::by_client, options);
  }
  Task<Result<std::size_t>> get(ConstBytes key, Bytes value) override;
};

}  // namespace remora::kv::forca
