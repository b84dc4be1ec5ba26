// ReceiveInlet: requests that come as SENDs, each a MessageHead and a body, and WRITEs with IMM,
// whose immediate is the number of a call. Each client has receives of its own.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "rpc/inlet.h"

namespace remora::rpc {

struct ReceiveInletOptions {
  std::uint32_t most_clients = 64;
  std::uint32_t receives = 16;  // of each client: the requests that it may have in flight
  std::uint32_t request_bytes = 2048;
};

class ReceiveInlet final : public Inlet {
 public:
  static Result<std::unique_ptr<ReceiveInlet>> create(fabric::Device& device,
                                                      const ReceiveInletOptions& options);

  void ask(fabric::QueuePairOptions& options) override;
  Status open(Connection& client, const Introduction& theirs, Introduction& ours) override;
  void close(Connection& client) override;
  std::size_t poll(std::span<Arrival> out) override;
  std::optional<Request> read(Connection& client, const Arrival& arrival) override;
  Status release(Connection& client, const Arrival& arrival) override {
    return post_receive(client, arrival.where);
  }

 private:
  static constexpr std::size_t most_polled = 64;
  struct Side {
    std::vector<std::byte> memory;
    std::unique_ptr<fabric::MemoryRegion> region;
  };

  ReceiveInlet(const ReceiveInletOptions& options,
               std::unique_ptr<fabric::CompletionQueue> receives)
      : options_(options), receives_(std::move(receives)), sides_(options.most_clients) {}

  std::size_t stride() const { return head_bytes + options_.request_bytes; }
  Status post_receive(Connection& client, std::uint32_t receive);

  const ReceiveInletOptions options_;
  std::unique_ptr<fabric::CompletionQueue> receives_;
  std::vector<Side> sides_;  // by place
  std::array<fabric::WorkCompletion, most_polled> completions_;
};

}  // namespace remora::rpc
