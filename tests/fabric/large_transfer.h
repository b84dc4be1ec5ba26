// Transfers of many packets, compared byte by byte.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "tests/fabric/pair.h"
#include "tests/fabric/world.h"

namespace remora::fabric::contract {

// One end with much memory.
struct LargeEnd {
  static constexpr std::size_t memory_bytes = 9 << 20;

  explicit LargeEnd(Device& device)
      : memory(memory_bytes),
        domain(device.create_domain()),
        region(domain->register_memory(memory, every_access & ~flush_persistence).value()),
        queue(device.create_completion_queue(64).value()),
        qp(domain->create_queue_pair({.send_queue = queue.get(), .receive_queue = queue.get()})
               .value()) {
    EXPECT_TRUE(qp->initialise().ok());
  }

  std::vector<std::byte> memory;
  std::unique_ptr<ProtectionDomain> domain;
  std::unique_ptr<MemoryRegion> region;
  std::unique_ptr<CompletionQueue> queue;
  std::unique_ptr<QueuePair> qp;
};

class LargeTransfer {
 public:
  LargeTransfer(World& world, const ConnectOptions& options)
      : world_(world), near_(world.near()), far_(world.far()) {
    EXPECT_TRUE(near_.qp->connect(far_.qp->address(), options).ok());
    EXPECT_TRUE(far_.qp->connect(near_.qp->address(), options).ok());
  }

  void run(Opcode opcode, std::size_t size, std::uint64_t number) {
    const std::vector<std::byte> bytes = Pair::pattern(size, number);
    const bool is_read = opcode == Opcode::read;
    std::ranges::copy(bytes, (is_read ? far_ : near_).memory.begin() + offset);
    const Sge piece = near_.region->piece(offset, size);
    const SendWork work{.id = number,
                        .opcode = opcode,
                        .pieces = std::span(&piece, 1),
                        .remote = far_.region->remote(offset)};
    ASSERT_TRUE(near_.qp->post_send(std::span(&work, 1)).ok());
    WorkCompletion completion;
    ASSERT_TRUE(
        world_.run_until([&] { return near_.queue->poll(std::span(&completion, 1)) == 1; }));
    EXPECT_EQ(completion.status, WorkStatus::success);
    const std::vector<std::byte>& reached = (is_read ? near_ : far_).memory;
    EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), reached.begin() + offset)) << size;
    EXPECT_EQ(reached[offset + size], std::byte{0});
    EXPECT_EQ(reached[offset - 1], std::byte{0});
  }

  static constexpr std::size_t offset = 4095;

 private:
  World& world_;
  LargeEnd near_;
  LargeEnd far_;
};

// WRITEs and READs of several sizes up to this one, each on queue pairs of its own.
inline void transfer_all(World& world, std::size_t largest, const ConnectOptions& options) {
  std::uint64_t number = 1;
  for (const std::size_t size : {std::size_t{65'537}, std::size_t{1} << 20, largest}) {
    for (const Opcode opcode : {Opcode::write, Opcode::read}) {
      LargeTransfer(world, options).run(opcode, size, ++number);
    }
  }
}

}  // namespace remora::fabric::contract
