// Party: one process of a test of the mapped wire: a device, memory that others may map, one queue
// pair; and Child: another process that plays the other part.
#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "fabric/nic/device/nic.h"
#include "fabric/nic/dma/plain_dma.h"
#include "fabric/nic/wire/joined/mapped_wire.h"
#include "runtime/poll_loop.h"

namespace remora::fabric::contract {

inline constexpr std::size_t party_bytes = 64 * 1024;
inline constexpr AccessFlags party_access = every_access;

struct Introduction {
  QueuePairAddress address;
  RemoteAddress memory;
};

class Party {
 public:
  // With memory of its own unless it is given some.
  explicit Party(nic::joined::MappedWireOptions options = {}, AccessFlags access = party_access,
                 std::unique_ptr<Region> memory = nullptr);

  Introduction introduction() const { return {qp->address(), region->remote(0)}; }
  bool connect(const Introduction& peer);

  bool run_until(const std::function<bool()>& holds);
  // Until requests to the peer's memory are short-cut.
  bool await_mapping();
  // A request on the same place of both memories.
  SendWork request(Opcode opcode, std::size_t offset, std::size_t size);
  WorkStatus run(const SendWork& work);
  WorkStatus run(Opcode opcode, std::size_t offset, std::size_t size) {
    return run(request(opcode, offset, size));
  }
  std::byte* at(std::size_t offset) { return region->bytes().data() + offset; }
  std::uint64_t short_cut() const { return device->counters().requests_short_cut; }

  PollLoop loop;
  nic::PlainDma dma;
  std::unique_ptr<nic::joined::MappedWire> wire;
  std::unique_ptr<nic::Nic> device;
  std::unique_ptr<Region> memory;
  std::unique_ptr<ProtectionDomain> domain;
  std::unique_ptr<MemoryRegion> region;
  std::unique_ptr<CompletionQueue> queue;
  std::unique_ptr<QueuePair> qp;
  Introduction peer;

 private:
  Sge piece_;
};

// A process that runs `role` and ends with what it returns. It is killed, if need be, and waited
// for when this goes.
class Child {
 public:
  struct Talk {
    int in;
    int out;

    template <typename T>
    bool put(const T& what) const {
      return put_bytes(&what, sizeof what);
    }
    template <typename T>
    std::optional<T> get() const {
      T what{};
      return get_bytes(&what, sizeof what) ? std::optional<T>(what) : std::nullopt;
    }
    bool put_bytes(const void* from, std::size_t size) const;
    bool get_bytes(void* to, std::size_t size) const;
  };

  explicit Child(const std::function<int(const Talk&)>& role);
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child();

  const Talk& talk() const { return talk_; }
  pid_t pid() const { return pid_; }
  void signal(int number) const;
  // Until it is stopped by a signal.
  bool await_stop() const;
  // Until it has ended: its status as waitpid has it.
  int await_end();

 private:
  pid_t pid_ = -1;
  bool ended_ = false;
  Talk talk_{-1, -1};
};

}  // namespace remora::fabric::contract
