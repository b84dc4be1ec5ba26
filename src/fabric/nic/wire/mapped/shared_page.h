// SharedPages: a few pages of memory that two processes have: one that makes and writes them, and
// one that is handed them. They have no name, keep their size, and are not inherited by children.
//
//   gate   words of the target: word i is the number of the grant that has slot i, or 0
//   epoch  one word of the initiator: odd while it is in the middle of operations
//
// Whoever is handed them can read them and can never map them writable: they are sealed. So what
// the initiator counts by its epoch is its own.
//
// One thread. Making one and adopting one call the system.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/bytes.h"
#include "base/result.h"
#include "fabric/nic/wire/descriptor.h"
#include "fabric/nic/wire/mapped/mapped_limits.h"

namespace remora::fabric::nic::mapped {

class SharedPages {
 public:
  static constexpr std::size_t gate_bytes = limits::grants * sizeof(std::uint64_t);
  static constexpr std::size_t epoch_bytes = page_bytes;

  // Makes pages that are all zero. Nobody who gets the descriptor can map them writable.
  static Result<SharedPages> create(std::size_t size_bytes);
  // Maps what a peer made, for reading, unless it has another size or could be cut short.
  static Result<SharedPages> adopt(Descriptor memory, std::size_t size_bytes);

  SharedPages(SharedPages&& other) noexcept
      : memory_(std::move(other.memory_)), bytes_(std::exchange(other.bytes_, {})) {}
  SharedPages& operator=(SharedPages&&) = delete;
  ~SharedPages();

  // For the peer; of pages that were made here.
  int descriptor() const { return memory_.number(); }

  std::atomic<std::uint64_t>& word(std::size_t index) {
    return reinterpret_cast<std::atomic<std::uint64_t>*>(bytes_.data())[index];
  }
  const std::atomic<std::uint64_t>& word(std::size_t index) const {
    return reinterpret_cast<const std::atomic<std::uint64_t>*>(bytes_.data())[index];
  }

 private:
  SharedPages(Descriptor memory, Bytes bytes) : memory_(std::move(memory)), bytes_(bytes) {}

  Descriptor memory_;
  Bytes bytes_;
};
static_assert(sizeof(std::atomic<std::uint64_t>) == sizeof(std::uint64_t) &&
              std::atomic<std::uint64_t>::is_always_lock_free);

}  // namespace remora::fabric::nic::mapped
