#include "cli/nic_pingpong/pingpong.h"

#include <fmt/core.h>

#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "fabric/nic/device/nic.h"
#include "fabric/nic/dma/plain_dma.h"
#include "fabric/nic/wire/roce/roce_wire.h"
#include "runtime/poll_loop.h"

namespace remora::cli {

using fabric::Opcode;
using fabric::QueuePairAddress;
using fabric::WorkCompletion;
using fabric::WorkStatus;
using fabric::nic::roce::address_text;
using fabric::nic::roce::RoceWire;

namespace {

constexpr std::uint32_t receive_depth = 500;
constexpr std::uint64_t stall_ns = 20'000'000'000;
// At the end the last acknowledgement may have got lost, and be asked for again.
constexpr std::uint64_t linger_ns = 200'000'000;
constexpr std::uint64_t most_bytes = 64 << 20;

class Pinger {
 public:
  Pinger(RoceWire& wire, const PingpongOptions& options)
      : wire_(wire), options_(options), device_(loop_, wire, dma_), memory_(options.size_bytes) {}

  Status open() {
    domain_ = device_.create_domain();
    auto queue = device_.create_completion_queue(2 * receive_depth);
    auto region = domain_->register_memory(memory_, fabric::local_write);
    if (!queue.ok() || !region.ok()) {
      return queue.ok() ? region.status() : queue.status();
    }
    queue_ = std::move(queue).value();
    region_ = std::move(region).value();
    REMORA_TRY_RESULT(made, domain_->create_queue_pair({.send_queue = queue_.get(),
                                                        .receive_queue = queue_.get(),
                                                        .max_sends = 4,
                                                        .max_receives = receive_depth}));
    qp_ = std::move(made).value();
    REMORA_TRY(qp_->initialise());
    for (std::uint32_t i = 0; i < receive_depth; ++i) {
      REMORA_TRY(post_receive());
    }
    return Status();
  }

  QueuePairAddress address() const { return qp_->address(); }

  Status connect(const QueuePairAddress& peer) {
    REMORA_TRY_RESULT(link, wire_.add_link(peer.gid));
    // Losses are made good soon, and a peer that waits for a processor is not given up.
    return qp_->connect(peer, {.timeout_ns = 50'000'000, .retry_count = 140});
  }

  // The client begins; each side answers what it has received.
  Status run(bool begins) {
    const std::uint64_t start_ns = loop_.now_ns();
    std::uint64_t progress_ns = start_ns;
    bool sending = false;
    bool may_send = begins;
    while (sent_ < options_.iterations || received_ < options_.iterations) {
      if (may_send && !sending && posted_ < options_.iterations) {
        REMORA_TRY(post_send());
        may_send = false;
        sending = true;
      }
      std::array<WorkCompletion, 16> completions;
      const std::size_t count = queue_->poll(completions);
      for (const WorkCompletion& completion : std::span(completions).first(count)) {
        if (completion.status != WorkStatus::success) {
          return Status(Code::io_error,
                        fmt::format("after {} of {} iterations: {}", received_, options_.iterations,
                                    to_string(completion.status)));
        }
        if (completion.opcode == Opcode::receive) {
          ++received_;
          may_send = true;
          REMORA_TRY(post_receive());
        } else {
          ++sent_;
          sending = false;
        }
      }
      if (count == 0) {
        loop_.turn();
        if (loop_.now_ns() > progress_ns + stall_ns) {
          return Status(Code::timed_out, "the peer fell silent");
        }
      } else {
        progress_ns = loop_.now_ns();
      }
    }
    span_ns_ = loop_.now_ns() - start_ns;
    loop_.run_for(linger_ns);
    return Status();
  }

  PingpongReport report(const QueuePairAddress& peer) const {
    return {.iterations = options_.iterations,
            .bytes = 2 * options_.iterations * options_.size_bytes,
            .span_ns = span_ns_,
            .retransmissions = device_.counters().retransmissions,
            .own_gid = address_text(wire_.gid()),
            .peer_gid = address_text(peer.gid)};
  }

 private:
  Status post_receive() {
    const fabric::Sge piece = region_->piece(0, memory_.size());
    const fabric::ReceiveWork work{1, std::span(&piece, 1)};
    return qp_->post_receive(std::span(&work, 1));
  }

  Status post_send() {
    const fabric::Sge piece = region_->piece(0, memory_.size());
    const fabric::SendWork work{.id = 2, .opcode = Opcode::send, .pieces = std::span(&piece, 1)};
    ++posted_;
    return qp_->post_send(std::span(&work, 1));
  }

  PollLoop loop_;
  RoceWire& wire_;
  const PingpongOptions& options_;
  fabric::nic::PlainDma dma_;
  fabric::nic::Nic device_;
  std::vector<std::byte> memory_;
  std::unique_ptr<fabric::ProtectionDomain> domain_;
  std::unique_ptr<fabric::CompletionQueue> queue_;
  std::unique_ptr<fabric::MemoryRegion> region_;
  std::unique_ptr<fabric::QueuePair> qp_;
  std::uint64_t posted_ = 0;
  std::uint64_t sent_ = 0;
  std::uint64_t received_ = 0;
  std::uint64_t span_ns_ = 0;
};

Status check_pingpong(const PingpongOptions& options) {
  if (options.size_bytes == 0 || options.size_bytes > most_bytes) {
    return Status(Code::invalid_argument, "choose a size from 1 byte to 64 MiB");
  }
  return options.iterations == 0 ? Status(Code::invalid_argument, "choose one iteration at least")
                                 : Status();
}

}  // namespace

Result<PingpongReport> run_pingpong(const PingpongOptions& options) {
  REMORA_TRY(check_pingpong(options));
  REMORA_TRY_RESULT(own, fabric::nic::roce::parse_address(
                             options.gid_addr.empty() ? "127.0.0.1" : options.gid_addr));
  REMORA_TRY_RESULT(wire, RoceWire::create({.local = {*own, fabric::nic::roce::limits::udp_port},
                                            .mtu_bytes = options.mtu_bytes}));
  Pinger pinger(**wire, options);
  REMORA_TRY(pinger.open());
  QueuePairAddress peer;
  Status status;
  const bool is_server = options.server.empty();
  if (is_server) {
    status = serve_introduction(options.port, pinger.address(), [&](const QueuePairAddress& got) {
      peer = got;
      return pinger.connect(got);
    });
  } else {
    Result<QueuePairAddress> got = ask_introduction(options.server, options.port, pinger.address());
    if (got.ok()) {
      peer = *got;
      status = pinger.connect(peer);
    } else {
      status = got.status();
    }
  }
  if (status.ok()) {
    status = pinger.run(!is_server);
  }
  if (!status.ok()) {
    return status;
  }
  return pinger.report(peer);
}

}  // namespace remora::cli
