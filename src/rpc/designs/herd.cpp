// herd-rpc: HERD (Kalia et al., SIGCOMM 2014), as figure 2(c) of the RDMA Flush paper draws it.
//
//   sender                                receiver
//   WRITE the request, unreliably ------> its CPU polls the slot; handles; flushes
//         <------------------------------ SENDs the answer, by datagram
//
// The answer is one packet, so calls are below 4 KB; the figures of the paper have no HERD.
//
// CHOSEN where that paper is silent:
// - A request or an answer that is lost: the client WRITEs the request again after resend_ns, with
//   another number of the attempt, so that the word that is polled changes. So a request may be
//   handled twice.
// - A client that is gone is not noticed by its connection (U11): whoever accepted it disconnects
// it.
#include <algorithm>
#include <array>

#include "rpc/designs/datagram_answers.h"
#include "rpc/designs/list.h"
#include "rpc/designs/slot_client.h"
#include "rpc/designs/slot_ends.h"
#include "rpc/outlet_datagrams.h"

namespace remora::rpc {

namespace {

class HerdClient final : public SlotClient {
 public:
  HerdClient(const Host& host, const DesignOptions& options) : SlotClient(host, options) {}

  Status open() {
    REMORA_TRY_RESULT(answers, DatagramAnswers::create(host_, options_));
    answers_ = std::move(answers).value();
    return SlotClient::open({.transport = fabric::Transport::uc, .answer_slots = false});
  }
  Introduction introduction() const override {
    Introduction ours = SlotClient::introduction();
    answers_->introduce(ours);
    return ours;
  }

 private:
  Task<Result<ConstBytes>> exchange(std::uint32_t slot, Kind kind,
                                    std::size_t size_bytes) override {
    SlotTail tail = {.kind = kind,
                     .size_bytes = static_cast<std::uint32_t>(size_bytes),
                     .call = next_call(slot)};
    const std::uint64_t give_up_ns = deadline_ns();
    answers_->expect(slot, tail.call);
    for (; host_.now_ns() < give_up_ns; ++tail.attempt) {
      sent_again_ += tail.attempt == 0 ? 0 : 1;
      const fabric::Sge request = message(slot, tail);
      co_await ready();
      const fabric::WorkCompletion written =
          co_await flows().write(pair(), request, place(slot, request));
      if (written.status != fabric::WorkStatus::success) {
        co_return unreachable(written);
      }
      if (co_await answers_->wait(
              slot, std::min(give_up_ns, host_.runtime().after(options_.resend_ns)))) {
        host_.charge(Work::poll);
        co_await host_.charged();
        const DatagramEnd::Message message = answers_->answer(slot);
        co_return answer(message.head.code, message.body);
      }
    }
    co_return unanswered();
  }

  std::unique_ptr<DatagramAnswers> answers_;
};

Result<Ends> serve_herd(const Host& host, const DesignOptions& options) {
  REMORA_TRY_RESULT(
      made,
      DatagramEnd::create(host.device(),
                          {.receives = 1,
                           .buffers = std::min(2 * options.most_clients * options.window, 2048u),
                           .body_bytes = options.body_bytes}));
  Ends ends;
  REMORA_TRY_RESULT(
      outlet, DatagramOutlet::create(host.device(), std::move(made).value(), options.most_clients));
  REMORA_TRY_RESULT(
      inlet, SlotInlet::create(host.device(),
                               slot_inlet_options(options, {.transport = fabric::Transport::uc})));
  ends.outlet = std::move(outlet).value();
  ends.inlet = std::move(inlet).value();
  return ends;
}

constexpr std::array herd_transports = {fabric::Transport::uc, fabric::Transport::ud};

}  // namespace

const Design& herd_rpc() {
  static const Design design = {
      .descriptor = {.name = "herd-rpc",
                     .kind = SystemKind::part,
                     .about = "Unreliable WRITE into a polled slot; answer by datagram, below 4 KB",
                     .caveat = "what is lost is sent again, and its call may run twice",
                     .paper = "Kalia et al., SIGCOMM 2014",
                     .section = "RDMA Flush, 3; in none of its figures",
                     .is_rival = true},
      .verb = RequestVerb::write,
      .transports = herd_transports,
      .request = "WRITE (UC), polled",
      .answer = "SEND (UD)",
      .figure = "2(c)",
      .most_body_bytes = most_datagram_body,
      .serve = serve_herd,
      .start_client = start<HerdClient>};
  return design;
}

}  // namespace remora::rpc
