// SlotInlet: requests that clients WRITE into slots of theirs in this side's memory (slots.h). The
// loop finds them by the last word of each slot, or is told by WRITEs with IMM, whose immediate is
// the number of a slot.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <vector>

#include "rpc/inlet.h"
#include "rpc/slots.h"

namespace remora::rpc {

struct SlotInletOptions {
  std::uint32_t most_clients = 64;
  std::uint32_t window = 1;  // slots of each client
  std::size_t body_bytes = 4096;
  fabric::Transport transport = fabric::Transport::rc;
  bool told_by_imm = false;  // else it looks
  std::uint16_t flags = 0;   // that a request may have; one with others is nonsense
};

class SlotInlet : public Inlet {
 public:
  static Result<std::unique_ptr<SlotInlet>> create(fabric::Device& device,
                                                   const SlotInletOptions& options);

  bool is_told() const override { return options_.told_by_imm; }
  void ask(fabric::QueuePairOptions& options) override;
  Status open(Connection& client, const Introduction& theirs, Introduction& ours) override;
  void close(Connection& client) override;
  std::size_t poll(std::span<Arrival> out) override;
  std::optional<Request> read(Connection& client, const Arrival& arrival) override;
  Status release(Connection& client, const Arrival& arrival) override;

 protected:
  SlotInlet(const SlotInletOptions& options, std::unique_ptr<fabric::CompletionQueue> receives)
      : options_(options), receives_(std::move(receives)), sides_(options.most_clients) {}

  const SlotInletOptions& options() const { return options_; }
  // Null when it has gone.
  Connection* client_of(SessionId session) {
    Connection* client = sides_[session & place_mask].client;
    return client != nullptr && client->session.id == session ? client : nullptr;
  }
  // What lies in that slot of the client's, if it is a request that may be there.
  std::optional<Slots::Message> message(Connection& client, std::uint32_t slot);

 private:
  static constexpr std::size_t most_polled = 64;
  struct Side {
    Connection* client = nullptr;
    Slots slots;
    std::vector<std::uint64_t> seen;  // by slot: the last word of what was found last
    bool is_gone = false;             // and that was told
  };
  // Receives of each client for WRITEs with IMM: one that is released late leaves others.
  std::uint32_t receives() const { return options_.told_by_imm ? 2 * options_.window : 1; }
  Status post_receive(Connection& client);
  std::size_t look(std::span<Arrival> out);
  std::size_t hear(std::span<Arrival> out);

  const SlotInletOptions options_;
  std::unique_ptr<fabric::CompletionQueue> receives_;
  std::vector<Side> sides_;          // by place
  std::vector<std::uint32_t> open_;  // places of clients that are there
  std::size_t next_ = 0;             // of these: where the next look begins
  std::array<fabric::WorkCompletion, most_polled> completions_;
};

}  // namespace remora::rpc
