// darpc: DaRPC (Stuedi et al., SoCC 2014), as figure 2(a) of the RDMA Flush paper draws it.
//
//   sender                 receiver
//   SEND the request ----> its CPU takes it from the receive queue; handles; flushes
//         <--------------- SENDs the answer
//
// These are the messages of the stores (rpc/caller.h, rpc/inlet_receives.h, rpc/outlet_sends.h).
//
// CHOSEN where that paper is silent:
// - The argument lies in a receive buffer in DRAM, and the handler copies it to the object in PM.
// - Requests are taken from the completion queue in batches, and each is answered by a SEND of its
// own.
#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "rpc/caller.h"
#include "rpc/designs/list.h"
#include "rpc/designs/rival_client.h"
#include "rpc/designs/slot_client.h"
#include "rpc/inlet_receives.h"
#include "rpc/outlet_sends.h"

namespace remora::rpc {

namespace {

class DarpcClient final : public RivalClient {
 public:
  DarpcClient(const Host& host, const DesignOptions& options) : RivalClient(host, options) {}

  Status open() {
    REMORA_TRY_RESULT(caller, Caller::create(host_, {.slots = options_.window,
                                                     .operations = 1,
                                                     .request_bytes = bytes(),
                                                     .reply_bytes = bytes(),
                                                     .notices = 1,
                                                     .timeout_ns = options_.timeout_ns}));
    caller_ = std::move(caller).value();
    slots_.resize(options_.window);
    for (std::uint32_t slot = 0; slot < options_.window; ++slot) {
      Task<CallSlot> free = take();  // as many as there are
      slots_[slot] = free.take();
    }
    return {};
  }
  Introduction introduction() const override { return {.queue_pair = caller_->address()}; }
  Status connect(const Introduction& server) override {
    return caller_->connect(server.queue_pair, options_.connect);
  }
  fabric::QueuePair* queue_pair() override { return &caller_->queue_pair(); }
  Bytes request(std::uint32_t slot) override { return slots_[slot].request(); }

 private:
  Task<Result<ConstBytes>> exchange(std::uint32_t slot, Kind kind,
                                    std::size_t size_bytes) override {
    Result<ConstBytes> result = co_await caller_->call(slots_[slot], kind, size_bytes);
    host_.charge(Work::poll);  // as in all designs; the stores' callers are not charged for it
    co_await host_.charged();
    co_return result;
  }

  Task<CallSlot> take() { co_return co_await caller_->slot(); }
  std::uint32_t bytes() const { return static_cast<std::uint32_t>(options_.body_bytes); }

  std::unique_ptr<Caller> caller_;
  std::vector<CallSlot> slots_;
};

Result<Ends> serve_darpc(const Host& host, const DesignOptions& options) {
  const auto bytes = static_cast<std::uint32_t>(options.body_bytes);
  Ends ends;
  REMORA_TRY_RESULT(
      outlet, SendOutlet::create(host.device(), {.most_clients = options.most_clients,
                                                 .buffers = std::min(2 * options.window + 1, 63u),
                                                 .notices = 0,
                                                 .reply_bytes = bytes}));
  REMORA_TRY_RESULT(inlet,
                    ReceiveInlet::create(host.device(), {.most_clients = options.most_clients,
                                                         .receives = options.window,
                                                         .request_bytes = bytes}));
  ends.outlet = std::move(outlet).value();
  ends.inlet = std::move(inlet).value();
  return ends;
}

constexpr std::array darpc_transports = {fabric::Transport::rc};

}  // namespace

const Design& darpc() {
  static const Design design = {.descriptor = {.name = "darpc",
                                               .kind = SystemKind::part,
                                               .about = "SEND to a receive queue; answer by SEND",
                                               .paper = "Stuedi et al., SoCC 2014",
                                               .section = "RDMA Flush, 3",
                                               .is_rival = true},
                                .verb = RequestVerb::send,
                                .transports = darpc_transports,
                                .request = "SEND",
                                .answer = "SEND",
                                .figure = "2(a)",
                                .most_body_bytes = most_slot_body,
                                .serve = serve_darpc,
                                .start_client = start<DarpcClient>};
  return design;
}

}  // namespace remora::rpc
