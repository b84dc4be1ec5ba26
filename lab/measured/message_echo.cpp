#include "lab/measured/message_echo.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <type_traits>

#include "base/histogram.h"
#include "fabric/nic/device/sim_machine.h"
#include "lab/run/costs.h"
#include "rpc/caller.h"
#include "rpc/server.h"
#include "runtime/virtual_loop.h"

namespace remora::lab {
namespace {

constexpr std::uint32_t reply_bytes = 16;
constexpr std::uint64_t greeting_ns = 10'000'000'000;

// In the target's memory: where the caller puts its address, and where the answer is.
struct Greeting {
  fabric::QueuePairAddress address;
  std::uint64_t is_there = 0;
};
static_assert(std::is_trivially_copyable_v<Greeting>);
constexpr std::uint64_t call_at = 0;
constexpr std::uint64_t answer_at = 4096;

class EchoService final : public rpc::Service {
 public:
  rpc::Reply handle(const rpc::Session&, std::uint32_t, rpc::Kind, ConstBytes, Bytes) override {
    return {.size_bytes = reply_bytes};
  }
};

// Looks for a caller's greeting, and answers it.
class EchoTarget final : Poller {
 public:
  EchoTarget(Runtime& runtime, Side& side)
      : side_(side), host_(runtime, side.device(), &side.region()) {
    Result<std::unique_ptr<rpc::Server>> server = rpc::Server::create(host_, service_, {});
    if (server.ok()) {
      server_ = std::move(server).value();
      runtime.add_poller(*this);
    }
  }

 private:
  bool poll() override {
    std::byte* const memory = side_.region().data();
    Greeting greeting;
    std::memcpy(&greeting, memory + call_at, sizeof greeting);
    if (is_answered_ || greeting.is_there != 1) {
      return false;
    }
    is_answered_ = true;
    Greeting answer;
    const Result<fabric::QueuePairAddress> address = server_->accept(greeting.address);
    answer.is_there = address.ok() ? 1 : 2;
    if (address.ok()) {
      answer.address = *address;
    }
    std::memcpy(memory + answer_at, &answer, sizeof answer);
    return true;
  }

  Side& side_;
  const Host host_;
  EchoService service_;
  std::unique_ptr<rpc::Server> server_;
  bool is_answered_ = false;
};

Task<Status> call_all(rpc::Caller& caller, std::uint64_t calls, Histogram* latencies) {
  for (std::uint64_t i = 0; i < calls; ++i) {
    const std::uint64_t begin_ns = caller.host().now_ns();
    rpc::CallSlot slot = co_await caller.slot();
    std::memset(slot.request().data(), 1, echo_bytes);
    REMORA_CO_TRY((co_await caller.call(slot, 1, echo_bytes)).status());
    co_await caller.host().charged();
    if (latencies != nullptr) {
      latencies->record(caller.host().now_ns() - begin_ns);
    }
  }
  co_return Status();
}

Result<double> least_median(Runtime& loop, rpc::Caller& caller, std::uint64_t calls, int goes) {
  REMORA_TRY(loop.block_on(call_all(caller, calls, nullptr)));
  std::uint64_t least_ns = UINT64_MAX;
  for (int go = 0; go < goes; ++go) {
    const auto latencies = std::make_unique<Histogram>();
    REMORA_TRY(loop.block_on(call_all(caller, calls, latencies.get())));
    least_ns = std::min(least_ns, latencies->percentile(50));
  }
  return static_cast<double>(least_ns);
}

// One operation on the target's memory, waited for.
Status perform(PollLoop& loop, Side& side, fabric::Opcode opcode, std::uint64_t at,
               const fabric::Sge& piece) {
  fabric::SendWork work;
  work.opcode = opcode;
  work.pieces = std::span(&piece, 1);
  work.remote = {side.peer().memory.address + at, side.peer().memory.key};
  work.signalled = true;
  REMORA_TRY(side.queue_pair().post_send(std::span(&work, 1)));
  std::array<fabric::WorkCompletion, 1> completion;
  while (side.completions().poll(completion) == 0) {
    (void)loop.turn();
  }
  return completion[0].status == fabric::WorkStatus::success
             ? Status()
             : Status(Code::io_error, "the target of the echo cannot be reached");
}

Result<fabric::QueuePairAddress> introduce(PollLoop& loop, Side& side,
                                           const fabric::QueuePairAddress& own) {
  const Greeting greeting{own, 1};
  const fabric::Sge piece = side.memory().piece(0, sizeof greeting);
  std::memcpy(piece.address, &greeting, sizeof greeting);
  REMORA_TRY(perform(loop, side, fabric::Opcode::write, call_at, piece));
  const std::uint64_t give_up_ns = loop.now_ns() + greeting_ns;
  for (Greeting answer; loop.now_ns() < give_up_ns;) {
    REMORA_TRY(perform(loop, side, fabric::Opcode::read, answer_at, piece));
    std::memcpy(&answer, piece.address, sizeof answer);
    if (answer.is_there == 1) {
      return answer.address;
    }
  }
  return Status(Code::timed_out, "the target of the echo does not answer");
}

}  // namespace

std::shared_ptr<void> serve_echo(Runtime& runtime, Side& side) {
  return std::make_shared<EchoTarget>(runtime, side);
}

Result<double> measure_echo(PollLoop& loop, Side& side, std::uint64_t calls, int goes) {
  const Host host(loop, side.device(), &side.region());
  REMORA_TRY_RESULT(caller, rpc::Caller::create(host, {}));
  REMORA_TRY_RESULT(server, introduce(loop, side, (*caller)->address()));
  REMORA_TRY((*caller)->connect(*server, {}));
  return least_median(loop, **caller, calls, goes);
}

Result<double> model_echo(const fabric::nic::sim::Profile& profile, std::uint64_t calls) {
  using fabric::nic::sim::SimMachine;
  VirtualLoop loop({.seed = 1});
  loop.add_cores(2);
  fabric::nic::sim::SimNetwork network(loop, profile.nic, profile.memory, Random(1));
  SimMachine far(loop, network, 1);
  SimMachine near(loop, network, 2);
  const HostCosts costs = store_bench::costs_of(profile);
  EchoService service;
  const Host server_host(loop, far.nic, nullptr, Faults(), costs, 0);
  const Host client_host(loop, near.nic, nullptr, Faults(), costs, 1);
  REMORA_TRY_RESULT(server, rpc::Server::create(server_host, service, {}));
  REMORA_TRY_RESULT(caller, rpc::Caller::create(client_host, {}));
  REMORA_TRY_RESULT(address, (*server)->accept((*caller)->address()));
  REMORA_TRY((*caller)->connect(*address, {}));
  return least_median(loop, **caller, calls, 1);
}

}  // namespace remora::lab
