// CaClient: the client half of the client-active scheme; see engine.h.
#pragma once

#include "kv/common/plain_client.h"

namespace remora::kv::ca {

class CaClient final : public PlainClient {
 public:
  using PlainClient::PlainClient;

  Task<Status> put(ConstBytes key, ConstBytes value, PutOptions options) override {
    return put_client_active(key, value, Checksum::none, options);
  }
  Task<Result<std::size_t>> get(ConstBytes key, Bytes value) override {
    return get_by_reads(key, value);
  }
};

}  // namespace remora::kv::ca
