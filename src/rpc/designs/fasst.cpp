// fasst: FaSST (Kalia et al., OSDI 2016), as figure 2(d) of the RDMA Flush paper draws it.
//
//   sender                             receiver
//   SEND the request, by datagram ---> its CPU takes it from the receive queue; handles; flushes
//         <--------------------------- SENDs the answer, by datagram
//
// A datagram is one packet: below 4 KB, head and token of the message included.
//
// CHOSEN where that paper is silent:
// - FaSST takes a lost packet for a machine that is gone. Here the client sends the request again
// after
//   resend_ns, until the call times out: so a request may be handled twice, and the rival promises
//   no more than "at least once, where the client does not give up".
// - The server has one queue pair and one set of receives for all clients, as FaSST has for each
// core.
// - Each side's messages begin with a token that the other was told, since anybody can send a
// datagram.
#include <algorithm>
#include <array>

#include "rpc/designs/datagram_answers.h"
#include "rpc/designs/list.h"
#include "rpc/designs/rival_client.h"
#include "rpc/designs/slot_client.h"
#include "rpc/inlet_datagrams.h"
#include "rpc/outlet_datagrams.h"

namespace remora::rpc {

namespace {

constexpr std::uint32_t most_receives = 1024;

class FasstClient final : public RivalClient {
 public:
  FasstClient(const Host& host, const DesignOptions& options)
      : RivalClient(host, options), arguments_(options.window * options.body_bytes) {}

  Status open() {
    REMORA_TRY_RESULT(answers, DatagramAnswers::create(host_, options_));
    answers_ = std::move(answers).value();
    return {};
  }
  Introduction introduction() const override {
    Introduction ours{.window = options_.window};
    answers_->introduce(ours);
    return ours;
  }
  Status connect(const Introduction& server) override {
    REMORA_TRY_RESULT(peer, answers_->end().find(server.datagrams, server.queue_key, server.token));
    server_ = std::move(peer).value();
    return {};
  }
  fabric::QueuePair* queue_pair() override { return nullptr; }
  Bytes request(std::uint32_t slot) override {
    return std::span(arguments_).subspan(slot * options_.body_bytes, options_.body_bytes);
  }

 private:
  Task<Result<ConstBytes>> exchange(std::uint32_t slot, Kind kind,
                                    std::size_t size_bytes) override {
    const MessageHead head = {.call = next_call(slot),
                              .kind = kind,
                              .size_bytes = static_cast<std::uint32_t>(size_bytes)};
    const std::uint64_t give_up_ns = deadline_ns();
    answers_->expect(slot, head.call);
    for (bool again = false; host_.now_ns() < give_up_ns; again = true) {
      sent_again_ += again ? 1 : 0;
      co_await ready();
      send(slot, head);
      if (co_await answers_->wait(
              slot, std::min(give_up_ns, host_.runtime().after(options_.resend_ns)))) {
        host_.charge(Work::poll);
        co_await host_.charged();
        const DatagramEnd::Message message = answers_->answer(slot);
        co_return answer(message.head.code, message.body);
      }
    }
    co_return failed(Status(Code::timed_out, "the server did not answer in time"));
  }

  // Where no buffer is free, what is sent is as good as lost.
  void send(std::uint32_t slot, const MessageHead& head) {
    if (const std::optional<std::uint32_t> buffer = answers_->end().take()) {
      copy_bytes(answers_->end().body(*buffer).data(), request(slot).first(head.size_bytes));
      (void)answers_->end().send(*buffer, server_, head);
    }
  }

  std::vector<std::byte> arguments_;
  std::unique_ptr<DatagramAnswers> answers_;
  DatagramEnd::Peer server_;
};

Result<Ends> serve_fasst(const Host& host, const DesignOptions& options) {
  const std::uint32_t calls = std::min(options.most_clients * options.window, most_receives);
  REMORA_TRY_RESULT(made, DatagramEnd::create(host.device(), {.receives = 2 * calls,
                                                              .buffers = 2 * calls,
                                                              .body_bytes = options.body_bytes}));
  const std::shared_ptr<DatagramEnd> end = std::move(made).value();
  Ends ends;
  REMORA_TRY_RESULT(outlet, DatagramOutlet::create(host.device(), end, options.most_clients));
  ends.outlet = std::move(outlet).value();
  ends.inlet = std::make_unique<DatagramInlet>(end, options.most_clients);
  return ends;
}

constexpr std::array fasst_transports = {fabric::Transport::ud};

}  // namespace

const Design& fasst() {
  static const Design design = {
      .descriptor = {.name = "fasst",
                     .kind = SystemKind::part,
                     .about = "Datagrams both ways, below 4 KB",
                     .caveat = "a datagram that is lost is sent again, and its call may run twice",
                     .paper = "Kalia et al., OSDI 2016",
                     .section = "RDMA Flush, 3",
                     .is_rival = true},
      .verb = RequestVerb::send,
      .transports = fasst_transports,
      .request = "SEND",
      .answer = "SEND",
      .figure = "2(d)",
      .most_body_bytes = most_datagram_body,
      .serve = serve_fasst,
      .start_client = start<FasstClient>};
  return design;
}

}  // namespace remora::rpc
