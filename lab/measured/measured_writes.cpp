#include "lab/measured/measured_writes.h"

#include <memory>
#include <utility>

#include "lab/measured/nic/ring_target.h"
#include "lab/measured/nic/roce_target.h"
#include "lab/measured/seat.h"
#include "runtime/poll_loop.h"

namespace remora::lab {

using store_bench::RemoteWrites;
using store_bench::WriteClient;
using store_bench::WriteLink;
using store_bench::WriteServer;

namespace {

constexpr std::uint64_t writes_area_bytes = 16 << 20;  // larger than the caches of a core
constexpr std::uint64_t in_flight = 1;

std::uint64_t messages_bytes(const RemoteWrites& writes) {
  return 2 * std::uint64_t{writes.message_bytes()};
}

// What is sent lies at `begin` of the side's memory, and what is received behind it.
WriteLink link_of(Runtime& runtime, Side& side, const RemoteWrites& writes, std::uint64_t begin) {
  const std::uint32_t each = writes.message_bytes();
  return {Host(runtime, side.device(), &side.region()), side.queue_pair(), side.completions(),
          side.memory().piece(begin, each), side.memory().piece(begin + each, each)};
}

// The area is first in the memory of the server.
struct Serving {
  Serving(Runtime& runtime, Side& side, const RemoteWrites& writes)
      : seat(0),
        server(link_of(runtime, side, writes, writes.area_bytes), writes, side.region().data()),
        flow(server.serve()) {}

  Seat seat;
  WriteServer server;
  Task<void> flow;
};

Result<store_bench::Report> measure_writes(PollLoop& loop, Side& side, const RemoteWrites& writes,
                                           const MeasuredWrites& options) {
  const Seat seat(initiating_seat(options.placement));  // from now on: a child would inherit it
  WriteClient client(link_of(loop, side, writes, 0), writes, side.peer().memory);
  REMORA_TRY(loop.block_on(client.write_all(options.warm_up, nullptr)));
  const auto meter = std::make_unique<workload::Meter>();
  const std::uint64_t begin_ns = loop.now_ns();
  REMORA_TRY(loop.block_on(client.write_all(options.operations, meter.get())));
  return store_bench::report_of(*meter, loop.now_ns() - begin_ns);
}

}  // namespace

Result<store_bench::Report> run_measured_writes(const MeasuredWrites& options) {
  const RemoteWrites writes{options.method, options.size_bytes, writes_area_bytes};
  REMORA_TRY(store_bench::validate(writes));
  const Answering answering = [&writes](Runtime& runtime, Side& side) {
    return std::make_shared<Serving>(runtime, side, writes);
  };
  const std::uint64_t server_bytes = writes_area_bytes + messages_bytes(writes);
  PollLoop loop;
  if (options.fabric == link::WireKind::roce) {
    REMORA_TRY_RESULT(target, RoceTarget::start(server_bytes, in_flight, answering));
    Result<std::unique_ptr<Side>> side =
        (*target)->connect(loop, messages_bytes(writes), in_flight);
    return side.ok() ? measure_writes(loop, **side, writes, options) : side.status();
  }
  const bool mapped = options.fabric == link::WireKind::mapped;
  REMORA_TRY_RESULT(target, RingTarget::start(mapped, server_bytes, in_flight, answering));
  RingClient client(loop, mapped);
  Result<std::unique_ptr<Side>> side =
      client.connect((*target)->path(), messages_bytes(writes), in_flight);
  return side.ok() ? measure_writes(loop, **side, writes, options) : side.status();
}

}  // namespace remora::lab
