// DatagramOutlet: answers that leave as datagrams, from one queue pair to all clients. One that is
// lost is lost: the client asks again.
#pragma once

#include <memory>
#include <vector>

#include "rpc/datagram_end.h"
#include "rpc/outlet.h"

namespace remora::rpc {

class DatagramOutlet final : public Outlet {
 public:
  // `unused` is for queue pairs of clients on which nothing is sent.
  static Result<std::unique_ptr<DatagramOutlet>> create(fabric::Device& device,
                                                        std::shared_ptr<DatagramEnd> end,
                                                        std::uint32_t most_clients);

  void ask(fabric::QueuePairOptions& options) override;
  Status open(Connection& client, const Introduction& theirs, Introduction& ours) override;
  void close(Connection& client) override { sides_[client.place] = {}; }
  bool collect(Broken&) override { return end_->collect(); }
  Place take(Connection& client, std::uint32_t call) override;
  void give_back(Connection&, std::uint32_t index) override { end_->give_back(index); }
  void forget(std::uint32_t index) override { end_->give_back(index); }
  Bytes body(Connection&, std::uint32_t index) override { return end_->body(index); }
  Status send(Connection& client, std::uint32_t index, const MessageHead& head) override;

 private:
  DatagramOutlet(std::shared_ptr<DatagramEnd> end, std::uint32_t most_clients,
                 std::unique_ptr<fabric::CompletionQueue> unused)
      : end_(std::move(end)), unused_(std::move(unused)), sides_(most_clients) {}

  const std::shared_ptr<DatagramEnd> end_;
  std::unique_ptr<fabric::CompletionQueue> unused_;
  std::vector<DatagramEnd::Peer> sides_;  // by place
};

}  // namespace remora::rpc
