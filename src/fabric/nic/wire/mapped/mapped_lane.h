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
// Memory with relaxed_order is spared the fence before the last line.
//
// Large ones to page media are written by the file (mapped_pages.h), the last word by itself.
//
// FLUSH. To visibility there is nothing to do. To persistence, what the queue pair wrote in the
// range through caches, its own or by the wire the target's, is written back, and a fence waits for
// that and for what went past the caches. On page media the target has to commit: by the wire.
//
// Atomics are the CPU's own, on the same words as those of the target's device.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "fabric/nic/queue_pair/engine.h"
#include "fabric/nic/wire/mapped/mapped_initiator.h"

namespace remora::fabric::nic::mapped {

class MappedLane final : public Lane {
 public:
  MappedLane(MappedInitiator& owner, Connection& connection)
      : owner_(owner), connection_(connection) {}
  ~MappedLane() override;

  Ran run(std::span<const SendWork> works) override;
  bool run_one(const SendWork& work) override;
  void passed(const SendWork& work) override;
  bool lost() const override;

 private:
  friend class MappedInitiator;
  using Known = MappedInitiator::Known;

  // All that a small READ or WRITE between the same two regions as one before must know, side by
  // side. Holds while `changes` is that of the device's memory and the gate shows the grant.
  struct Quick {
    std::uint64_t keys = 0;  // remote, then local; 0 when there is none
    std::uint64_t changes = 0;
    const std::atomic<std::uint64_t>* gate = nullptr;
    std::uint64_t grant = 0;
    std::uint64_t remote_base = 0;
    std::uint64_t remote_bytes = 0;
    std::byte* at = nullptr;
    std::uint64_t local_base = 0;
    std::uint64_t local_bytes = 0;
    std::atomic<std::uint64_t>* epoch = nullptr;
    DirtyRanges* dirty = nullptr;
    Region* medium = nullptr;  // where whole lines can be stored past the caches, and flushed
    bool may_read = false;
    bool may_write = false;

    static std::uint64_t both(RemoteKey remote, LocalKey local) {
      return std::uint64_t{remote} << 32 | local;
    }
  };

  // A place in the target's memory that a request may use.
  struct Place {
    Known* known = nullptr;
    std::byte* at = nullptr;
  };

  bool execute(const SendWork& work, const SendWork* behind);
  bool execute_write(const SendWork& work, const SendWork* behind);
  bool execute_read(const SendWork& work);
  bool execute_seldom(const SendWork& work, const SendWork* behind);
  bool execute_gathered_write(const SendWork& work, const SendWork* behind);
  bool execute_scattered_read(const SendWork& work);
  bool execute_word(const SendWork& work);
  bool execute_flush(const SendWork& work);
  bool execute_flush_payload(const SendWork& work);
  bool flush_bytes_of(const SendWork& work);
  Place reach(const RemoteAddress& remote, std::uint64_t size_bytes, AccessFlags rights);
  bool is_fit(std::uint64_t size_bytes) const;
  Bytes scratch(std::size_t size_bytes);
  // `behind` is the request that was posted right behind the WRITE, if one was.
  void store(const Place& place, const RemoteAddress& at, ConstBytes from, const SendWork* behind);
  bool store_perhaps_past_caches(const Place& place, std::uint64_t at, ConstBytes from,
                                 bool is_flushed);
  static bool store_by_file(const Place& place, ConstBytes from);
  void store_past_caches(const Place& place, std::uint64_t at, ConstBytes from, bool is_line_last);
  void drain_streamed();
  bool store_in_any_order(const Place& place, std::uint64_t at, ConstBytes from, bool is_flushed);
  static bool is_small(const SendWork& work);
  std::byte* reach_quickly(const SendWork& work, const Sge& piece, bool is_read) const;
  void execute_small(const SendWork& work, const Sge& piece, std::byte* at, bool is_read);
  template <typename Move>
  bool move_if_open(Move move);
  bool run_one_small(const SendWork& work);
  bool run_one_large(const SendWork& work);
  bool run_persistent_line(const SendWork& write, const SendWork& flush);
  bool turn_to(const SendWork& work, const Sge& piece);
  void make_quick(const SendWork& work, const Sge& piece);
  void forget_short_ways() {
    quicks_ = {};
    windows_ = {};
  }
  void open_window(const SendWork& work, const Sge& piece);
  [[gnu::always_inline]] void complete(const SendWork& work, std::uint32_t size_bytes) {
    if (work.signalled) {
      connection_.send_completions->push({.id = work.id,
                                          .status = WorkStatus::success,
                                          .opcode = work.opcode,
                                          .size_bytes = size_bytes,
                                          .qp = connection_.number});
    }
  }
  Known* find(RemoteKey key) {
    return latest_ != nullptr && latest_->key == key ? latest_ : find_among_all(key);
  }
  Known* find_among_all(RemoteKey key);
  Known* find_or_ask(RemoteKey key);
  void pause_inside() {
    if (owner_.options_.inside) [[unlikely]] {
      owner_.options_.inside();
    }
  }

  std::array<Quick, 2> quicks_;  // a table and what it leads to are often READ in turn
  Quick* quick_ = &quicks_[0];   // the one that was used last; never null
  // Those of the latest READ and the latest WRITE that a window could have been for.
  std::array<std::uint64_t, 2> latest_keys_ = {};
  MappedInitiator& owner_;
  Connection& connection_;
  MappedInitiator::Link* link_ = nullptr;  // null when it went, or is none
  std::vector<Known> known_;
  Known* latest_ = nullptr;                 // in known_, which never moves
  const SendWork* streamed_for_ = nullptr;  // the FLUSH whose bytes are all past the caches
  // Where lines were stored past the caches that a FLUSH was to wait for. It does so when it is
  // executed; where it has to go by the wire, nothing may overtake them on the way.
  Region* streamed_ = nullptr;
  std::vector<std::byte> scratch_;  // where requests of several pieces are put together
};

}  // namespace remora::fabric::nic::mapped
