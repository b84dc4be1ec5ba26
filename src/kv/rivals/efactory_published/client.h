// PublishedClient: the client half of eFactory as published; see engine.h.
#pragma once

#include <algorithm>

#include "kv/common/plain_client.h"
#include "kv/rivals/efactory_published/messages.h"

namespace remora::kv::efactory_published {

enum class Gets : std::uint8_t { hybrid, asked };

class PublishedClient : public PlainClient {
 public:
  PublishedClient(std::unique_ptr<rpc::Caller> caller, std::unique_ptr<Buffers> buffers,
                  const PlainLayout& layout, const ClientOptions& options,
                  Gets gets = Gets::hybrid);

  Task<Status> put(ConstBytes key, ConstBytes value, PutOptions options) override;
  Task<Result<std::size_t>> get(ConstBytes key, Bytes value) override;

  // Gets that were answered by READs alone.
  std::uint64_t pure_gets() const { return pure_gets_; }

 private:
  bool may_read() const {
    return gets_ == Gets::hybrid && !is_cleaning(std::max(phase_, layout().phase));
  }
  // `size` stays empty where the server must be asked.
  Task<Status> read_optimistically(ConstBytes key, Bytes value, std::optional<std::size_t>& size);
  Task<Result<std::size_t>> ask_and_read(ConstBytes key, Bytes value);

  const Gets gets_;
  const std::uint64_t timeout_ns_;
  std::uint64_t phase_ = 0;
  std::uint64_t pure_gets_ = 0;
};

class AskingClient final : public PublishedClient {
 public:
  AskingClient(std::unique_ptr<rpc::Caller> caller, std::unique_ptr<Buffers> buffers,
               const PlainLayout& layout, const ClientOptions& options)
      : PublishedClient(std::move(caller), std::move(buffers), layout, options, Gets::asked) {}
};

}  // namespace remora::kv::efactory_published
