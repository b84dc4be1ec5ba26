// SlotClient: what the clients have in common whose requests are WRITTEN into slots of the server
// (rpc/slots.h): a queue pair, memory to send from, and slots for answers where those are written,
// too.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "fabric/flow.h"
#include "rpc/designs/rival_client.h"
#include "rpc/slots.h"

namespace remora::rpc {

class SlotClient : public RivalClient {
 public:
  Introduction introduction() const override;
  Status connect(const Introduction& server) override;
  fabric::QueuePair* queue_pair() override { return queue_pair_.get(); }
  Bytes request(std::uint32_t slot) override {
    return std::span(request_memory_).subspan(slot * slot_bytes(), options_.body_bytes);
  }

 protected:
  struct Needs {
    fabric::Transport transport = fabric::Transport::rc;
    bool answer_slots = true;
    std::uint32_t receives = 0;  // for WRITEs with IMM
    fabric::AccessFlags request_access = fabric::local_read;
  };

  SlotClient(const Host& host, const DesignOptions& options) : RivalClient(host, options) {}
  Status open(const Needs& needs);

  std::size_t slot_bytes() const { return slot_bytes_for(options_.body_bytes); }
  // Puts the tail behind the argument; returns what is to be sent.
  fabric::Sge message(std::uint32_t slot, const SlotTail& tail) {
    const std::size_t at = slot * slot_bytes();
    return requests_->piece(at,
                            compose(std::span(request_memory_).subspan(at, slot_bytes()), tail));
  }
  fabric::Sge piece(std::size_t at, std::size_t size_bytes) const {
    return requests_->piece(at, size_bytes);
  }
  // Where the server keeps it.
  fabric::RemoteAddress place(std::uint32_t slot, const fabric::Sge& message) const {
    return place_in_slot(server_.slots, slot_bytes(), slot, message.size_bytes);
  }
  // Waits for the last word of the slot, which names the call; then what lies there.
  Task<Result<ConstBytes>> answer_in(std::uint32_t slot);
  Result<ConstBytes> answer_of(std::uint32_t slot);
  Status unreachable(const fabric::WorkCompletion& completion);
  Status unanswered();

  fabric::ProtectionDomain& domain() { return *domain_; }
  fabric::CompletionQueue& receives() { return *receives_; }
  fabric::MemoryRegion& requests() { return *requests_; }
  fabric::FlowQueue& flows() { return *flows_; }
  fabric::QueuePair& pair() { return *queue_pair_; }
  const Introduction& server() const { return server_; }
  Slots& answers() { return answers_; }

 private:
  std::unique_ptr<fabric::CompletionQueue> sends_;
  std::unique_ptr<fabric::CompletionQueue> receives_;
  std::unique_ptr<fabric::ProtectionDomain> domain_;
  std::vector<std::byte> request_memory_;
  std::unique_ptr<fabric::MemoryRegion> requests_;
  Slots answers_;
  std::unique_ptr<fabric::QueuePair> queue_pair_;
  std::unique_ptr<fabric::FlowQueue> flows_;
  Introduction server_;
};

// A client of this type, opened.
template <typename Client>
Result<std::unique_ptr<DesignClient>> start(const Host& host, const DesignOptions& options) {
  auto client = std::make_unique<Client>(host, options);
  if (Status status = client->open(); !status.ok()) {
    return status;
  }
  return std::unique_ptr<DesignClient>(std::move(client));
}

// What carries whole slots can carry this much.
inline std::size_t most_slot_body(const fabric::Device& device) {
  constexpr std::size_t reasonable = std::size_t{1} << 20;
  return std::min<std::size_t>(device.attributes().max_message_bytes, reasonable) - 64;
}

}  // namespace remora::rpc
