#include "tests/fabric/pair.h"

#include <algorithm>
#include <cstring>

#include "base/random.h"
#include "pmem/open_region.h"

namespace remora::fabric::contract {

namespace {

template <typename T>
std::unique_ptr<T> made(Result<std::unique_ptr<T>> result) {
  EXPECT_TRUE(result.ok()) << result.status().message();
  return result.ok() ? std::move(result).value() : nullptr;
}

std::unique_ptr<QueuePair> make_queue_pair(End& end, const PairOptions& options) {
  auto qp =
      made(end.domain->create_queue_pair({.send_queue = end.send_queue.get(),
                                          .receive_queue = end.receive_queue.get(),
                                          .max_sends = options.max_sends,
                                          .max_pieces = options.max_pieces,
                                          .transport = options.transport,
                                          .queue_key = pair_key,
                                          .shared_receives = end.shared.get(),
                                          .log = end.log.get(),
                                          .told_when_persistent = options.told_when_persistent}));
  EXPECT_TRUE(qp->initialise().ok());
  return qp;
}

void make_end(End& end, Device& device, Bytes memory, AccessFlags access, Region* region,
              bool shares, const PairOptions& options) {
  end.device = &device;
  end.domain = device.create_domain();
  end.memory = made(end.domain->register_memory(memory, access, region));
  end.buffers =
      made(end.domain->register_memory(end.dram->bytes().first(buffer_bytes), local_write));
  end.send_queue = made(device.create_completion_queue(1024));
  end.receive_queue = made(device.create_completion_queue(1024));
  if (shares) {
    end.shared = made(end.domain->create_shared_receives({}));
  }
  if (options.log && region != nullptr &&
      access != (every_access & ~AccessFlags{flush_persistence})) {
    end.log = std::make_unique<MessageLog>(*end.memory, *options.log);
  }
  end.qp = make_queue_pair(end, options);
}

void drain(CompletionQueue& queue, std::vector<WorkCompletion>& into) {
  WorkCompletion polled[16];
  while (const std::size_t count = queue.poll(polled)) {
    into.insert(into.end(), polled, polled + count);
  }
}

}  // namespace

void End::poll() {
  drain(*send_queue, sends);
  drain(*receive_queue, receives);
}

Pair::Pair(World& world, const PairOptions& options) : options_(options), world_(world) {
  near.dram = made(make_dram(buffer_bytes + near_bytes));
  far.dram = made(make_dram(buffer_bytes));
  make_end(near, world.near(), near.dram->bytes().subspan(buffer_bytes),
           every_access & ~AccessFlags{flush_persistence},
           world.lends() ? near.dram.get() : nullptr, false, options);
  make_end(far, world.far(), world.far_region().bytes(), options.far_access, &world.far_region(),
           options.shares, options);
  connected_ = connect(*near.qp, *far.qp);
  if (connected_ && options.transport == Transport::rc) {
    world.connected(*near.qp, far.memory->remote(0));
  }
  if (options.transport == Transport::ud) {
    near.peer = made(near.domain->create_address_handle(world.far().attributes().gid));
    far.peer = made(far.domain->create_address_handle(world.near().attributes().gid));
  }
}

bool Pair::connect(QueuePair& at_near, QueuePair& at_far) {
  const QueuePairAddress near_address = at_near.address();
  const QueuePairAddress far_address = at_far.address();
  return at_near.connect(far_address, options_.near.value_or(world_.connect_options())).ok() &&
         at_far.connect(near_address, options_.far.value_or(world_.connect_options())).ok();
}

Pair::Another Pair::another() {
  Another made = {make_queue_pair(near, options_), make_queue_pair(far, options_)};
  EXPECT_TRUE(connect(*made.near, *made.far));
  return made;
}

std::vector<std::byte> Pair::pattern(std::size_t size, std::uint64_t number) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) {
    bytes[i] = static_cast<std::byte>(mix(number * 1'000'003 + i / 8) >> (8 * (i % 8)));
  }
  return bytes;
}

void Pair::fill_near(std::size_t offset, std::size_t size, std::uint64_t number) {
  const std::vector<std::byte> bytes = pattern(size, number);
  std::memcpy(near_at(offset), bytes.data(), size);
}

void Pair::fill(Bytes far_memory, std::byte with) {
  std::memset(far_memory.data(), static_cast<int>(with), far_memory.size());
  world_.changed(far_memory);
}

SendWork Pair::work(std::uint64_t id, Opcode opcode, std::size_t near_offset, std::size_t size) {
  pieces_.push_back(std::make_unique<Sge>(near.memory->piece(near_offset, size)));
  return {.id = id, .opcode = opcode, .pieces = std::span<const Sge>(pieces_.back().get(), 1)};
}

SendWork Pair::write(std::uint64_t id, std::size_t from, std::size_t to, std::size_t size) {
  SendWork made = work(id, Opcode::write, from, size);
  made.remote = far.memory->remote(to);
  return made;
}

SendWork Pair::read(std::uint64_t id, std::size_t into, std::size_t from, std::size_t size) {
  SendWork made = work(id, Opcode::read, into, size);
  made.remote = far.memory->remote(from);
  return made;
}

SendWork Pair::send(std::uint64_t id, std::size_t from, std::size_t size) {
  return work(id, Opcode::send, from, size);
}

SendWork Pair::datagram(std::uint64_t id, std::size_t from, std::size_t size) {
  SendWork made = send(id, from, size);
  made.remote = near.peer->to(far.qp->number(), pair_key);
  return made;
}

SendWork Pair::fetch_add(std::uint64_t id, std::size_t into, std::size_t word,
                         std::uint64_t summand) {
  SendWork made = work(id, Opcode::fetch_add, into, word_bytes);
  made.remote = far.memory->remote(word);
  made.operand = summand;
  return made;
}

SendWork Pair::compare_swap(std::uint64_t id, std::size_t into, std::size_t word,
                            std::uint64_t compare, std::uint64_t value) {
  SendWork made = work(id, Opcode::compare_swap, into, word_bytes);
  made.remote = far.memory->remote(word);
  made.compare = compare;
  made.operand = value;
  return made;
}

SendWork Pair::atomic_write(std::uint64_t id, std::size_t word, std::uint64_t value) {
  return {.id = id,
          .opcode = Opcode::atomic_write,
          .remote = far.memory->remote(word),
          .operand = value};
}

SendWork Pair::flush(std::uint64_t id, std::size_t offset, std::size_t size,
                     FlushPlacement placement) {
  return {.id = id,
          .opcode = Opcode::flush,
          .remote = far.memory->remote(offset),
          .flush_bytes = static_cast<std::uint32_t>(size),
          .flush_placement = placement};
}

void Pair::post(QueuePair& qp, const SendWork& made) {
  const Status status = qp.post_send(std::span(&made, 1));
  EXPECT_TRUE(status.ok()) << status.message();
}

bool Pair::is_refused(const SendWork& made) {
  return near.qp->post_send(std::span(&made, 1)).code() == Code::invalid_argument;
}

void Pair::post_receive(std::uint64_t id, std::size_t offset, std::size_t size) {
  const Sge piece = far.buffers->piece(offset, size);
  const ReceiveWork receive{.id = id, .pieces = std::span(&piece, 1)};
  const Status status = far.shared != nullptr ? far.shared->post_receive(std::span(&receive, 1))
                                              : far.qp->post_receive(std::span(&receive, 1));
  EXPECT_TRUE(status.ok()) << status.message();
}

bool Pair::holds_soon(const std::function<bool()>& holds) {
  // A loop that has nothing else to do sleeps until then.
  class Bell final : public Timer {
    void expire() override {}
  } bell;
  const std::uint64_t end_ns = world_.runtime().now_ns() + 2'000'000;
  world_.runtime().arm(bell, end_ns + 1);
  bool held = false;
  (void)world_.run_until([&] {
    poll();
    held = holds();
    return held || world_.runtime().now_ns() > end_ns;
  });
  return held;
}

bool Pair::try_until(const std::function<SendWork(std::uint64_t id)>& make,
                     const std::function<bool()>& holds) {
  constexpr std::uint64_t tries = 10'000;
  for (std::uint64_t id = 1'000; id < 1'000 + tries; ++id) {
    const std::size_t before = near.sends.size();
    post(make(id));
    wait_sends(before + 1);
    if (holds_soon(holds)) {
      return true;
    }
  }
  return false;
}

void Pair::wait_sends(std::size_t count) {
  EXPECT_TRUE(world_.run_until([&] {
    poll();
    return near.sends.size() >= count;
  })) << "only "
      << near.sends.size() << " of " << count << " completions of sends came";
}

void Pair::wait_receives(std::size_t count) {
  EXPECT_TRUE(world_.run_until([&] {
    poll();
    return far.receives.size() >= count;
  })) << "only "
      << far.receives.size() << " of " << count << " completions of receives came";
}

WorkCompletion Pair::finish(const SendWork& made) {
  poll();
  const std::size_t before = near.sends.size();
  post(made);
  wait_sends(before + 1);
  return near.sends.size() > before ? near.sends[before]
                                    : WorkCompletion{.status = WorkStatus::general_error};
}

std::vector<std::uint64_t> ids_of(const std::vector<WorkCompletion>& completions) {
  std::vector<std::uint64_t> ids;
  for (const WorkCompletion& completion : completions) {
    ids.push_back(completion.id);
  }
  return ids;
}

bool all_succeeded(const std::vector<WorkCompletion>& completions) {
  return std::all_of(completions.begin(), completions.end(), [](const WorkCompletion& completion) {
    return completion.status == WorkStatus::success;
  });
}

}  // namespace remora::fabric::contract
