// SendOutlet: answers that leave as SENDs, each a MessageHead and a body; and notices, which nobody
// asked for.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "rpc/outlet.h"

namespace remora::rpc {

struct SendOutletOptions {
  std::uint32_t most_clients = 64;
  // A buffer is free again when its SEND has completed, which may be seen a little after the
  // client's next request: so there are more of them than requests in flight.
  std::uint32_t buffers = 36;  // for each client, at most 63
  std::uint32_t notices = 4;   // of these
  std::uint32_t reply_bytes = 4096;
};

class SendOutlet final : public Outlet {
 public:
  static Result<std::unique_ptr<SendOutlet>> create(fabric::Device& device,
                                                    const SendOutletOptions& options);

  void ask(fabric::QueuePairOptions& options) override;
  Status open(Connection& client, const Introduction& theirs, Introduction& ours) override;
  void close(Connection& client) override;
  bool collect(Broken& broken) override;
  Place take(Connection& client, std::uint32_t call) override;
  Place take_for_notice(Connection& client) override;
  void give_back(Connection& client, std::uint32_t index) override;
  Bytes body(Connection& client, std::uint32_t index) override;
  Status send(Connection& client, std::uint32_t index, const MessageHead& head) override;

 private:
  static constexpr std::size_t most_polled = 64;
  static constexpr std::uint32_t notice_bit = 1 << 8;  // of an index
  struct Side {
    SessionId session = 0;
    std::vector<std::byte> memory;
    std::unique_ptr<fabric::MemoryRegion> region;
    std::uint64_t unused = 0;   // buffers, a bit for each
    std::uint32_t notices = 0;  // on their way
  };

  SendOutlet(const SendOutletOptions& options, std::unique_ptr<fabric::CompletionQueue> sends)
      : options_(options), sends_(std::move(sends)), sides_(options.most_clients) {}

  std::size_t stride() const { return head_bytes + options_.reply_bytes; }
  Bytes message(Side& side, std::uint32_t index) {
    return std::span(side.memory).subspan((index & 63) * stride(), stride());
  }

  const SendOutletOptions options_;
  std::unique_ptr<fabric::CompletionQueue> sends_;
  std::vector<Side> sides_;  // by place
  std::array<fabric::WorkCompletion, most_polled> sent_;
};

}  // namespace remora::rpc
