// lite: LITE (Tsai and Zhang, SOSP 2017), as figure 2(i) of the RDMA Flush paper draws it: the
// exchange of octopus-rpc, made by the kernel for its programs.
//
//   sender                                      receiver
//   system call; its kernel                     its kernel finds the completion; a thread that
//   waits WRITEs the request with IMM --------------> in a system call returns with it; handles;
//   flushes;
//                                               system call; its kernel
//   the system call returns <------------------ WRITEs the answer, with IMM
//
// CHOSEN where that paper is silent:
// - Modelled, not made: each side is charged for two entries into the kernel for a call, of
//   DesignOptions::system_call_ns each (the profile's syscall_ns). In real time nothing is charged:
//   a measured lite is octopus-rpc, and says so.
// - The kernel's one context for all programs is the one completion queue of the server, which all
//   designs have; queue pairs are not shared, since in all runs each client is a machine of its
//   own.
// - Results come to the program without an interrupt: LITE polls in the kernel.
#include "rpc/designs/imm_client.h"
#include "rpc/designs/list.h"
#include "rpc/designs/slot_ends.h"

namespace remora::rpc {

namespace {

constexpr std::uint64_t entries_of_a_call = 2;

class LiteClient final : public ImmClient {
 public:
  LiteClient(const Host& host, const DesignOptions& options) : ImmClient(host, options) {}

 private:
  Task<Result<ConstBytes>> exchange(std::uint32_t slot, Kind kind,
                                    std::size_t size_bytes) override {
    host_.charge_ns(entries_of_a_call * options_.system_call_ns);
    co_return co_await ImmClient::exchange(slot, kind, size_bytes);
  }
};

// A request costs the program that takes it a way into the kernel, and its answer another.
class LiteInlet final : public Inlet {
 public:
  LiteInlet(const Host& host, std::uint64_t system_call_ns, std::unique_ptr<SlotInlet> inlet)
      : host_(host), system_call_ns_(system_call_ns), inlet_(std::move(inlet)) {}

  void ask(fabric::QueuePairOptions& options) override { inlet_->ask(options); }
  Status open(Connection& client, const Introduction& theirs, Introduction& ours) override {
    return inlet_->open(client, theirs, ours);
  }
  void close(Connection& client) override { inlet_->close(client); }
  std::size_t poll(std::span<Arrival> out) override { return inlet_->poll(out); }
  std::optional<Request> read(Connection& client, const Arrival& arrival) override {
    host_.charge_ns(entries_of_a_call * system_call_ns_);
    return inlet_->read(client, arrival);
  }
  Status release(Connection& client, const Arrival& arrival) override {
    return inlet_->release(client, arrival);
  }

 private:
  const Host host_;
  const std::uint64_t system_call_ns_;
  const std::unique_ptr<SlotInlet> inlet_;
};

Result<Ends> serve_lite(const Host& host, const DesignOptions& options) {
  Ends ends;
  REMORA_TRY_RESULT(outlet,
                    WriteOutlet::create(host.device(), write_outlet_options(options, true)));
  REMORA_TRY_RESULT(
      inlet, SlotInlet::create(host.device(), slot_inlet_options(options, {.told_by_imm = true})));
  ends.outlet = std::move(outlet).value();
  ends.inlet = std::make_unique<LiteInlet>(host, options.system_call_ns, std::move(inlet).value());
  return ends;
}

constexpr std::array lite_transports = {fabric::Transport::rc};

}  // namespace

const Design& lite() {
  static const Design design = {
      .descriptor = {.name = "lite",
                     .kind = SystemKind::part,
                     .about = "WRITE with IMM both ways, by the kernel: system calls are modelled",
                     .paper = "Tsai and Zhang, SOSP 2017",
                     .section = "RDMA Flush, 3; in none of its figures",
                     .is_rival = true},
      .verb = RequestVerb::write_imm,
      .transports = lite_transports,
      .request = "WRITE with IMM",
      .answer = "WRITE with IMM",
      .figure = "2(i)",
      .most_body_bytes = most_slot_body,
      .serve = serve_lite,
      .start_client = start<LiteClient>};
  return design;
}

}  // namespace remora::rpc
