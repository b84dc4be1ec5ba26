// CrashDma: the Dma of the crash world. What it is told to write into the crash memory waits
// inbound, in the order of its queue pair, and becomes visible at seeded times or when the crash
// model says at the latest (lab/memory/crash_memory.h). All other addresses are DRAM: plain copies,
// which follow what the queue pair wrote before.
//
// A READ takes time where the delays say so: some of its lines are taken when it comes, the others
// when it is answered, by chance; so it sees what changes meanwhile in any order.
//
// Watches are told of every placement. One thread, the loop's; nothing blocks.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "base/random.h"
#include "fabric/nic/dma.h"
#include "lab/memory/crash_memory.h"
#include "runtime/runtime.h"
#include "runtime/timer.h"

namespace remora::lab {

struct PlacementDelays {
  // Between two steps, of which each places some of what waits, by chance.
  std::uint64_t shortest_ns = 100;
  std::uint64_t longest_ns = 5'000;
  // How long a READ may take at most; 0: none takes any time.
  std::uint64_t longest_read_ns = 0;
};

class CrashDma final : public fabric::nic::Dma {
 public:
  // Runtime and memory outlive this.
  CrashDma(Runtime& runtime, CrashMemory& memory, Random random,
           const PlacementDelays& delays = {});

  // From here on a FLUSH is the work of a CPU, as on the wires of one host: it writes back the
  // lines of its range, whoever stored to them, and not only what the queue pair wrote.
  void flush_by_cpu() { by_cpu_ = true; }

  // The power is gone: from now on nothing changes the memory, whatever is asked.
  void power_off();

  // Whether a request of several steps may rest between two of them, so that the power can be cut
  // there.
  void rest_between_steps(bool rests) { rests_ = rests; }

  void write(QpNumber qp, std::byte* to, ConstBytes from) override;
  bool ready_to_read(QpNumber qp, const std::byte* from, std::size_t size_bytes) override;
  void read(QpNumber qp, Bytes to, const std::byte* from) override;
  std::uint64_t compare_swap(QpNumber qp, std::byte* word, std::uint64_t compare,
                             std::uint64_t swap) override;
  std::uint64_t fetch_add(QpNumber qp, std::byte* word, std::uint64_t summand) override;
  void atomic_write(QpNumber qp, std::byte* word, std::uint64_t value) override;
  void place_all(QpNumber qp) override;
  Ticket flush(QpNumber qp, ConstBytes range, fabric::FlushPlacement placement,
               Region* persistence) override;
  bool go_past_caches(ConstBytes range) override;
  void go_by_caches(ConstBytes range) override;
  bool ready_to_go_on(QpNumber qp) override;
  void acknowledged(QpNumber qp) override;
  void drop(QpNumber qp) override;

 private:
  class Step final : public Timer {
   public:
    explicit Step(CrashDma& dma) : dma_(dma) {}
    void expire() override { dma_.place_some(); }

   private:
    CrashDma& dma_;
  };

  // A READ whose lines are being taken. An event of the loop, so that the NIC asks again.
  class SlowRead final : public Timer {
   public:
    void expire() override {}
    bool is(const std::byte* at, std::size_t size_bytes) const {
      return from == at && bytes.size() == size_bytes;
    }

    const std::byte* from = nullptr;
    std::uint64_t due_ns = 0;
    std::vector<std::byte> bytes;  // as they were when the READ came
  };

  // A rest between two steps: an event of the loop, so that the NIC asks again.
  class Rest final : public Timer {
   public:
    void expire() override {}
    std::uint64_t due_ns = 0;
  };

  bool is_persistent(const std::byte* at) const;
  void take(QpNumber qp, Bytes to, const std::byte* from);
  std::uint64_t offset_of(const std::byte* at) const;
  void store_word(QpNumber qp, std::byte* word, std::uint64_t value);
  void place_some();
  void arm_step();
  void tell_watches() { runtime_.placed(memory_.visible()); }

  Runtime& runtime_;
  CrashMemory& memory_;
  Random random_;
  const PlacementDelays delays_;
  std::map<QpNumber, std::uint64_t> posted_;  // the number of the newest write of each queue pair
  std::map<QpNumber, SlowRead> reads_;        // one of each queue pair: they are answered in order
  std::map<QpNumber, Rest> rests_of_;
  bool rests_ = true;
  bool powered_ = true;
  bool by_cpu_ = false;
  Step step_{*this};
};

}  // namespace remora::lab
