// DatagramInlet: requests that come as datagrams to one queue pair for all clients. A client is
// known by the token that its messages begin with; what comes with another is dropped.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "rpc/datagram_end.h"
#include "rpc/inlet.h"

namespace remora::rpc {

class DatagramInlet final : public Inlet {
 public:
  // The end is the outlet's, too.
  DatagramInlet(std::shared_ptr<DatagramEnd> end, std::uint32_t most_clients)
      : end_(std::move(end)), sides_(most_clients) {}

  bool connects() const override { return false; }
  void ask(fabric::QueuePairOptions&) override {}
  Status open(Connection& client, const Introduction& theirs, Introduction& ours) override;
  void close(Connection& client) override { sides_[client.place] = {}; }
  std::size_t poll(std::span<Arrival> out) override;
  std::optional<Request> read(Connection& client, const Arrival& arrival) override;
  Status release(Connection&, const Arrival& arrival) override {
    return end_->release(arrival.where);
  }
  void forget(const Arrival& arrival) override { (void)end_->release(arrival.where); }

 private:
  static constexpr std::size_t most_polled = 64;
  struct Side {
    SessionId session = 0;
    std::uint64_t token = 0;  // its low bits are the place
  };

  const std::shared_ptr<DatagramEnd> end_;
  std::vector<Side> sides_;  // by place
  std::array<std::uint32_t, most_polled> buffers_;
};

}  // namespace remora::rpc
