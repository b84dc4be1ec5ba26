#include "rpc/inlet_slots.h"

#include <algorithm>
#include <utility>

namespace remora::rpc {

Result<std::unique_ptr<SlotInlet>> SlotInlet::create(fabric::Device& device,
                                                     const SlotInletOptions& options) {
  REMORA_TRY_RESULT(receives,
                    device.create_completion_queue(options.most_clients * 2 * options.window));
  return std::unique_ptr<SlotInlet>(new SlotInlet(options, std::move(receives).value()));
}

void SlotInlet::ask(fabric::QueuePairOptions& options) {
  options.transport = options_.transport;
  options.receive_queue = receives_.get();
  options.max_receives = receives();
}

Status SlotInlet::open(Connection& client, const Introduction& theirs, Introduction& ours) {
  if (theirs.window != options_.window ||
      theirs.slot_bytes != slot_bytes_for(options_.body_bytes)) {
    return Status(
        Code::invalid_argument,
        "the client has another window or other slots than the server; give both the same");
  }
  Side& side = sides_[client.place];
  REMORA_TRY_RESULT(slots, Slots::create(*client.domain, options_.window, options_.body_bytes,
                                         fabric::local_write | fabric::remote_write));
  side.slots = std::move(slots).value();
  side.seen.assign(options_.window, 0);
  side.client = &client;
  open_.push_back(client.place);
  ours.slots = side.slots.remote();
  ours.window = options_.window;
  ours.slot_bytes = static_cast<std::uint32_t>(side.slots.slot_bytes());
  for (std::uint32_t i = 0; options_.told_by_imm && i < receives(); ++i) {
    REMORA_TRY(post_receive(client));
  }
  return {};
}

void SlotInlet::close(Connection& client) {
  std::erase(open_, client.place);
  sides_[client.place] = {};
}

Status SlotInlet::post_receive(Connection& client) {
  const fabric::ReceiveWork work{.id = work_id(client.session.id, 0)};
  return client.queue_pair->post_receive(std::span(&work, 1));
}

std::size_t SlotInlet::poll(std::span<Arrival> out) {
  return options_.told_by_imm ? hear(out) : look(out);
}

// Every client has its turn before any has a second one.
std::size_t SlotInlet::look(std::span<Arrival> out) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < open_.size() && count < out.size(); ++i) {
    next_ = next_ + 1 < open_.size() ? next_ + 1 : 0;
    Side& side = sides_[open_[next_]];
    for (std::uint32_t slot = 0; slot < options_.window && count < out.size(); ++slot) {
      const std::uint64_t word = side.slots.word(slot);
      if (word != side.seen[slot]) {
        side.seen[slot] = word;
        out[count++] = {.session = side.client->session.id, .where = slot};
      }
    }
  }
  if (count == 0 && !open_.empty()) {
    // Nothing tells of a client that is gone but its queue pair; one of them each time.
    Side& side = sides_[open_[next_]];
    if (!side.is_gone && side.client->queue_pair->state() == fabric::QpState::error) {
      side.is_gone = true;
      out[count++] = {.session = side.client->session.id, .failed = true};
    }
  }
  return count;
}

std::size_t SlotInlet::hear(std::span<Arrival> out) {
  const std::size_t count =
      receives_->poll(std::span(completions_).first(std::min(out.size(), most_polled)));
  for (std::size_t i = 0; i < count; ++i) {
    const fabric::WorkCompletion& completion = completions_[i];
    out[i] = {.session = session_of(completion.id),
              .where = completion.immediate,
              .failed = completion.status != fabric::WorkStatus::success ||
                        completion.opcode != fabric::Opcode::receive_imm};
  }
  return count;
}

std::optional<Slots::Message> SlotInlet::message(Connection& client, std::uint32_t slot) {
  if (slot >= options_.window) {
    return std::nullopt;
  }
  const std::optional<Slots::Message> message = sides_[client.place].slots.message(slot);
  if (!message || (message->tail.call & slot_mask) != slot || message->tail.code != 0 ||
      (message->tail.flags & ~options_.flags) != 0) {
    return std::nullopt;
  }
  return message;
}

std::optional<Request> SlotInlet::read(Connection& client, const Arrival& arrival) {
  const std::optional<Slots::Message> found = message(client, arrival.where);
  if (!found) {
    return std::nullopt;
  }
  return Request{.call = found->tail.call, .kind = found->tail.kind, .body = found->body};
}

Status SlotInlet::release(Connection& client, const Arrival&) {
  return options_.told_by_imm ? post_receive(client) : Status();
}

}  // namespace remora::rpc
