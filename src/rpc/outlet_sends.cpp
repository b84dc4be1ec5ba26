#include "rpc/outlet_sends.h"

#include <bit>
#include <utility>

#include "base/check.h"

namespace remora::rpc {

Result<std::unique_ptr<SendOutlet>> SendOutlet::create(fabric::Device& device,
                                                       const SendOutletOptions& options) {
  REMORA_CHECK(options.buffers < 64 && options.notices < options.buffers,
               "buffers of the RPC server out of range");
  REMORA_TRY_RESULT(sends, device.create_completion_queue(options.most_clients * options.buffers));
  return std::unique_ptr<SendOutlet>(new SendOutlet(options, std::move(sends).value()));
}

void SendOutlet::ask(fabric::QueuePairOptions& options) {
  options.send_queue = sends_.get();
  options.max_sends = options_.buffers;
}

Status SendOutlet::open(Connection& client, const Introduction&, Introduction&) {
  Side& side = sides_[client.place];
  side.session = client.session.id;
  side.memory.resize(options_.buffers * stride());
  side.unused = (std::uint64_t{1} << options_.buffers) - 1;
  REMORA_TRY_RESULT(region, client.domain->register_memory(side.memory, fabric::local_read));
  side.region = std::move(region).value();
  return {};
}

void SendOutlet::close(Connection& client) {
  sides_[client.place].region.reset();  // before the memory
  sides_[client.place] = {};
}

bool SendOutlet::collect(Broken& broken) {
  const std::size_t count = sends_->poll(sent_);
  for (std::size_t i = 0; i < count; ++i) {
    const SessionId session = session_of(sent_[i].id);
    Side& side = sides_[session & place_mask];
    if (side.session != session) {
      continue;
    }
    if (sent_[i].status != fabric::WorkStatus::success) {
      broken.broken(session);
      continue;
    }
    const std::uint32_t index = index_of(sent_[i].id);
    side.unused |= std::uint64_t{1} << (index & 63);
    side.notices -= index >> 8;
  }
  return count != 0;
}

Outlet::Place SendOutlet::take(Connection& client, std::uint32_t) {
  Side& side = sides_[client.place];
  if (side.unused == 0) {
    return {};
  }
  const auto index = static_cast<std::uint32_t>(std::countr_zero(side.unused));
  side.unused &= side.unused - 1;
  return {index, message(side, index).subspan(head_bytes)};
}

Outlet::Place SendOutlet::take_for_notice(Connection& client) {
  Side& side = sides_[client.place];
  Place place = side.notices < options_.notices ? take(client, 0) : Place();
  if (place.index != none) {
    ++side.notices;
    place.index |= notice_bit;
  }
  return place;
}

void SendOutlet::give_back(Connection& client, std::uint32_t index) {
  sides_[client.place].unused |= std::uint64_t{1} << index;
}

Bytes SendOutlet::body(Connection& client, std::uint32_t index) {
  return message(sides_[client.place], index).subspan(head_bytes);
}

Status SendOutlet::send(Connection& client, std::uint32_t index, const MessageHead& head) {
  Side& side = sides_[client.place];
  put_head(message(side, index), head);
  const fabric::Sge piece =
      side.region->piece((index & 63) * stride(), head_bytes + head.size_bytes);
  const fabric::SendWork work{.id = work_id(client.session.id, index),
                              .opcode = fabric::Opcode::send,
                              .pieces = std::span(&piece, 1)};
  return client.queue_pair->post_send(std::span(&work, 1));
}

}  // namespace remora::rpc
