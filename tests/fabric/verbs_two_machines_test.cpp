// RDMA devices of two machines, far and near: the bytes of every size arrive on the other machine,
// whose CPU looks at them, a trespass is told to both, and a peer that is gone is noticed. Each
// side is told where far listens:
//   far:   REMORA_VERBS_LISTEN=10.77.0.2:7471 fabric_verbs_contract_test
//   --gtest_filter=TwoMachines.* near:  REMORA_VERBS_PEER=10.77.0.2:7471 fabric_verbs_contract_test
//   --gtest_filter=TwoMachines.*
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <cstdlib>
#include <optional>

#include "fabric/verbs/connection_manager.h"
#include "fabric/verbs/verbs_device.h"
#include "runtime/poll_loop.h"
#include "tests/fabric/pair.h"

namespace remora::fabric::contract {
namespace {

using verbs::CmCall;
using verbs::CmWord;

constexpr std::size_t memory_bytes = 2 << 20;
constexpr std::size_t reply_offset = memory_bytes - 64;
constexpr std::uint64_t machine_patience_ns = 180'000'000'000;
constexpr std::uint32_t last_step = 0xffff;
constexpr std::size_t sizes[] = {1,    7,    8,    63,   64,     65,       1023,
                                 1024, 1025, 4096, 4097, 65'536, 1'000'003};

bool await(const std::function<bool()>& holds) {
  PollLoop clock;
  const std::uint64_t end_ns = clock.after(machine_patience_ns);
  while (!holds()) {
    if (clock.now_ns() > end_ns) {
      return false;
    }
    sched_yield();
  }
  return true;
}

std::optional<sockaddr_in> address_from(const char* variable) {
  const char* text = std::getenv(variable);
  const std::string all = text == nullptr ? "" : text;
  const std::size_t colon = all.find(':');
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  if (colon == all.npos ||
      inet_pton(AF_INET, all.substr(0, colon).c_str(), &address.sin_addr) != 1) {
    return std::nullopt;
  }
  address.sin_port = htons(static_cast<std::uint16_t>(std::stoi(all.substr(colon + 1))));
  return address;
}

// One side: a device, memory, and a queue pair with its receives posted.
struct Machine {
  explicit Machine(const std::string& device_name) : memory(memory_bytes) {
    device = std::move(verbs::VerbsDevice::open({.device = device_name})).value();
    domain = device->create_domain();
    region = std::move(domain->register_memory(memory, every_access & ~flush_persistence)).value();
    queue = std::move(device->create_completion_queue(256)).value();
    qp = std::move(
             domain->create_queue_pair({.send_queue = queue.get(), .receive_queue = queue.get()}))
             .value();
    EXPECT_TRUE(qp->initialise().ok());
    const Sge nothing = region->piece(reply_offset, 8);
    for (std::uint64_t i = 0; i < 100; ++i) {
      const ReceiveWork receive{.id = 1000 + i, .pieces = std::span(&nothing, 1)};
      EXPECT_TRUE(qp->post_receive(std::span(&receive, 1)).ok());
    }
  }
  CmWord word() const {
    CmWord word{.address = qp->address()};
    store(word.message.data(), region->remote(0).address);
    store(word.message.data() + 8, region->remote_key());
    return word;
  }
  static RemoteAddress memory_of(const CmWord& word) {
    return {load<std::uint64_t>(word.message.data()), load<std::uint32_t>(word.message.data() + 8)};
  }
  // The next completion, or one that says that none came.
  WorkCompletion next() {
    WorkCompletion completion{.status = WorkStatus::general_error};
    (void)await([&] { return queue->poll(std::span(&completion, 1)) == 1; });
    return completion;
  }
  // Posts, and the status of its completion; receives that come before it are kept.
  WorkStatus run(const SendWork& work) {
    const Status status = qp->post_send(std::span(&work, 1));
    EXPECT_TRUE(status.ok()) << status.message();
    WorkCompletion completion = next();
    while (completion.id >= 1000) {
      received.push_back(completion);
      completion = next();
    }
    return completion.status;
  }
  WorkCompletion receive() {
    if (!received.empty()) {
      const WorkCompletion first = received.front();
      received.erase(received.begin());
      return first;
    }
    return next();
  }
  WorkStatus tell(std::uint32_t step) {
    return run({.id = 1, .opcode = Opcode::send_imm, .immediate = step});
  }

  std::vector<std::byte> memory;
  std::unique_ptr<verbs::VerbsDevice> device;
  std::unique_ptr<ProtectionDomain> domain;
  std::unique_ptr<MemoryRegion> region;
  std::unique_ptr<CompletionQueue> queue;
  std::unique_ptr<QueuePair> qp;
  std::vector<WorkCompletion> received;
};

std::unique_ptr<Machine> called(verbs::CmListener& listener,
                                std::unique_ptr<verbs::CmRequest>& request) {
  if (!await([&] { return (request = listener.next()) != nullptr; })) {
    ADD_FAILURE() << "nobody calls";
    return nullptr;
  }
  auto machine = std::make_unique<Machine>(request->device());
  EXPECT_TRUE(machine->qp->connect(request->caller().address, {}).ok());
  EXPECT_TRUE(request->accept(machine->word()).ok());
  return machine;
}

std::unique_ptr<Machine> calling(const sockaddr_in& where, std::unique_ptr<CmCall>& call) {
  call = std::move(CmCall::start(reinterpret_cast<const sockaddr*>(&where))).value();
  Status failure;
  const auto reached = [&](CmCall::State wanted) {
    return await([&] {
             const Result<CmCall::State> state = call->progress();
             failure = state.status();
             return !state.ok() || *state == wanted;
           }) &&
           failure.ok();
  };
  if (!reached(CmCall::State::resolved)) {
    ADD_FAILURE() << failure.message();
    return nullptr;
  }
  auto machine = std::make_unique<Machine>(call->device());
  EXPECT_TRUE(call->ask(machine->word()).ok());
  if (!reached(CmCall::State::answered)) {
    ADD_FAILURE() << failure.message();
    return nullptr;
  }
  EXPECT_TRUE(machine->qp->connect(call->answer().address, {}).ok());
  EXPECT_TRUE(call->establish().ok());
  return machine;
}

TEST(TwoMachines, far_sees_what_near_wrote_and_refuses_what_it_may_not) {
  const std::optional<sockaddr_in> where = address_from("REMORA_VERBS_LISTEN");
  if (!where) {
    GTEST_SKIP() << "one side of two; see the head of " << __FILE__;
  }
  auto listener =
      std::move(verbs::CmListener::listen(reinterpret_cast<const sockaddr*>(&*where))).value();
  std::unique_ptr<verbs::CmRequest> request;
  std::unique_ptr<Machine> far = called(*listener, request);
  ASSERT_NE(far, nullptr);
  for (WorkCompletion told = far->receive(); told.immediate != last_step; told = far->receive()) {
    ASSERT_EQ(told.status, WorkStatus::success);
    ASSERT_LT(told.immediate, std::size(sizes));
    const std::size_t size = sizes[told.immediate];
    const std::vector<std::byte> bytes = Pair::pattern(size, told.immediate);
    const bool same = std::equal(bytes.begin(), bytes.end(), far->memory.begin() + 3);
    EXPECT_TRUE(same) << size << " bytes";
    EXPECT_EQ(far->tell(same ? 1 : 0), WorkStatus::success);
  }
  EXPECT_EQ(load<std::uint64_t>(far->memory.data() + (1 << 20) + 4096), 4950u + 7u);

  far = called(*listener, request);
  ASSERT_NE(far, nullptr);
  EXPECT_TRUE(await([&] { return far->qp->state() == QpState::error; }));

  far = called(*listener, request);
  ASSERT_NE(far, nullptr);
  EXPECT_EQ(far->receive().status, WorkStatus::success);
  far.reset();  // without a word
}

void check_bytes(Machine& near, const RemoteAddress& there) {
  for (std::uint32_t step = 0; step < std::size(sizes); ++step) {
    const std::size_t size = sizes[step];
    const std::vector<std::byte> bytes = Pair::pattern(size, step);
    std::ranges::copy(bytes, near.memory.begin() + 1);
    Sge piece = near.region->piece(1, size);
    SendWork work{.id = 1, .opcode = Opcode::write, .pieces = std::span(&piece, 1)};
    work.remote = {there.address + 3, there.key};
    ASSERT_EQ(near.run(work), WorkStatus::success) << size;
    ASSERT_EQ(near.tell(step), WorkStatus::success);
    EXPECT_EQ(near.receive().immediate, 1u) << size << " bytes are not there as they were sent";
    std::ranges::fill(std::span(near.memory).first(size + 1), std::byte{0});
    work.opcode = Opcode::read;
    ASSERT_EQ(near.run(work), WorkStatus::success) << size;
    EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), near.memory.begin() + 1)) << size;
  }
}

void check_words(Machine& near, const RemoteAddress& there) {
  Sge piece = near.region->piece(0, word_bytes);
  SendWork work{.id = 1, .opcode = Opcode::atomic_write, .operand = 0};
  work.remote = {there.address + (1 << 20) + 4096, there.key};
  EXPECT_EQ(near.run(work), WorkStatus::success);
  work.pieces = std::span(&piece, 1);
  work.opcode = Opcode::fetch_add;
  for (std::uint64_t i = 0, sum = 0; i < 100; sum += i++) {
    work.operand = i;
    ASSERT_EQ(near.run(work), WorkStatus::success);
    EXPECT_EQ(load<std::uint64_t>(near.memory.data()), sum);
  }
  work.opcode = Opcode::compare_swap;
  work.compare = 4950;
  work.operand = 4957;
  EXPECT_EQ(near.run(work), WorkStatus::success);
  EXPECT_EQ(load<std::uint64_t>(near.memory.data()), 4950u);
  SendWork flush{.id = 1, .opcode = Opcode::flush, .remote = work.remote, .flush_bytes = 8};
  flush.flush_placement = FlushPlacement::visibility;
  EXPECT_EQ(near.run(flush), WorkStatus::success);
}

TEST(TwoMachines, near_finds_its_bytes_again_is_refused_and_notices_that_far_is_gone) {
  const std::optional<sockaddr_in> where = address_from("REMORA_VERBS_PEER");
  if (!where) {
    GTEST_SKIP() << "one side of two; see the head of " << __FILE__;
  }
  std::unique_ptr<CmCall> call;
  std::unique_ptr<Machine> near = calling(*where, call);
  ASSERT_NE(near, nullptr);
  const RemoteAddress there = Machine::memory_of(call->answer());
  check_bytes(*near, there);
  check_words(*near, there);
  EXPECT_EQ(near->tell(last_step), WorkStatus::success);

  near = calling(*where, call);
  ASSERT_NE(near, nullptr);
  Sge piece = near->region->piece(0, 64);
  SendWork write{.id = 1, .opcode = Opcode::write, .pieces = std::span(&piece, 1)};
  write.remote = Machine::memory_of(call->answer());
  write.remote.key ^= 0x5a5a;
  EXPECT_EQ(near->run(write), WorkStatus::remote_access_error);
  EXPECT_EQ(near->qp->state(), QpState::error);

  near = calling(*where, call);
  ASSERT_NE(near, nullptr);
  EXPECT_EQ(near->tell(1), WorkStatus::success);
  write.remote = Machine::memory_of(call->answer());
  piece = near->region->piece(0, 64);
  WorkStatus status = WorkStatus::success;
  EXPECT_TRUE(await([&] { return (status = near->run(write)) != WorkStatus::success; }));
  EXPECT_TRUE(status == WorkStatus::retry_exceeded || status == WorkStatus::remote_access_error)
      << to_string(status);
}

}  // namespace
}  // namespace remora::fabric::contract
