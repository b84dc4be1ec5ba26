// F3 on the ring, with a peer that is a process of its own and is killed.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "base/bytes.h"
#include "fabric/nic/device/nic.h"
#include "fabric/nic/dma/plain_dma.h"
#include "fabric/nic/wire/ring/ring_wire.h"
#include "runtime/poll_loop.h"
#include "tests/fabric/temporary_folder.h"

namespace remora::fabric::contract {
namespace {

constexpr std::size_t memory_bytes = 64 * 1024;

// What one process has: a device on a wire of its own, memory, and one queue pair.
struct Process {
  Process() {
    wire = std::move(nic::ring::RingWire::create(loop, nullptr)).value();
    device = std::make_unique<nic::Nic>(loop, *wire, dma);
    domain = device->create_domain();
    region = domain->register_memory(memory, local_write | remote_write | remote_read).value();
    queue = device->create_completion_queue(64).value();
    qp = domain->create_queue_pair({.send_queue = queue.get(), .receive_queue = queue.get()})
             .value();
    (void)qp->initialise();
  }

  PollLoop loop;
  nic::PlainDma dma;
  std::unique_ptr<nic::ring::RingWire> wire;
  std::unique_ptr<nic::Nic> device;
  std::vector<std::byte> memory = std::vector<std::byte>(memory_bytes);
  std::unique_ptr<ProtectionDomain> domain;
  std::unique_ptr<MemoryRegion> region;
  std::unique_ptr<CompletionQueue> queue;
  std::unique_ptr<QueuePair> qp;
};

struct Introduction {
  QueuePairAddress address;
  RemoteAddress memory;
};

template <typename T>
bool put(int pipe_end, const T& what) {
  return write(pipe_end, &what, sizeof what) == static_cast<ssize_t>(sizeof what);
}

template <typename T>
T get(int pipe_end) {
  T what{};
  EXPECT_EQ(read(pipe_end, &what, sizeof what), static_cast<ssize_t>(sizeof what));
  return what;
}

// The peer: connects, then serves until it is killed.
[[noreturn]] void serve(const std::string& path, int in, int out) {
  Process process;
  const bool linked = process.loop.block_on(process.wire->connect(path)).ok();
  const auto parent = get<Introduction>(in);
  const bool connected = process.qp->connect(parent.address, {}).ok();
  const Introduction self{process.qp->address(), process.region->remote(0)};
  if (!linked || !connected || !put(out, self)) {
    _exit(1);
  }
  while (true) {
    process.loop.turn();
  }
}

WorkStatus next_status(Process& process) {
  WorkCompletion completion;
  const std::uint64_t end_ns = process.loop.after(20'000'000'000);
  while (process.queue->poll(std::span(&completion, 1)) == 0) {
    if (process.loop.now_ns() > end_ns) {
      ADD_FAILURE() << "no completion came";
      return WorkStatus::general_error;
    }
    process.loop.turn();
  }
  return completion.status;
}

TEST(F3_on_the_ring, a_killed_process_ends_what_is_outstanding) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/ring.sock";
  int to_child[2];
  int from_child[2];
  ASSERT_EQ(pipe(to_child), 0);
  ASSERT_EQ(pipe(from_child), 0);
  Process process;
  ASSERT_TRUE(process.wire->listen(path).ok());
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    serve(path, to_child[0], from_child[1]);
  }
  ASSERT_TRUE(put(to_child[1], Introduction{process.qp->address(), {}}));
  while (process.wire->links() == 0) {
    process.loop.turn();
  }
  const auto peer = get<Introduction>(from_child[0]);
  ASSERT_TRUE(process.qp->connect(peer.address, {}).ok());

  const Sge piece = process.region->piece(0, memory_bytes);
  const SendWork work{
      .opcode = Opcode::write, .pieces = std::span(&piece, 1), .remote = peer.memory};
  ASSERT_TRUE(process.qp->post_send(std::span(&work, 1)).ok());
  EXPECT_EQ(next_status(process), WorkStatus::success);

  ASSERT_EQ(kill(child, SIGSTOP), 0);  // so that something is outstanding when it dies
  ASSERT_TRUE(process.qp->post_send(std::span(&work, 1)).ok());
  ASSERT_TRUE(process.qp->post_send(std::span(&work, 1)).ok());
  ASSERT_EQ(kill(child, SIGKILL), 0);
  EXPECT_EQ(waitpid(child, nullptr, 0), child);
  EXPECT_EQ(next_status(process), WorkStatus::retry_exceeded);
  EXPECT_EQ(next_status(process), WorkStatus::flushed);
  EXPECT_EQ(process.qp->state(), QpState::error);
  for (const int end : {to_child[0], to_child[1], from_child[0], from_child[1]}) {
    close(end);
  }
}

}  // namespace
}  // namespace remora::fabric::contract
