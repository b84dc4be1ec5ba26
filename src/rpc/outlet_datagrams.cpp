#include "rpc/outlet_datagrams.h"

#include <utility>

namespace remora::rpc {

Result<std::unique_ptr<DatagramOutlet>> DatagramOutlet::create(fabric::Device& device,
                                                               std::shared_ptr<DatagramEnd> end,
                                                               std::uint32_t most_clients) {
  REMORA_TRY_RESULT(unused, device.create_completion_queue(1));
  return std::unique_ptr<DatagramOutlet>(
      new DatagramOutlet(std::move(end), most_clients, std::move(unused).value()));
}

void DatagramOutlet::ask(fabric::QueuePairOptions& options) {
  options.send_queue = unused_.get();
  options.max_sends = 1;
}

Status DatagramOutlet::open(Connection& client, const Introduction& theirs, Introduction&) {
  REMORA_TRY_RESULT(peer, end_->find(theirs.datagrams, theirs.queue_key, theirs.token));
  sides_[client.place] = std::move(peer).value();
  return {};
}

Outlet::Place DatagramOutlet::take(Connection&, std::uint32_t) {
  const std::optional<std::uint32_t> buffer = end_->take();
  return buffer ? Place{*buffer, end_->body(*buffer)} : Place();
}

Status DatagramOutlet::send(Connection& client, std::uint32_t index, const MessageHead& head) {
  return end_->send(index, sides_[client.place], head);
}

}  // namespace remora::rpc
