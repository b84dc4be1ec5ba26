// Requests on the ring whose payload is lent: what comes of them when one side ends them, or takes
// its memory back, before the other has looked.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "fabric/nic/core/nic.h"
#include "fabric/nic/core/plain_dma.h"
#include "fabric/nic/wire/ring/ring_wire.h"
#include "pmem/open_region.h"
#include "runtime/poll_loop.h"
#include "tests/fabric/party.h"
#include "tests/fabric/temporary_folder.h"

namespace remora::fabric::contract {
namespace {

constexpr std::size_t lender_bytes = 1 << 20;
constexpr std::size_t message_bytes = 64 << 10;

// One device with memory that can be lent. Each has a loop of its own, so that one can stand still.
struct Lender {
  Lender() {
    wire = std::move(nic::RingWire::create(loop, nullptr)).value();
    device = std::make_unique<nic::Nic>(loop, *wire, dma);
    domain = device->create_domain();
    region = domain->register_memory(memory->bytes(), every_access, memory.get()).value();
    queue = device->create_completion_queue(64).value();
    qp = domain->create_queue_pair({.send_queue = queue.get(), .receive_queue = queue.get()})
             .value();
    EXPECT_TRUE(qp->initialise().ok());
  }
  Introduction introduction() const { return {qp->address(), region->remote(0)}; }

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
  std::unique_ptr<nic::RingWire> wire;
  std::unique_ptr<nic::Nic> device;
  std::unique_ptr<ProtectionDomain> domain;
  std::unique_ptr<MemoryRegion> region;
  std::unique_ptr<CompletionQueue> queue;
  std::unique_ptr<QueuePair> qp;
};

class Lending : public testing::Test {
 protected:
  void SetUp() override {
    const std::string path = folder_.path() + "/s";
    ASSERT_TRUE(far_.wire->listen(path).ok());
    Result<nic::LinkId> link = Status(Code::timed_out, "not yet");
    bool is_linked = false;
    near_.loop.spawn(connect(near_, path, link, is_linked));
    ASSERT_TRUE(run_both([&] { return is_linked && far_.wire->links() == 1; }));
    ASSERT_TRUE(link.ok());
    ASSERT_TRUE(near_.qp->connect(far_.qp->address(), {}).ok());
    ASSERT_TRUE(far_.qp->connect(near_.qp->address(), {}).ok());
    near_.wire->show_all(*link);
    const nic::LinkId back = far_.wire->link_to(near_.wire->gid()).value();
    far_.wire->show_all(back);
    ASSERT_TRUE(
        run_both([&] { return near_.wire->has_seen_all(*link) && far_.wire->has_seen_all(back); }));
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
  static void turn(Lender& one) { one.loop.run_for(5'000'000); }
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
  near_.post(Opcode::write, message_bytes, far_.region->remote(0));
  turn(near_);  // it is on its way, and the target stands still
  near_.qp->fail();
  near_.fill('x');
  turn(far_);
  EXPECT_TRUE(far_.holds(message_bytes, 'w'));
}

TEST_F(Lending, nor_does_one_whose_queue_pair_went) {
  near_.fill('w');
  near_.post(Opcode::write, message_bytes, far_.region->remote(0));
  turn(near_);
  near_.qp.reset();
  near_.fill('x');
  turn(far_);
  EXPECT_TRUE(far_.holds(message_bytes, 'w'));
}

TEST_F(Lending, a_write_whose_memory_went_brings_what_was_posted) {
  near_.fill('w');
  near_.post(Opcode::write, message_bytes, far_.region->remote(0));
  turn(near_);
  near_.region.reset();
  near_.fill('x');
  turn(far_);
  EXPECT_TRUE(far_.holds(message_bytes, 'w'));
}

// Memory that comes to lie where other memory lay is not taken for it.
TEST_F(Lending, other_memory_at_the_same_place_is_other_memory) {
  for (char round = 'a'; round < 'f'; ++round) {
    near_.fill(round);
    near_.post(Opcode::write, message_bytes, far_.region->remote(0));
    EXPECT_EQ(finish(), WorkStatus::success);
    EXPECT_TRUE(far_.holds(message_bytes, round)) << round;
    near_.region.reset();
    near_.memory.reset();
    near_.memory = make_dram(lender_bytes).value();
    near_.region =
        near_.domain->register_memory(near_.memory->bytes(), every_access, near_.memory.get())
            .value();
    near_.wire->show_all(near_.wire->link_to(far_.wire->gid()).value());
    turn(far_);
    turn(near_);
  }
  EXPECT_GT(near_.wire->packets_lent(), 16u);
}

// What a READ returns is never of a time after its target took the memory back.
TEST_F(Lending, a_read_returns_nothing_of_memory_after_it_was_taken_back) {
  far_.fill('r');
  near_.post(Opcode::read, message_bytes, far_.region->remote(0));
  turn(near_);
  turn(far_);  // it has answered, and the initiator has not looked yet
  far_.region.reset();
  far_.fill('x');
  EXPECT_EQ(finish(), WorkStatus::success);
  EXPECT_TRUE(near_.holds(message_bytes, 'r'));
}

TEST_F(Lending, a_read_returns_nothing_of_memory_after_its_queue_pair_ended_there) {
  far_.fill('r');
  near_.post(Opcode::read, message_bytes, far_.region->remote(0));
  turn(near_);
  turn(far_);
  far_.qp->fail();
  far_.fill('x');
  EXPECT_EQ(finish(), WorkStatus::success);
  EXPECT_TRUE(near_.holds(message_bytes, 'r'));
}

}  // namespace
}  // namespace remora::fabric::contract
