// Contender: somebody who brings bytes to the memory of another process and fetches them back: a
// wire of ours, a peer, or an ideal. All of them walk over memory of the same size in the same
// manner, from a source that stays where it is.
//
// One thread. run() spins until its operations are complete, with a bound.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "base/bytes.h"
#include "base/result.h"
#include "bench/walk.h"

namespace remora::bench {

enum class Verb : std::uint8_t { write, read };

inline constexpr std::size_t target_bytes = std::size_t{64} << 20;
inline constexpr std::size_t most_operation_bytes = 64 << 10;
inline constexpr std::size_t most_depth = 32;
// Room for the local side of every operation in flight.
inline constexpr std::size_t local_bytes = most_operation_bytes * most_depth;

// What is performed again and again.
struct Shape {
  Verb verb = Verb::write;
  std::size_t size_bytes = 64;  // a power of two, up to most_operation_bytes
  std::size_t depth = 1;        // operations in flight, up to most_depth
  bool persistent = false;      // a WRITE is followed by a FLUSH, and complete after that
  bool chained = false;         // at depth 1: where the next goes is told by what this one read
};

// Zero, which the compiler cannot know: what it is multiplied with has to be there first.
inline std::size_t hidden_zero() {
  std::size_t zero = 0;
  asm volatile("" : "+r"(zero));
  return zero;
}

class Contender {
 public:
  virtual ~Contender() = default;

  // For people: "ring", "libfabric shm".
  virtual std::string name() const = 0;
  // The process on the other core that must run while this one initiates.
  virtual pid_t process() const = 0;
  // Whether that process need not run after all: this one works on its memory alone. Its target is
  // then held while it is measured, as proof, and so that it takes nothing from this core.
  virtual bool is_one_sided() const { return false; }
  // Performs that many operations and returns when they are complete: the bytes of a write are in
  // the target's memory, the bytes of a read in this process.
  virtual Status run(const Shape& shape, std::uint64_t operations) = 0;

  // The local side: operation i of a run uses the bytes from (i % depth) * size_bytes on.
  virtual Bytes local() = 0;
  // The target's memory as this process sees it, if it does.
  virtual Bytes view() { return {}; }

  // Begins the walk anew: the next operation goes where the first one went.
  void restart() { walked_bytes_ = 0; }

 protected:
  // Where in the target's memory the next operation goes.
  std::size_t next_offset(std::size_t size_bytes) { return walk(size_bytes).next() * size_bytes; }
  // The walk itself, for who takes many steps.
  Walk& walk(std::size_t size_bytes) {
    if (size_bytes != walked_bytes_) {
      walk_ = Walk(target_bytes / size_bytes);
      walked_bytes_ = size_bytes;
    }
    return walk_;
  }

 private:
  std::size_t walked_bytes_ = 0;
  Walk walk_ = Walk(1);
};

// Writes a pattern and reads it back, and looks at the target's memory where it can be seen: a
// contender that moves no bytes is not measured.
Status check_transfer(Contender& contender);

// Bounds a loop that spins until another process has answered.
class Patience {
 public:
  explicit Patience(const char* waited_for) : waited_for_(waited_for) {}
  // Call it when there was nothing. Fails after some seconds of that.
  Status spin() { return ++spins_ % spins_per_look == 0 ? look() : Status(); }

 private:
  static constexpr std::uint64_t spins_per_look = 1 << 16;
  Status look();

  const char* waited_for_;
  std::uint64_t spins_ = 0;
  std::uint64_t since_ns_ = 0;
};

}  // namespace remora::bench
