// For the tests of this folder: a client and a server on one simulated network, and a port on each,
// through which the client reaches the server's persistent memory.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "fabric/nic/wire/sim/profile.h"
#include "lab/world/node.h"

namespace remora::lab {

// What a program holds to talk to one peer. It lives in the DRAM of its node.
class Port {
 public:
  Port(fabric::Device& device, Bytes memory, Region* persistence) {
    const fabric::AccessFlags rights =
        persistence != nullptr
            ? fabric::every_access
            : fabric::every_access & ~fabric::AccessFlags{fabric::flush_persistence};
    domain_ = device.create_domain();
    memory_ = domain_->register_memory(memory, rights, persistence).value();
    buffers_ = domain_->register_memory(dram_, fabric::local_write).value();
    sends_ = device.create_completion_queue(64).value();
    receives_ = device.create_completion_queue(64).value();
    qp_ = domain_->create_queue_pair({.send_queue = sends_.get(), .receive_queue = receives_.get()})
              .value();
    EXPECT_TRUE(qp_->initialise().ok());
  }

  fabric::QueuePair& qp() { return *qp_; }
  fabric::MemoryRegion& memory() { return *memory_; }
  void forget_memory() { memory_.reset(); }
  fabric::MemoryRegion& buffers() { return *buffers_; }
  fabric::CompletionQueue& sends() { return *sends_; }
  fabric::CompletionQueue& receives() { return *receives_; }

 private:
  std::vector<std::byte> dram_ = std::vector<std::byte>(64 * 1024);
  std::unique_ptr<fabric::ProtectionDomain> domain_;
  std::unique_ptr<fabric::MemoryRegion> memory_;
  std::unique_ptr<fabric::MemoryRegion> buffers_;
  std::unique_ptr<fabric::CompletionQueue> sends_;
  std::unique_ptr<fabric::CompletionQueue> receives_;
  std::unique_ptr<fabric::QueuePair> qp_;
};

struct Rig {
  // With a host, both are processes of one machine.
  explicit Rig(std::uint64_t seed, const Platform& platform = {}, MappedHost* host = nullptr,
               const ActorOptions& actor = {}, SiteTable* client_sites = nullptr)
      : loop({.seed = seed}),
        network(loop, *fabric::nic::sim::load_nic_profile("connectx-5"),
                *fabric::nic::sim::load_memory_profile("optane"), Random(seed)),
        client(loop, network,
               {.memory_bytes = 4 * page_bytes,
                .platform = {},
                .seed = 2 * seed,
                .sites = client_sites,
                .host = host,
                .actor = actor}),
        server(loop, network,
               {.memory_bytes = 8 * page_bytes,
                .platform = platform,
                .seed = 2 * seed + 1,
                .host = host,
                .actor = actor}) {
    connect();
  }

  // New ports on both; both must have power.
  void connect() {
    near = &client.start<Port>(client.nic(), client.region().bytes(), nullptr);
    far = &server.start<Port>(server.nic(), server.region().bytes(), &server.region());
    target = far->memory().remote(64);
    const fabric::ConnectOptions options{.timeout_ns = 200'000};
    EXPECT_TRUE(near->qp().connect(far->qp().address(), options).ok());
    EXPECT_TRUE(far->qp().connect(near->qp().address(), options).ok());
  }

  fabric::SendWork to_server(fabric::Opcode opcode, std::size_t size) {
    piece = near->memory().piece(0, size);
    return {.opcode = opcode, .pieces = std::span(&piece, 1), .remote = target};
  }
  fabric::SendWork flush_of(std::size_t size) const {
    return {.opcode = fabric::Opcode::flush,
            .remote = target,
            .flush_bytes = static_cast<std::uint32_t>(size)};
  }

  // Posts at the client and runs until it has completed.
  fabric::WorkStatus finish(const fabric::SendWork& work) {
    EXPECT_TRUE(near->qp().post_send(std::span(&work, 1)).ok());
    return next(near->sends()).status;
  }
  fabric::WorkCompletion next(fabric::CompletionQueue& queue) {
    fabric::WorkCompletion completion;
    while (queue.poll(std::span(&completion, 1)) == 0) {
      if (loop.step() != RunState::running) {
        ADD_FAILURE() << "no completion comes";
        return {.status = fabric::WorkStatus::general_error};
      }
    }
    return completion;
  }

  // The client's bytes to write are all `mark`; whether the server's memory has them.
  void mark(std::size_t size) { std::fill_n(client.region().data(), size, std::byte{0xab}); }
  bool server_has(std::size_t size) {
    const ConstBytes bytes = server.memory().visible().subspan(64, size);
    return std::all_of(bytes.begin(), bytes.end(),
                       [](std::byte byte) { return byte == std::byte{0xab}; });
  }

  VirtualLoop loop;
  fabric::nic::sim::SimNetwork network;
  Node client;
  Node server;
  Port* near = nullptr;
  Port* far = nullptr;  // gone when the server's power is cut
  fabric::RemoteAddress target;
  fabric::Sge piece;
};

}  // namespace remora::lab
