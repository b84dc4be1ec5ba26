// MappedLane: the short way of one queue pair: requests as loads and stores on the target's memory.
//
// WRITE. Small ones are plain stores, in ascending order; they stay in the caches, and their ranges
// are remembered. Large ones go past the caches, all but the last line: then comes a fence, and the
// last line as plain stores. So the last word is the last to appear (P4), and later stores, on
// whatever way, come after all of it (O1, P2).
//
// A WRITE with a FLUSH to persistence right behind it goes past the caches whatever its size, where
// the processor can store a whole line at once: the last line then needs no cache, nor a
// write-back.
//
// FLUSH. To visibility there is nothing to do. To persistence, what the queue pair wrote in the
// range through caches, its own or by the wire the target's, is written back, and a fence waits for
// that and for what went past the caches. On page media the target has to commit: by the wire.
//
// Atomics are the CPU's own, on the same words as those of the target's device.
#pragma once

#include <cstdint>
#include <vector>

#include "fabric/nic/core/engine.h"
#include "fabric/nic/wire/mapped/mapped_initiator.h"

namespace remora::fabric::nic {

class MappedLane final : public Lane {
 public:
  MappedLane(MappedInitiator& owner, Connection& connection)
      : owner_(owner), connection_(connection) {}
  ~MappedLane() override;

  Ran run(std::span<const SendWork> works) override;
  void passed(const SendWork& work) override;

 private:
  friend class MappedInitiator;
  using Known = MappedInitiator::Known;

  // A place in the target's memory that a request may use.
  struct Place {
    Known* known = nullptr;
    std::byte* at = nullptr;
  };

  bool execute(const SendWork& work, const SendWork* behind);
  bool execute_write(const SendWork& work, const SendWork* behind);
  bool execute_read(const SendWork& work);
  bool execute_word(const SendWork& work);
  bool execute_flush(const SendWork& work);
  Place reach(const RemoteAddress& remote, std::uint64_t size_bytes, AccessFlags rights);
  bool is_fit(const SendWork& work, std::uint64_t size_bytes) const;
  Bytes scratch(std::size_t size_bytes);
  bool may_use(std::span<const Sge> pieces, AccessFlags rights) const;
  void store_past_caches(Known& known, std::byte* to, ConstBytes from, bool line_last);
  void store(Known& known, std::byte* to, ConstBytes from, bool line_last);
  void complete(const SendWork& work, std::uint32_t size_bytes);
  Known* find(RemoteKey key);
  Known* find_or_ask(RemoteKey key);
  void pause_inside() {
    if (owner_.options_.inside) [[unlikely]] {
      owner_.options_.inside();
    }
  }

  MappedInitiator& owner_;
  Connection& connection_;
  MappedInitiator::Link* link_ = nullptr;  // null when it went, or is none
  std::vector<Known> known_;
  std::size_t latest_ = 0;          // in known_
  std::vector<std::byte> scratch_;  // where requests of several pieces are put together
};

}  // namespace remora::fabric::nic
