#include "rpc/inlet_receives.h"

#include <algorithm>
#include <utility>

namespace remora::rpc {

Result<std::unique_ptr<ReceiveInlet>> ReceiveInlet::create(fabric::Device& device,
                                                           const ReceiveInletOptions& options) {
  REMORA_TRY_RESULT(receives,
                    device.create_completion_queue(options.most_clients * options.receives));
  return std::unique_ptr<ReceiveInlet>(new ReceiveInlet(options, std::move(receives).value()));
}

void ReceiveInlet::ask(fabric::QueuePairOptions& options) {
  options.receive_queue = receives_.get();
  options.max_receives = options_.receives;
}

Status ReceiveInlet::open(Connection& client, const Introduction&, Introduction&) {
  Side& side = sides_[client.place];
  side.memory.resize(options_.receives * stride());
  REMORA_TRY_RESULT(region, client.domain->register_memory(side.memory, fabric::local_write));
  side.region = std::move(region).value();
  for (std::uint32_t receive = 0; receive < options_.receives; ++receive) {
    REMORA_TRY(post_receive(client, receive));
  }
  return {};
}

void ReceiveInlet::close(Connection& client) {
  sides_[client.place].region.reset();  // before the memory
  sides_[client.place] = {};
}

Status ReceiveInlet::post_receive(Connection& client, std::uint32_t receive) {
  const fabric::Sge piece = sides_[client.place].region->piece(receive * stride(), stride());
  const fabric::ReceiveWork work{.id = work_id(client.session.id, receive),
                                 .pieces = std::span(&piece, 1)};
  return client.queue_pair->post_receive(std::span(&work, 1));
}

std::size_t ReceiveInlet::poll(std::span<Arrival> out) {
  const std::size_t count =
      receives_->poll(std::span(completions_).first(std::min(out.size(), most_polled)));
  for (std::size_t i = 0; i < count; ++i) {
    const fabric::WorkCompletion& completion = completions_[i];
    out[i] = {.session = session_of(completion.id),
              .where = index_of(completion.id),
              .size_bytes = completion.size_bytes,
              .immediate = completion.immediate,
              .is_written = completion.opcode == fabric::Opcode::receive_imm,
              .failed = completion.status != fabric::WorkStatus::success};
  }
  return count;
}

std::optional<Request> ReceiveInlet::read(Connection& client, const Arrival& arrival) {
  if (arrival.is_written) {
    return Request{.call = arrival.immediate, .is_written = true};
  }
  const ConstBytes message =
      ConstBytes(sides_[client.place].memory).subspan(arrival.where * stride(), arrival.size_bytes);
  const std::optional<MessageHead> head = read_head(message);
  if (!head) {
    return std::nullopt;
  }
  return Request{.call = head->call, .kind = head->kind, .body = message.subspan(head_bytes)};
}

}  // namespace remora::rpc
