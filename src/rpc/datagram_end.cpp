#include "rpc/datagram_end.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "runtime/system_random.h"

namespace remora::rpc {

std::size_t most_datagram_body(const fabric::Device& device) {
  const std::size_t most = device.attributes().max_datagram_bytes;
  return most < token_bytes + head_bytes ? 0 : most - token_bytes - head_bytes;
}

Result<std::unique_ptr<DatagramEnd>> DatagramEnd::create(fabric::Device& device,
                                                         const DatagramOptions& options) {
  const std::size_t most = most_datagram_body(device);
  if (most == 0) {
    return Status(Code::unsupported, "this device has no datagrams (UD)");
  }
  if (options.body_bytes > most) {
    return Status(
        Code::invalid_argument,
        fmt::format("a datagram of this device carries bodies of {} bytes at most", most));
  }
  std::unique_ptr<DatagramEnd> end(new DatagramEnd(options));
  REMORA_TRY_RESULT(sends, device.create_completion_queue(options.buffers));
  end->sends_ = std::move(sends).value();
  REMORA_TRY_RESULT(receives, device.create_completion_queue(options.receives));
  end->receives_ = std::move(receives).value();
  end->domain_ = device.create_domain();
  end->sent_memory_.resize(options.buffers * end->stride());
  end->received_memory_.resize(options.receives * end->receive_stride());
  REMORA_TRY_RESULT(sent, end->domain_->register_memory(end->sent_memory_, fabric::local_read));
  end->sent_ = std::move(sent).value();
  REMORA_TRY_RESULT(received,
                    end->domain_->register_memory(end->received_memory_, fabric::local_write));
  end->received_ = std::move(received).value();
  end->key_ = static_cast<fabric::QueueKey>(random_word()) & 0x7fff'ffff;
  REMORA_TRY_RESULT(queue_pair,
                    end->domain_->create_queue_pair({.send_queue = end->sends_.get(),
                                                     .receive_queue = end->receives_.get(),
                                                     .max_sends = options.buffers,
                                                     .max_receives = options.receives,
                                                     .transport = fabric::Transport::ud,
                                                     .queue_key = end->key_}));
  end->queue_pair_ = std::move(queue_pair).value();
  REMORA_TRY(end->queue_pair_->initialise());
  end->sizes_.assign(options.receives, 0);
  for (std::uint32_t receive = 0; receive < options.receives; ++receive) {
    REMORA_TRY(end->release(receive));
  }
  REMORA_TRY(end->queue_pair_->connect({}, {}));
  for (std::uint32_t buffer = options.buffers; buffer > 0; --buffer) {
    end->unused_.push_back(buffer - 1);
  }
  return end;
}

Result<DatagramEnd::Peer> DatagramEnd::find(const fabric::QueuePairAddress& address,
                                            fabric::QueueKey key, std::uint64_t token) {
  auto way = std::ranges::find(ways_, address.gid, &decltype(ways_)::value_type::first);
  if (way == ways_.end()) {
    REMORA_TRY_RESULT(made, domain_->create_address_handle(address.gid));
    ways_.emplace_back(address.gid, std::move(made).value());
    way = ways_.end() - 1;
  }
  return Peer{way->second->to(address.number, key), token};
}

std::size_t DatagramEnd::poll(std::span<std::uint32_t> buffers) {
  const std::size_t count =
      receives_->poll(std::span(completions_).first(std::min(buffers.size(), most_polled)));
  std::size_t good = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (completions_[i].status == fabric::WorkStatus::success) {
      const auto buffer = static_cast<std::uint32_t>(completions_[i].id);
      sizes_[buffer] = completions_[i].size_bytes;
      buffers[good++] = buffer;
    }
  }
  return good;
}

std::optional<DatagramEnd::Message> DatagramEnd::message(std::uint32_t buffer) const {
  constexpr std::size_t before = fabric::datagram_header_bytes + token_bytes;
  const ConstBytes all =
      ConstBytes(received_memory_).subspan(buffer * receive_stride(), sizes_[buffer]);
  if (all.size() < before + head_bytes) {
    return std::nullopt;
  }
  const std::optional<MessageHead> head = read_head(all.subspan(before));
  if (!head) {
    return std::nullopt;
  }
  Message message{.head = *head, .body = all.subspan(before + head_bytes)};
  std::memcpy(&message.token, all.data() + fabric::datagram_header_bytes, token_bytes);
  return message;
}

Status DatagramEnd::release(std::uint32_t buffer) {
  const fabric::Sge piece =
      received_->piece(buffer * receive_stride(), fabric::datagram_header_bytes + message_bytes());
  const fabric::ReceiveWork work{.id = buffer, .pieces = std::span(&piece, 1)};
  return queue_pair_->post_receive(std::span(&work, 1));
}

std::optional<std::uint32_t> DatagramEnd::take() {
  if (unused_.empty()) {
    (void)collect();
  }
  if (unused_.empty()) {
    return std::nullopt;
  }
  const std::uint32_t buffer = unused_.back();
  unused_.pop_back();
  return buffer;
}

Bytes DatagramEnd::body(std::uint32_t buffer) {
  return std::span(sent_memory_)
      .subspan(buffer * stride() + token_bytes + head_bytes, options_.body_bytes);
}

Status DatagramEnd::send(std::uint32_t buffer, const Peer& peer, const MessageHead& head) {
  const std::size_t at = buffer * stride();
  const Bytes message = std::span(sent_memory_).subspan(at, message_bytes());
  std::memcpy(message.data(), &peer.token, token_bytes);
  put_head(message.subspan(token_bytes), head);
  const fabric::Sge piece = sent_->piece(at, token_bytes + head_bytes + head.size_bytes);
  const fabric::SendWork work{.id = buffer,
                              .opcode = fabric::Opcode::send,
                              .pieces = std::span(&piece, 1),
                              .remote = peer.to};
  const Status status = queue_pair_->post_send(std::span(&work, 1));
  if (!status.ok()) {
    give_back(buffer);
  }
  return status;
}

bool DatagramEnd::collect() {
  const std::size_t count = sends_->poll(completions_);
  for (std::size_t i = 0; i < count; ++i) {
    unused_.push_back(static_cast<std::uint32_t>(completions_[i].id));
  }
  return count != 0;
}

}  // namespace remora::rpc
