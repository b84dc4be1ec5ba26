// farm: FaRM (Dragojevic et al., NSDI 2014), as figure 2(b) of the RDMA Flush paper draws it.
//
//   sender                      receiver
//   WRITE the request  ------>  its CPU polls the buffer; handles; flushes
//         <-------------------  WRITEs the answer, which the sender polls for
//
// CHOSEN where that paper is silent:
// - The buffer has a slot for each call in flight, not FaRM's ring: nothing is polled but last
// words,
//   and no head has to be sent back.
// - The word that is polled names the call, so no slot is cleared.
// - Nothing is sent inline, here and in all designs.
#include <array>

#include "rpc/designs/list.h"
#include "rpc/designs/slot_client.h"
#include "rpc/designs/slot_ends.h"

namespace remora::rpc {

namespace {

class FarmClient final : public SlotClient {
 public:
  FarmClient(const Host& host, const DesignOptions& options) : SlotClient(host, options) {}
  Status open() { return SlotClient::open({}); }

 private:
  Task<Result<ConstBytes>> exchange(std::uint32_t slot, Kind kind,
                                    std::size_t size_bytes) override {
    const fabric::Sge request = message(slot, {.kind = kind,
                                               .size_bytes = static_cast<std::uint32_t>(size_bytes),
                                               .call = next_call(slot)});
    co_await ready();
    const fabric::WorkCompletion written =
        co_await flows().write(pair(), request, place(slot, request));
    if (written.status != fabric::WorkStatus::success) {
      co_return unreachable(written);
    }
    co_return co_await answer_in(slot);
  }
};

Result<Ends> serve_farm(const Host& host, const DesignOptions& options) {
  return slots_and_writes(host, options, {});
}

constexpr std::array farm_transports = {fabric::Transport::rc};

}  // namespace

const Design& farm() {
  static const Design design = {
      .descriptor = {.name = "farm",
                     .kind = SystemKind::part,
                     .about = "WRITE into a slot that the receiver polls; answer by WRITE",
                     .paper = "Dragojevic et al., NSDI 2014",
                     .section = "RDMA Flush, 3",
                     .is_rival = true},
      .verb = RequestVerb::write,
      .transports = farm_transports,
      .request = "WRITE, polled",
      .answer = "WRITE, polled",
      .figure = "2(b)",
      .most_body_bytes = most_slot_body,
      .serve = serve_farm,
      .start_client = start<FarmClient>};
  return design;
}

}  // namespace remora::rpc
