// For the tests of this layer: two devices, each with memory and a queue pair, connected.
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "fabric/nic/device/nic.h"
#include "fabric/nic/device/testing/test_wire.h"
#include "runtime/virtual_loop.h"

namespace remora::fabric::nic {

struct TestOptions {
  std::uint32_t mtu_bytes = 1024;
  bool lossless = false;
  std::uint32_t window_packets = 0;
  bool gathers = false;
  bool carries_riders = false;
  std::uint64_t seed = 1;
  std::size_t memory_bytes = 1 << 16;
  ConnectOptions connect = {.timeout_ns = 100'000, .retry_count = 3, .rnr_delay_ns = 10'000};
  QueuePairOptions queue_pair = {.max_inline_bytes = 128};
  std::uint32_t violation_limit = limits::access_violations;
  std::uint32_t pin_down_entries = limits::cached_pages;
  Region* persistence = nullptr;  // of side 1; its memory is then the region's
};

// One of the two sides.
class Side {
 public:
  Side(Runtime& runtime, std::uint8_t id, const TestOptions& options)
      : options_(options),
        wire(runtime, id, options.mtu_bytes, options.lossless, options.window_packets,
             options.gathers, options.carries_riders),
        dma(&runtime),
        nic(runtime, wire, dma,
            {.keys = Keys::from_seed(options.seed * 2 + id),
             .access_violation_limit = options.violation_limit,
             .pin_down_entries = options.pin_down_entries}),
        domain(nic.create_domain()),
        sends(std::move(nic.create_completion_queue(4096)).value()),
        receives(std::move(nic.create_completion_queue(4096)).value()),
        own_(options.memory_bytes) {
    Region* persistence = id == 1 ? options.persistence : nullptr;
    memory = persistence != nullptr ? persistence->bytes() : Bytes(own_);
    region = register_memory(
        memory, persistence != nullptr ? every_access : every_access & ~flush_persistence,
        persistence);
    qp = create(options.queue_pair);
  }

  std::unique_ptr<MemoryRegion> register_memory(Bytes bytes, AccessFlags access,
                                                Region* persistence = nullptr) {
    return std::move(domain->register_memory(bytes, access, persistence)).value();
  }

  std::unique_ptr<QueuePair> create(QueuePairOptions queue_pair) {
    queue_pair.send_queue = sends.get();
    queue_pair.receive_queue = receives.get();
    auto made = std::move(domain->create_queue_pair(queue_pair)).value();
    REMORA_CHECK(made->initialise().ok(), "a new queue pair can be initialised");
    return made;
  }

  Sge piece(std::size_t offset, std::size_t size) const { return region->piece(offset, size); }
  RemoteAddress remote(std::size_t offset) const { return region->remote(offset); }
  Bytes at(std::size_t offset, std::size_t size) const { return memory.subspan(offset, size); }
  void fill(std::size_t offset, std::size_t size, std::uint8_t first) {
    for (std::size_t i = 0; i < size; ++i) {
      memory[offset + i] = static_cast<std::byte>(first + i * 7);
    }
  }
  std::uint64_t word(std::size_t offset) const { return load<std::uint64_t>(&memory[offset]); }

  Status send(const SendWork& work) { return qp->post_send(std::span(&work, 1)); }
  Status receive(std::uint64_t id, std::vector<Sge> pieces) {
    const ReceiveWork work = {id, pieces};
    return qp->post_receive(std::span(&work, 1));
  }

  std::vector<WorkCompletion> sent() { return take(*sends); }
  std::vector<WorkCompletion> received() { return take(*receives); }

 private:
  static std::vector<WorkCompletion> take(CompletionQueue& queue) {
    std::vector<WorkCompletion> all;
    WorkCompletion one;
    while (queue.poll(std::span(&one, 1)) == 1) {
      all.push_back(one);
    }
    return all;
  }

  const TestOptions options_;

 public:
  TestWire wire;
  PlainDma dma;
  Nic nic;
  std::unique_ptr<ProtectionDomain> domain;
  std::unique_ptr<CompletionQueue> sends;
  std::unique_ptr<CompletionQueue> receives;

 private:
  std::vector<std::byte> own_;

 public:
  Bytes memory;
  std::unique_ptr<MemoryRegion> region;
  std::unique_ptr<QueuePair> qp;
};

// To that side's memory.
inline SendWork write_work(const Side& to, const Sge& piece, std::size_t offset,
                           std::uint64_t id = 1) {
  return {.id = id,
          .opcode = Opcode::write,
          .pieces = std::span(&piece, 1),
          .remote = to.remote(offset)};
}

class TwoNics {
 public:
  explicit TwoNics(const TestOptions& options = {})
      : loop({.seed = options.seed}), a(loop, 0, options), b(loop, 1, options), options_(options) {
    TestWire::join(a.wire, b.wire);
    connect(*a.qp, *b.qp);
  }

  void connect(QueuePair& one, QueuePair& other) {
    const QueuePairAddress there = other.address();
    const QueuePairAddress here = one.address();
    REMORA_CHECK(one.connect(there, options_.connect).ok(), "the first side connects");
    REMORA_CHECK(other.connect(here, options_.connect).ok(), "the second side connects");
  }

  // Runs the loop for this span of virtual time.
  void run(std::uint64_t span_ns = 20'000'000) { loop.run_for(span_ns); }

  VirtualLoop loop;
  Side a;
  Side b;

 private:
  const TestOptions options_;
};

}  // namespace remora::fabric::nic
