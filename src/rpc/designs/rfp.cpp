// rfp: RFP (Su et al., EuroSys 2017), as figure 2(f) of the RDMA Flush paper draws it.
//
//   sender                      receiver
//   WRITE the request  ------>  its CPU polls the slot; handles; flushes; leaves the answer
//   READ, READ, ...    ------>  (its CPU has no part in these)
//         <-------------------  the answer, or an old one, or a part of one
//
// A READ races the handler. It may find the answer to the call before, or some words of the new
// one: the head names the call, and its last word is stored last; a body that is READ together with
// its head has a checksum; a longer one is READ again, whole, once the head was seen.
//
// CHOSEN where that paper is silent:
// - The first READ has 256 bytes (RFP: a size that is learnt from the workload).
// - A READ follows the one before at once. RFP's other mode, in which the server sends when it is
// slow,
//   is not taken: figure 2(f) has none.
#include <array>
#include <cstring>

#include "rpc/designs/list.h"
#include "rpc/designs/slot_client.h"
#include "rpc/designs/slot_ends.h"
#include "rpc/outlet_kept.h"

namespace remora::rpc {

namespace {

class RfpClient final : public SlotClient {
 public:
  RfpClient(const Host& host, const DesignOptions& options)
      : SlotClient(host, options), result_memory_(options.window * stride()) {}

  Status open() {
    REMORA_TRY(SlotClient::open({.answer_slots = false}));
    REMORA_TRY_RESULT(results, domain().register_memory(result_memory_, fabric::local_write));
    results_ = std::move(results).value();
    return {};
  }

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
    const std::uint64_t give_up_ns = deadline_ns();
    std::size_t wanted = std::min(first_read_bytes, stride());
    while (host_.now_ns() < give_up_ns) {
      co_await ready();
      const fabric::WorkCompletion read =
          co_await flows().read(pair(), results_->piece(slot * stride(), wanted),
                                {server().results.address + slot * stride(), server().results.key});
      if (read.status != fabric::WorkStatus::success) {
        co_return unreachable(read);
      }
      host_.charge(Work::poll);
      co_await host_.charged();
      const KeptHead head = head_in(slot);
      const ConstBytes body = body_in(slot, head);
      if (head.call != call_of(slot) || head.size_bytes > options_.body_bytes) {
        continue;  // the answer to the call before, or half of a head
      }
      if (head.size_bytes > kept_with_head_bytes && wanted < sizeof head + head.size_bytes) {
        wanted = sizeof head + head.size_bytes;
        continue;
      }
      if (head.size_bytes > kept_with_head_bytes ||
          head.checksum == KeptOutlet::checksum(host_, head.call, body)) {
        co_return answer(head.code, body);
      }
    }
    co_return unanswered();
  }

  KeptHead head_in(std::uint32_t slot) const {
    KeptHead head;
    std::memcpy(&head, result_memory_.data() + slot * stride(), sizeof head);
    return head;
  }
  ConstBytes body_in(std::uint32_t slot, const KeptHead& head) const {
    return ConstBytes(result_memory_)
        .subspan(slot * stride() + sizeof head,
                 std::min<std::size_t>(head.size_bytes, options_.body_bytes));
  }
  std::size_t stride() const { return slot_bytes(); }
  static constexpr std::size_t first_read_bytes = sizeof(KeptHead) + kept_with_head_bytes;

  std::vector<std::byte> result_memory_;
  std::unique_ptr<fabric::MemoryRegion> results_;
};

Result<Ends> serve_rfp(const Host& host, const DesignOptions& options) {
  Ends ends;
  REMORA_TRY_RESULT(outlet, KeptOutlet::create(host, {.most_clients = options.most_clients,
                                                      .window = options.window,
                                                      .body_bytes = options.body_bytes}));
  REMORA_TRY_RESULT(inlet, SlotInlet::create(host.device(), slot_inlet_options(options)));
  ends.outlet = std::move(outlet).value();
  ends.inlet = std::move(inlet).value();
  return ends;
}

constexpr std::array rfp_transports = {fabric::Transport::rc};

}  // namespace

const Design& rfp() {
  static const Design design = {
      .descriptor = {.name = "rfp",
                     .kind = SystemKind::part,
                     .about =
                         "WRITE into a polled slot; the client READs until the answer is there",
                     .paper = "Su et al., EuroSys 2017",
                     .section = "RDMA Flush, 3",
                     .is_rival = true},
      .verb = RequestVerb::write,
      .transports = rfp_transports,
      .request = "WRITE, polled",
      .answer = "left for READs",
      .figure = "2(f)",
      .most_body_bytes = most_slot_body,
      .serve = serve_rfp,
      .start_client = start<RfpClient>};
  return design;
}

}  // namespace remora::rpc
