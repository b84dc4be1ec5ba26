#include "rpc/inlet_datagrams.h"

#include <algorithm>

#include "runtime/system_random.h"

namespace remora::rpc {

Status DatagramInlet::open(Connection& client, const Introduction&, Introduction& ours) {
  Side& side = sides_[client.place];
  side.session = client.session.id;
  side.token = (random_word() & ~place_mask) | client.place;
  ours.token = side.token;
  ours.datagrams = end_->address();
  ours.queue_key = end_->key();
  return {};
}

// The receive of a message of nobody is posted again at once.
std::size_t DatagramInlet::poll(std::span<Arrival> out) {
  const std::size_t count =
      end_->poll(std::span(buffers_).first(std::min(out.size(), most_polled)));
  std::size_t known = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::optional<DatagramEnd::Message> message = end_->message(buffers_[i]);
    const std::uint64_t place = message ? message->token & place_mask : sides_.size();
    if (place < sides_.size() && sides_[place].session != 0 &&
        sides_[place].token == message->token) {
      out[known++] = {.session = sides_[place].session, .where = buffers_[i]};
    } else {
      (void)end_->release(buffers_[i]);
    }
  }
  return known;
}

std::optional<Request> DatagramInlet::read(Connection&, const Arrival& arrival) {
  const std::optional<DatagramEnd::Message> message = end_->message(arrival.where);
  if (!message) {
    return std::nullopt;
  }
  return Request{.call = message->head.call, .kind = message->head.kind, .body = message->body};
}

}  // namespace remora::rpc
