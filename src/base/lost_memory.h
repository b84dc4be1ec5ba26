// Memory of a file that a process has mapped can be lost while it is used: somebody cuts the file
// short, the disk is full under a hole, persistent memory has an error. SIGBUS then ends the
// process that touches it, without a word.
//
// Where the process wants that (catch_lost_memory), ranges that are watched are lost in another
// way: the access goes on with zeros, which nobody else sees, from there to the end of the range,
// and the range says from then on that it is lost. So code that reads watched memory asks, between
// reading and telling somebody, whether it is. SIGBUS elsewhere is what it was before.
//
// Any thread. A fault is told by the thread that makes it, in the middle of whatever it does.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

#include "base/bytes.h"
#include "base/result.h"

namespace remora {

// Handles SIGBUS from here on. A signal belongs to the program: libraries do not call this by
// themselves. Several calls are as one.
Status catch_lost_memory();

namespace lost_memory {
inline std::atomic<std::uint32_t> losses = 0;
}

// Whether any range ever was lost in this process: cheap, and no as a rule. What was read before
// this call came from memory that was there, if it says no.
inline bool any_memory_lost() {
  std::atomic_signal_fence(std::memory_order_seq_cst);  // reads stay before it
  return lost_memory::losses.load(std::memory_order_acquire) != 0;
}

// Whether this address is in a range that is watched and lost.
bool is_memory_lost(const void* at);

// What to tell of it.
Status lost_memory_failure();

class WatchedMemory {
 public:
  WatchedMemory() = default;
  // Watches the range, of whole pages, until this goes, which is before it is unmapped. There is
  // room for some hundred ranges; one more is not watched.
  explicit WatchedMemory(ConstBytes range);
  WatchedMemory(WatchedMemory&& other) noexcept : slot_(std::exchange(other.slot_, none)) {}
  WatchedMemory& operator=(WatchedMemory&&) = delete;
  ~WatchedMemory();

  // The range is this from here on; it begins where it began, and holds all of what it was.
  void extend(ConstBytes range) const;

  bool lost() const { return any_memory_lost() && was_lost(); }
  // Called where the loss is learnt by other means.
  void lose() const;

 private:
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  bool was_lost() const;

  std::uint32_t slot_ = none;
};

}  // namespace remora
