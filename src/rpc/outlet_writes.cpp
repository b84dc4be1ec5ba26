#include "rpc/outlet_writes.h"

#include <utility>

namespace remora::rpc {

Result<std::unique_ptr<WriteOutlet>> WriteOutlet::create(fabric::Device& device,
                                                         const WriteOutletOptions& options) {
  REMORA_TRY_RESULT(
      sends, device.create_completion_queue(options.most_clients * sends_of(options.window)));
  return std::unique_ptr<WriteOutlet>(new WriteOutlet(options, std::move(sends).value()));
}

void WriteOutlet::ask(fabric::QueuePairOptions& options) {
  options.send_queue = sends_.get();
  options.max_sends = sends_of(options_.window);
}

Status WriteOutlet::open(Connection& client, const Introduction& theirs, Introduction&) {
  Side& side = sides_[client.place];
  side.theirs = theirs.slots;
  side.memory.resize(options_.window * stride());
  REMORA_TRY_RESULT(region, client.domain->register_memory(side.memory, fabric::local_read));
  side.region = std::move(region).value();
  return {};
}

void WriteOutlet::close(Connection& client) {
  sides_[client.place].region.reset();  // before the memory
  sides_[client.place] = {};
}

bool WriteOutlet::collect(Broken& broken) {
  const std::size_t count = sends_->poll(sent_);
  for (std::size_t i = 0; i < count; ++i) {
    const SessionId session = session_of(sent_[i].id);
    const bool succeeded = sent_[i].status == fabric::WorkStatus::success;
    if (!succeeded) {
      broken.broken(session);
    }
    if (reads_ != nullptr && (!succeeded || sent_[i].opcode == fabric::Opcode::read)) {
      reads_->read_ended(session, index_of(sent_[i].id), succeeded);
    }
  }
  return count != 0;
}

Outlet::Place WriteOutlet::take(Connection& client, std::uint32_t call) {
  const std::uint32_t slot = call & slot_mask;
  return slot < options_.window ? Place{slot, body(client, slot)} : Place();
}

Bytes WriteOutlet::body(Connection& client, std::uint32_t index) {
  return std::span(sides_[client.place].memory).subspan(index * stride(), options_.body_bytes);
}

Status WriteOutlet::send(Connection& client, std::uint32_t index, const MessageHead& head) {
  Side& side = sides_[client.place];
  const std::size_t at = index * stride();
  const std::size_t size = compose(
      std::span(side.memory).subspan(at, stride()),
      {.kind = head.kind, .code = head.code, .size_bytes = head.size_bytes, .call = head.call});
  const fabric::Sge piece = side.region->piece(at, size);
  const fabric::SendWork work{
      .id = work_id(client.session.id, index),
      .opcode = options_.with_imm ? fabric::Opcode::write_imm : fabric::Opcode::write,
      .pieces = std::span(&piece, 1),
      .remote = place_in_slot(side.theirs, stride(), index, size),
      .immediate = index};
  return client.queue_pair->post_send(std::span(&work, 1));
}

}  // namespace remora::rpc
