// Pair: two connected queue pairs and their memory, with verbs that tests speak in. Offsets are in
// bytes from the start of near's memory or of far's persistent memory.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "fabric/message_log.h"
#include "tests/fabric/world.h"

namespace remora::fabric::contract {

inline constexpr std::size_t near_bytes = 256 * 1024;
inline constexpr std::size_t buffer_bytes = 256 * 1024;

inline bool same(ConstBytes some, ConstBytes others) {
  return some.size() == others.size() &&
         (some.empty() || std::memcmp(some.data(), others.data(), some.size()) == 0);
}

// One side. Its members are destroyed from the last to the first, as the contract asks.
struct End {
  Device* device = nullptr;
  std::unique_ptr<Region> dram;
  std::unique_ptr<ProtectionDomain> domain;
  std::unique_ptr<SharedReceives> shared;  // where the pair's options ask for it
  std::unique_ptr<AddressHandle> peer;     // of datagrams
  std::unique_ptr<MemoryRegion> memory;    // near: DRAM; far: the persistent memory
  std::unique_ptr<MemoryRegion> buffers;   // far: where receives land; DRAM
  std::unique_ptr<CompletionQueue> send_queue;
  std::unique_ptr<CompletionQueue> receive_queue;
  std::unique_ptr<MessageLog> log;  // far: where the pair's options ask for it
  std::unique_ptr<QueuePair> qp;
  std::vector<WorkCompletion> sends;     // polled so far
  std::vector<WorkCompletion> receives;  // polled so far

  void poll();
};

struct PairOptions {
  std::optional<ConnectOptions> near = {};  // the world's unless given
  std::optional<ConnectOptions> far = {};
  AccessFlags far_access = every_access;  // of far's memory region
  std::uint32_t max_sends = 128;
  std::uint32_t max_pieces = QueuePairOptions().max_pieces;
  Transport transport = Transport::rc;
  bool shares = false;  // far's receives are shared
  bool told_when_persistent = false;
  std::optional<MessageLogOptions> log = {};  // where far's messages go, in its memory
};

// The key of both sides' queue pairs for datagrams.
inline constexpr QueueKey pair_key = 0x1234'5678;

class Pair {
 public:
  explicit Pair(World& world, const PairOptions& options = {});

  World& world() { return world_; }
  bool connected() const { return connected_; }

  std::byte* near_at(std::size_t offset) { return near.memory->bytes().data() + offset; }
  // Far's memory and its buffers, as they are now.
  ConstBytes far_now(std::size_t offset, std::size_t size) {
    return world_.look(far.memory->bytes().subspan(offset, size));
  }
  ConstBytes far_now() { return world_.look(far.memory->bytes()); }
  std::uint64_t far_word(std::size_t offset) {
    return load<std::uint64_t>(far_now(offset, word_bytes).data());
  }
  ConstBytes buffer_now(std::size_t offset, std::size_t size) {
    return world_.look(far.buffers->bytes().subspan(offset, size));
  }
  // By far's own hand.
  void fill(Bytes far_memory, std::byte with);
  // Bytes that depend on the number, for near's memory.
  void fill_near(std::size_t offset, std::size_t size, std::uint64_t number);
  static std::vector<std::byte> pattern(std::size_t size, std::uint64_t number);
  bool far_holds(std::size_t offset, const std::vector<std::byte>& bytes) {
    return same(bytes, far_now(offset, bytes.size()));
  }
  bool buffer_holds(std::size_t offset, const std::vector<std::byte>& bytes) {
    return same(bytes, buffer_now(offset, bytes.size()));
  }

  // Requests to far. `from` and `into` are offsets of near's memory.
  SendWork write(std::uint64_t id, std::size_t from, std::size_t to, std::size_t size);
  SendWork read(std::uint64_t id, std::size_t into, std::size_t from, std::size_t size);
  SendWork send(std::uint64_t id, std::size_t from, std::size_t size);
  SendWork fetch_add(std::uint64_t id, std::size_t into, std::size_t word, std::uint64_t summand);
  SendWork compare_swap(std::uint64_t id, std::size_t into, std::size_t word, std::uint64_t compare,
                        std::uint64_t value);
  SendWork atomic_write(std::uint64_t id, std::size_t word, std::uint64_t value);
  SendWork flush(std::uint64_t id, std::size_t offset, std::size_t size,
                 FlushPlacement placement = FlushPlacement::persistence);

  // Of datagrams: a SEND to far's queue pair.
  SendWork datagram(std::uint64_t id, std::size_t from, std::size_t size);
  // Either, as the pair's transport has it.
  SendWork message(std::uint64_t id, std::size_t from, std::size_t size) {
    return near.peer == nullptr ? send(id, from, size) : datagram(id, from, size);
  }

  // Posts at near; the queue must have room.
  void post(const SendWork& work) { post(*near.qp, work); }
  static void post(QueuePair& qp, const SendWork& work);
  // Whether near's queue pair does not take it at all.
  bool is_refused(const SendWork& work);
  // A second connection, between new queue pairs with the same completion queues as the first, and
  // far's with the same shared receives.
  struct Another {
    std::unique_ptr<QueuePair> near;
    std::unique_ptr<QueuePair> far;
  };
  Another another();
  // Posts a receive at far, into its buffers.
  void post_receive(std::uint64_t id, std::size_t offset, std::size_t size);

  // Runs until it holds, and for a moment at most: whether it does. What is unreliable is tried
  // again then.
  bool holds_soon(const std::function<bool()>& holds);
  // Posts what `make` gives, with a new id every time, until this holds.
  bool try_until(const std::function<SendWork(std::uint64_t id)>& make,
                 const std::function<bool()>& holds);
  // Runs until near has polled so many completions of sends in all (far: of receives). A failure of
  // the test when they do not come.
  void wait_sends(std::size_t count);
  void wait_receives(std::size_t count);
  // Posts and waits for its completion.
  WorkCompletion finish(const SendWork& work);
  WorkStatus status_of(const SendWork& work) { return finish(work).status; }

  End near;
  End far;

 private:
  SendWork work(std::uint64_t id, Opcode opcode, std::size_t near_offset, std::size_t size);
  bool connect(QueuePair& at_near, QueuePair& at_far);
  void poll() {
    near.poll();
    far.poll();
  }

  const PairOptions options_;
  World& world_;
  bool connected_ = false;
  std::vector<std::unique_ptr<Sge>> pieces_;  // of the requests made here
};

// The completions, as the ids and statuses that they bring.
std::vector<std::uint64_t> ids_of(const std::vector<WorkCompletion>& completions);
bool all_succeeded(const std::vector<WorkCompletion>& completions);

}  // namespace remora::fabric::contract
