// KeptOutlet: answers that stay here, where the client READs them. Its READs race the answer: so an
// answer has a head whose last word names the call and is stored last, and a checksum over those
// bodies that a client READs together with the head. A longer body is READ again once the head was
// seen.
#pragma once

#include <memory>
#include <vector>

#include "host/host.h"
#include "rpc/outlet.h"
#include "rpc/slots.h"

namespace remora::rpc {

struct KeptHead {
  std::uint32_t checksum = 0;  // CRC-32C of the call, then of the body; 0 where the body is longer
  Kind kind = 0;
  std::uint16_t code = 0;
  std::uint32_t size_bytes = 0;
  std::uint32_t call = 0;
};
static_assert(sizeof(KeptHead) == 16);

// How much of an answer a client READs with its head.
inline constexpr std::size_t kept_with_head_bytes = 256 - sizeof(KeptHead);

struct KeptOutletOptions {
  std::uint32_t most_clients = 64;
  std::uint32_t window = 1;
  std::size_t body_bytes = 4096;
};

class KeptOutlet final : public Outlet {
 public:
  static Result<std::unique_ptr<KeptOutlet>> create(const Host& host,
                                                    const KeptOutletOptions& options);

  void ask(fabric::QueuePairOptions& options) override;
  Status open(Connection& client, const Introduction& theirs, Introduction& ours) override;
  void close(Connection& client) override { sides_[client.place] = {}; }
  bool collect(Broken&) override { return false; }
  Place take(Connection& client, std::uint32_t call) override;
  void give_back(Connection&, std::uint32_t) override {}
  Bytes body(Connection& client, std::uint32_t index) override;
  Status send(Connection& client, std::uint32_t index, const MessageHead& head) override;

  static std::uint32_t checksum(const Host& host, std::uint32_t call, ConstBytes body);

 private:
  KeptOutlet(const Host& host, const KeptOutletOptions& options,
             std::unique_ptr<fabric::CompletionQueue> sends)
      : host_(host), options_(options), sends_(std::move(sends)), sides_(options.most_clients) {}

  const Host host_;
  const KeptOutletOptions options_;
  std::unique_ptr<fabric::CompletionQueue> sends_;  // nothing is sent
  std::vector<Slots> sides_;                        // by place
};

}  // namespace remora::rpc
