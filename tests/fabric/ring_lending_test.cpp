// Requests on the ring whose payload is lent: what comes of them when one side ends them, or takes
// its memory back, before the other has looked.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "fabric/nic/device/nic.h"
#include "fabric/nic/dma/plain_dma.h"
#include "fabric/nic/wire/ring/ring_wire.h"
#include "pmem/open_region.h"
#include "runtime/poll_loop.h"
#include "tests/fabric/temporary_folder.h"

namespace remora::fabric::contract {
namespace {

constexpr std::size_t lender_bytes = 1 << 20;
constexpr std::size_t message_bytes = 64 << 10;
constexpr std::uint64_t message_packets = 4;

// One device with memory that can be lent. Each has a loop of its own, so that one can stand still.
struct Lender {
  explicit Lender(const nic::ring::RingShape& shape) {
    wire = std::move(nic::ring::RingWire::create(loop, nullptr, {.shape = shape})).value();
    device = std::make_unique<nic::Nic>(loop, *wire, dma);
    domain = device->create_domain();
    region = domain->register_memory(memory->bytes(), every_access, memory.get()).value();
    queue = device->create_completion_queue(64).value();
    qp = domain->create_queue_pair({.send_queue = queue.get(), .receive_queue = queue.get()})
             .value();
    EXPECT_TRUE(qp->initialise().ok());
  }

  void fill(char with) { std::ranges::fill(memory->bytes(), static_cast<std::byte>(with)); }
  bool holds(std::size_t size_bytes, char what) const {
    return std::ranges::all_of(memory->bytes().first(size_bytes), [&](std::byte byte) {
      return byte == static_cast<std::byte>(what);
    });
  }
  // A request on the beginning of both memories.
  void post(Opcode opcode, std::size_t size_bytes, const RemoteAddress& remote) {
    const Sge piece = region->piece(0, size_bytes);
    const SendWork work{.opcode = opcode, .pieces = std::span(&piece, 1), .remote = remote};
    EXPECT_TRUE(qp->post_send(std::span(&work, 1)).ok());
  }

  PollLoop loop;
  nic::PlainDma dma;
  std::unique_ptr<Region> memory = make_dram(lender_bytes).value();
  std::unique_ptr<nic::ring::RingWire> wire;
  std::unique_ptr<nic::Nic> device;
  std::unique_ptr<ProtectionDomain> domain;
  std::unique_ptr<MemoryRegion> region;
  std::unique_ptr<CompletionQueue> queue;
  std::unique_ptr<QueuePair> qp;
};

class Lending : public testing::Test {
 protected:
  explicit Lending(const nic::ring::RingShape& shape = {}) : near_(shape), far_(shape) {}
  void SetUp() override { connect_with({}); }
  void connect_with(const ConnectOptions& options) {
    const std::string path = folder_.path() + "/s";
    ASSERT_TRUE(far_.wire->listen(path).ok());
    Result<nic::LinkId> link = Status(Code::timed_out, "not yet");
    bool is_linked = false;
    near_.loop.spawn(connect(near_, path, link, is_linked));
    ASSERT_TRUE(run_both([&] { return is_linked && far_.wire->links() == 1; }));
    ASSERT_TRUE(link.ok());
    ASSERT_TRUE(near_.qp->connect(far_.qp->address(), options).ok());
    ASSERT_TRUE(far_.qp->connect(near_.qp->address(), options).ok());
    ASSERT_TRUE(get_seen(near_, far_));
    ASSERT_TRUE(get_seen(far_, near_));
  }

  bool get_seen(Lender& lender, Lender& borrower) {
    const nic::LinkId link = lender.wire->link_to(borrower.wire->gid()).value();
    lender.wire->show_all(link);
    return run_both([&] { return lender.wire->has_seen_all(link); });
  }

  static Task<void> connect(Lender& lender, std::string path, Result<nic::LinkId>& link,
                            bool& done) {
    link = co_await lender.wire->connect(std::move(path));
    done = true;
  }

  bool run_both(const std::function<bool()>& holds) {
    const std::uint64_t end_ns = near_.loop.after(20'000'000'000);
    while (!holds()) {
      if (near_.loop.now_ns() > end_ns) {
        return false;
      }
      near_.loop.run_for(10'000);
      far_.loop.run_for(10'000);
    }
    return true;
  }
  // While the other stands still.
  static bool run_alone(Lender& one, const std::function<bool()>& holds) {
    const std::uint64_t end_ns = one.loop.after(20'000'000'000);
    while (!holds() && one.loop.now_ns() < end_ns) {
      one.loop.run_for(10'000);
    }
    return holds();
  }
  // Posted, and on its way as loans of so many packets.
  bool lend(Opcode opcode, std::size_t size_bytes, std::uint64_t packets) {
    Lender& lender = opcode == Opcode::read ? far_ : near_;
    const std::uint64_t before = lender.wire->packets_lent();
    near_.post(opcode, size_bytes, far_.region->remote(0));
    if (opcode == Opcode::read) {
      near_.loop.run_for(10'000);
    }
    return run_alone(lender, [&] { return lender.wire->packets_lent() == before + packets; });
  }
  void read_many(std::size_t size);
  WorkStatus finish() {
    WorkCompletion completion{.status = WorkStatus::general_error};
    EXPECT_TRUE(run_both([&] { return near_.queue->poll(std::span(&completion, 1)) != 0; }));
    return completion.status;
  }

  const TemporaryFolder folder_;
  Lender near_;
  Lender far_;
};

TEST_F(Lending, serves_writes_and_reads_of_one_packet_and_of_many) {
  for (const std::size_t size : {std::size_t{2048}, std::size_t{4096}, message_bytes}) {
    near_.fill('w');
    far_.fill('-');
    near_.post(Opcode::write, size, far_.region->remote(0));
    EXPECT_EQ(finish(), WorkStatus::success);
    EXPECT_TRUE(far_.holds(size, 'w'));
    EXPECT_EQ(far_.memory->bytes()[size], std::byte{'-'});
    far_.fill('r');
    near_.post(Opcode::read, size, far_.region->remote(0));
    EXPECT_EQ(finish(), WorkStatus::success);
    EXPECT_TRUE(near_.holds(size, 'r'));
    EXPECT_EQ(near_.memory->bytes()[size], std::byte{'w'});
  }
  EXPECT_EQ(near_.wire->packets_lent(), 6u);
  EXPECT_EQ(far_.wire->packets_lent(), 6u);
}

// The buffer is the program's again when its request has failed: the target may still execute the
// WRITE, but not with what the program has put there since.
TEST_F(Lending, a_write_that_was_given_up_never_brings_what_its_buffer_held_later) {
  near_.fill('w');
  ASSERT_TRUE(lend(Opcode::write, message_bytes, message_packets));
  near_.qp->fail();
  near_.fill('x');
  EXPECT_TRUE(run_alone(far_, [&] { return far_.holds(message_bytes, 'w'); }));
}

TEST_F(Lending, nor_does_one_whose_queue_pair_went) {
  near_.fill('w');
  ASSERT_TRUE(lend(Opcode::write, message_bytes, message_packets));
  near_.qp.reset();
  near_.fill('x');
  EXPECT_TRUE(run_alone(far_, [&] { return far_.holds(message_bytes, 'w'); }));
}

class ImpatientLending : public Lending {
 protected:
  void SetUp() override { connect_with({.timeout_ns = 1'000'000, .retry_count = 1}); }
};

// Whoever polls the completion may fill the buffer at once.
TEST_F(ImpatientLending, nor_does_one_whose_target_stood_still_for_too_long) {
  near_.fill('w');
  ASSERT_TRUE(lend(Opcode::write, message_bytes, message_packets));
  WorkCompletion completion{};
  const std::uint64_t end_ns = near_.loop.after(20'000'000'000);
  while (near_.queue->poll(std::span(&completion, 1)) == 0 && near_.loop.now_ns() < end_ns) {
    near_.loop.turn();
  }
  near_.fill('x');
  EXPECT_EQ(completion.status, WorkStatus::retry_exceeded);
  EXPECT_TRUE(run_alone(far_, [&] { return far_.holds(message_bytes, 'w'); }));
}

TEST_F(Lending, a_write_whose_memory_went_brings_what_was_posted) {
  near_.fill('w');
  ASSERT_TRUE(lend(Opcode::write, message_bytes, message_packets));
  near_.region.reset();
  near_.fill('x');
  EXPECT_TRUE(run_alone(far_, [&] { return far_.holds(message_bytes, 'w'); }));
}

// Memory that comes to lie where other memory lay is not taken for it.
TEST_F(Lending, other_memory_at_the_same_place_is_other_memory) {
  for (char round = 'a'; round < 'f'; ++round) {
    near_.fill(round);
    const std::uint64_t before = near_.wire->packets_lent();
    near_.post(Opcode::write, message_bytes, far_.region->remote(0));
    EXPECT_EQ(finish(), WorkStatus::success);
    EXPECT_EQ(near_.wire->packets_lent(), before + message_packets);
    EXPECT_TRUE(far_.holds(message_bytes, round)) << round;
    near_.region.reset();
    near_.memory.reset();
    near_.memory = make_dram(lender_bytes).value();
    near_.region =
        near_.domain->register_memory(near_.memory->bytes(), every_access, near_.memory.get())
            .value();
    ASSERT_TRUE(get_seen(near_, far_));
  }
}

// What a READ returns is never of a time after its target took the memory back.
TEST_F(Lending, a_read_returns_nothing_of_memory_after_it_was_taken_back) {
  far_.fill('r');
  ASSERT_TRUE(lend(Opcode::read, message_bytes, message_packets));
  far_.region.reset();
  far_.fill('x');
  EXPECT_EQ(finish(), WorkStatus::success);
  EXPECT_TRUE(near_.holds(message_bytes, 'r'));
}

TEST_F(Lending, a_read_returns_nothing_of_memory_after_its_queue_pair_ended_there) {
  far_.fill('r');
  ASSERT_TRUE(lend(Opcode::read, message_bytes, message_packets));
  far_.qp->fail();
  far_.fill('x');
  EXPECT_EQ(finish(), WorkStatus::success);
  EXPECT_TRUE(near_.holds(message_bytes, 'r'));
}

// O5: a READ is overtaken by later WRITEs alone in what it returns, and not by READs and atomics.
TEST_F(Lending, a_read_is_not_overtaken_by_an_atomic_behind_it) {
  far_.fill('\0');
  near_.post(Opcode::read, message_bytes, far_.region->remote(0));
  const Sge piece = near_.region->piece(message_bytes, word_bytes);
  const SendWork add{.opcode = Opcode::fetch_add,
                     .pieces = std::span(&piece, 1),
                     .remote = far_.region->remote(0),
                     .operand = 7};
  ASSERT_TRUE(near_.qp->post_send(std::span(&add, 1)).ok());
  near_.loop.run_for(10'000);
  ASSERT_TRUE(
      run_alone(far_, [&] { return load<std::uint64_t>(far_.memory->bytes().data()) == 7; }));
  EXPECT_EQ(finish(), WorkStatus::success);
  EXPECT_EQ(finish(), WorkStatus::success);
  EXPECT_TRUE(near_.holds(message_bytes, '\0'));
}

TEST_F(Lending, a_read_is_not_overtaken_by_a_smaller_one_behind_it) {
  far_.fill('r');
  near_.post(Opcode::read, message_bytes, far_.region->remote(0));
  const Sge piece = near_.region->piece(message_bytes, word_bytes);
  const SendWork small{
      .opcode = Opcode::read, .pieces = std::span(&piece, 1), .remote = far_.region->remote(0)};
  ASSERT_TRUE(near_.qp->post_send(std::span(&small, 1)).ok());
  near_.loop.run_for(10'000);
  ASSERT_TRUE(run_alone(far_, [&] { return far_.device->counters().packets_sent >= 5; }));
  far_.fill('x');  // both were answered before
  EXPECT_EQ(finish(), WorkStatus::success);
  EXPECT_EQ(finish(), WorkStatus::success);
  EXPECT_TRUE(near_.holds(message_bytes + word_bytes, 'r'));
}

// Of one packet each: more than may be lent at a time waits. Of several, the peer is behind.
TEST_F(Lending, many_reads_bring_what_was_there) {
  for (const std::size_t size : {std::size_t{16} << 10, message_bytes}) {
    read_many(size);
  }
}

void Lending::read_many(std::size_t size) {
  const std::size_t count = lender_bytes / size - 1;
  far_.fill('r');
  for (std::size_t i = 0; i < count; ++i) {
    const Sge piece = near_.region->piece(i * size, size);
    const SendWork read{.id = i,
                        .opcode = Opcode::read,
                        .pieces = std::span(&piece, 1),
                        .remote = far_.region->remote(i * size)};
    ASSERT_TRUE(near_.qp->post_send(std::span(&read, 1)).ok());
  }
  for (std::size_t i = 0; i < count; ++i) {
    EXPECT_EQ(finish(), WorkStatus::success);
  }
  EXPECT_TRUE(near_.holds(count * size, 'r'));
}

// What is longer than may be lent at all is copied, whatever was lent before it.
class LendingOfLongPackets : public Lending {
 protected:
  LendingOfLongPackets() : Lending({.ring_bytes = 64 << 10, .mtu_bytes = 20 << 10}) {}
};

TEST_F(LendingOfLongPackets, a_read_of_more_than_may_be_lent_comes_all_the_same) {
  far_.fill('r');
  for (const std::size_t size : {std::size_t{20} << 10, std::size_t{4} << 10, std::size_t{20} << 10,
                                 std::size_t{20} << 10}) {
    near_.fill('-');
    near_.post(Opcode::read, size, far_.region->remote(0));
    EXPECT_EQ(finish(), WorkStatus::success);
    EXPECT_TRUE(near_.holds(size, 'r'));
  }
  EXPECT_EQ(far_.wire->packets_lent(), 1u);
}

}  // namespace
}  // namespace remora::fabric::contract
