// The two ends of a remote write, in whatever world: what a client does for each of its writes, and
// what the server does about them. The ways of writing are those of remote_write.h.
//
// One thread, the loop's. What is handed in outlives the ends, and no flow of theirs runs when they
// go: fail the queue pair first.
#pragma once

#include <cstdint>
#include <string>

#include "base/bytes.h"
#include "fabric/flow.h"
#include "host/host.h"
#include "lab/workload/meter.h"
#include "runtime/task.h"

namespace remora::store_bench {

enum class WriteMethod : std::uint8_t { rpc, ca, saw, imm };

// invalid_argument for a name that is none, with those that there are.
Result<WriteMethod> parse_write_method(const std::string& name);

inline constexpr std::uint32_t largest_write_bytes = 1 << 20;

struct RemoteWrites {
  WriteMethod method = WriteMethod::rpc;
  std::uint32_t size_bytes = 64;
  std::uint64_t area_bytes = 0;  // where they go; twice largest_write_bytes or more

  // What every message fits in: of each end's memory so much is for sending, and as much for
  // receiving.
  std::uint32_t message_bytes() const;
  // A write goes behind the one before it, as in a log. Both ends count alike.
  std::uint64_t after(std::uint64_t place) const;
};

// invalid_argument for a size of 0 or above largest_write_bytes.
Status validate(const RemoteWrites& writes);

// What an end has: a queue pair that is connected to the other end's, or will be before anything is
// written, with completions that are for these flows alone, and memory for messages.
struct WriteLink {
  Host host;
  fabric::QueuePair& pair;
  fabric::CompletionQueue& queue;
  fabric::Sge sent;
  fabric::Sge received;
};

class WriteEnd {
 protected:
  explicit WriteEnd(const WriteLink& link)
      : host_(link.host),
        pair_(link.pair),
        flows_(link.host.runtime(), link.queue),
        sent_(link.sent),
        received_(link.received) {}

  // A receive that is posted at once.
  Task<fabric::WorkCompletion> receive() { co_return co_await flows_.receive(pair_, received_); }
  // Before something is posted.
  CpuTime ready() const {
    host_.charge(Work::post);
    return host_.charged();
  }
  fabric::Sge to_send(std::uint32_t size_bytes) const {
    return {sent_.address, size_bytes, sent_.key};
  }

  const Host host_;
  fabric::QueuePair& pair_;
  fabric::FlowQueue flows_;
  const fabric::Sge sent_;
  const fabric::Sge received_;
};

class WriteServer final : WriteEnd {
 public:
  // The area begins there, in the host's region.
  WriteServer(const WriteLink& link, const RemoteWrites& writes, std::byte* area)
      : WriteEnd(link), writes_(writes), area_(area) {}

  // Answers until its queue pair fails.
  Task<void> serve();

 private:
  const RemoteWrites writes_;
  std::byte* const area_;
};

class WriteClient final : WriteEnd {
 public:
  WriteClient(const WriteLink& link, const RemoteWrites& writes, const fabric::RemoteAddress& area)
      : WriteEnd(link), writes_(writes), area_(area) {}

  // One after the other. The meter, if there is one, is told of each.
  Task<Status> write_all(std::uint64_t count, workload::Meter* meter);

 private:
  Task<Status> write(fabric::RemoteAddress there);

  const RemoteWrites writes_;
  const fabric::RemoteAddress area_;
  std::uint64_t place_ = 0;
};

}  // namespace remora::store_bench
