// ErdaClient: the client half of Erda; see engine.h.
#pragma once

#include "kv/common/plain_client.h"

namespace remora::kv::erda {

class ErdaClient final : public PlainClient {
 public:
  using PlainClient::PlainClient;

  Task<Status> put(ConstBytes key, ConstBytes value, PutOptions options) override;
  Task<Result<std::size_t>> get(ConstBytes key, Bytes value) override;

  // Gets that found the newest version torn, and took the one before.
  std::uint64_t previous_gets() const { return previous_gets_; }

 private:
  enum class Found : std::uint8_t {
    whole,      // the value was handed out
    no_entry,   // no bucket leads to the key
    no_value,   // the newest version is torn, and there is none before it
    torn,       // neither version is whole
    other_key,  // of one version: it is another key's
  };
  struct Outcome {
    Found found = Found::no_entry;
    std::size_t size_bytes = 0;
  };
  Task<Result<Outcome>> look(ConstBytes key, Bytes value);
  Task<Result<Outcome>> ask_and_look(ConstBytes key, Bytes value);
  Task<Result<Outcome>> read_versions(std::uint64_t versions, std::uint64_t sizes, ConstBytes key,
                                      Bytes value);
  Task<Result<Outcome>> read_version(std::uint64_t offset, std::uint64_t size_hint, ConstBytes key,
                                     Bytes value);

  std::uint64_t previous_gets_ = 0;
};

}  // namespace remora::kv::erda
