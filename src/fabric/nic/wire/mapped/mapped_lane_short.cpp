// The ways for requests that are like the ones before: as few instructions and stores as can be.
#include <algorithm>
#include <utility>

#include "fabric/nic/wire/mapped/mapped_lane.h"
#include "fabric/nic/wire/mapped/mapped_stores.h"
#include "fabric/nic/wire/mapped/process_fence.h"

namespace remora::fabric::nic::mapped {

// Where a request between the same regions as the last one goes, or null. Says nothing of the gate.
[[gnu::always_inline]] inline std::byte* MappedLane::reach_quickly(const SendWork& work,
                                                                   const Sge& piece,
                                                                   bool is_read) const {
  const std::uint64_t offset = work.remote.address - quick_->remote_base;
  const bool is_fine = quick_->keys == Quick::both(work.remote.key, piece.key) &&
                       quick_->changes == connection_.engine.memory.changes() &&
                       within(reinterpret_cast<std::uintptr_t>(piece.address) - quick_->local_base,
                              piece.size_bytes, quick_->local_bytes) &&
                       within(offset, piece.size_bytes, quick_->remote_bytes) &&
                       (is_read ? quick_->may_read : quick_->may_write);
  return is_fine ? quick_->at + offset : nullptr;
}

// Whether such a request needs no call to anything. Every store that a call costs takes a place in
// the store buffer, behind the store to the target's cold memory, and the buffer is what bounds how
// many such requests are under way at a time.
[[gnu::always_inline]] inline bool MappedLane::is_small(const SendWork& work) {
  return (work.opcode == Opcode::read || work.opcode == Opcode::write) && work.pieces.size() == 1 &&
         !work.inline_data && work.pieces[0].size_bytes - 1 < limits::by_word_bytes &&
         work.pieces[0].size_bytes % (2 * word_bytes) == 0;
}

// Moves the bytes, and reports it. In the epoch, with the gate open.
[[gnu::always_inline]] inline void MappedLane::execute_small(const SendWork& work, const Sge& piece,
                                                             std::byte* at, bool is_read) {
  if (is_read) {
    copy_out(piece.address, ConstBytes(at, piece.size_bytes));
  } else {
    copy_ascending(at, ConstBytes(piece.address, piece.size_bytes));
    quick_->dirty->add(work.remote.address, piece.size_bytes);
  }
  complete(work, is_read ? piece.size_bytes : 0);
}

Lane::Ran MappedLane::run(std::span<const SendWork> works) {
  if (link_ == nullptr || !link_->gate) [[unlikely]] {
    return {};
  }
  if (works.size() == 2 && run_persistent_line(works[0], works[1])) {
    return {2, false};
  }
  std::atomic<std::uint64_t>& epoch = link_->epoch->word(0);
  // Where FLUSHes follow, what they follow may go past the caches, and is better not in one.
  const bool are_flushed = works.size() > 1 && works[1].opcode == Opcode::flush;
  const std::size_t ahead = are_flushed ? works.size() : limits::requests_ahead;
  std::size_t executed = 0;
  bool goes_on = true;
  streamed_for_ = nullptr;
  while (goes_on && executed < works.size()) {
    const std::size_t upto = std::min(works.size(), executed + limits::requests_per_entry);
    const std::uint64_t inside = epoch.load(std::memory_order_relaxed) + 1;
    epoch.store(inside, std::memory_order_relaxed);
    light_fence();  // the target, who takes rights back, makes it a full one
    ++link_->entries;
    while (executed < upto) {
      if (executed + ahead < upto) {
        windows_.ask_for(works[executed + ahead]);
      }
      const SendWork* behind = executed + 1 < upto ? &works[executed + 1] : nullptr;
      const SendWork& work = works[executed];
      // A FLUSH behind may make another way the better one.
      const bool is_flushed = behind != nullptr && behind->opcode == Opcode::flush;
      if (!is_flushed && windows_.run_inside(work)) {
        ++executed;
        continue;
      }
      if (!is_flushed && is_small(work)) {
        const Sge& piece = work.pieces[0];
        const bool is_read = work.opcode == Opcode::read;
        std::byte* const at = reach_quickly(work, piece, is_read);
        if (at != nullptr && quick_->gate->load(std::memory_order_acquire) == quick_->grant)
            [[likely]] {
          execute_small(work, piece, at, is_read);
          if (piece.size_bytes == Window::size_bytes) {
            open_window(work, piece);
          }
          ++executed;
          continue;
        }
      }
      goes_on = execute(work, behind);
      if (!goes_on) {
        break;
      }
      ++executed;
    }
    drain_streamed();
    epoch.store(inside + 1, std::memory_order_release);
  }
  return {executed, false};
}

// Within the epoch, if the target still grants what reach_quickly said.
template <typename Move>
[[gnu::always_inline]] inline bool MappedLane::move_if_open(Move move) {
  std::atomic<std::uint64_t>& epoch = *quick_->epoch;
  const std::uint64_t inside = epoch.load(std::memory_order_relaxed) + 1;
  epoch.store(inside, std::memory_order_relaxed);
  light_fence();  // see run
  ++link_->entries;
  const bool is_open = quick_->gate->load(std::memory_order_acquire) == quick_->grant;
  if (is_open) [[likely]] {
    move();
  }
  epoch.store(inside + 1, std::memory_order_release);
  return is_open;
}

// Both are the last thing that it does: it needs no frame of its own.
bool MappedLane::run_one(const SendWork& work) {
  return is_small(work) ? run_one_small(work) : run_one_large(work);
}

[[gnu::noinline]] bool MappedLane::run_one_small(const SendWork& work) {
  const Sge& piece = work.pieces[0];
  if (piece.size_bytes == Window::size_bytes && windows_.run_any(work)) {
    return true;
  }
  const bool is_read = work.opcode == Opcode::read;
  std::byte* at = reach_quickly(work, piece, is_read);
  if (at == nullptr) [[unlikely]] {
    at = turn_to(work, piece) ? reach_quickly(work, piece, is_read) : nullptr;
    if (at == nullptr) {
      return false;
    }
  }
  if (!move_if_open([&] { execute_small(work, piece, at, is_read); })) {
    return false;
  }
  if (piece.size_bytes == Window::size_bytes) {
    open_window(work, piece);
  }
  return true;
}

// For requests like this one, which was executed. One that comes once leaves the window to those
// that come again.
[[gnu::noinline]] void MappedLane::open_window(const SendWork& work, const Sge& piece) {
  const bool is_read = work.opcode == Opcode::read;
  if (!Window::is_possible() ||
      std::exchange(latest_keys_[is_read ? 0 : 1], quick_->keys) != quick_->keys) {
    return;
  }
  // A WRITE elsewhere has to be remembered first.
  const DirtyRanges::Range whole = {quick_->remote_base,
                                    quick_->remote_base + quick_->remote_bytes};
  const DirtyRanges::Range part = is_read ? whole : quick_->dirty->latest();
  if (part.end - part.begin < Window::size_bytes || quick_->local_bytes < Window::size_bytes) {
    return;
  }
  const std::uint64_t shift = reinterpret_cast<std::uintptr_t>(quick_->at) - quick_->remote_base;
  const WorkCompletion completion = {.id = 0,
                                     .status = WorkStatus::success,
                                     .opcode = work.opcode,
                                     .size_bytes = is_read ? Window::size_bytes : 0,
                                     .qp = connection_.number};
  Window& window = is_read ? windows_.reads : windows_.writes;
  window = {.piece = Window::size_and_key(piece),
            .remote_key = work.remote.key,
            .shift = shift,
            .remote_base = part.begin + shift,
            .remote_last = part.end - part.begin - Window::size_bytes,
            .local_base = quick_->local_base,
            .local_last = quick_->local_bytes - Window::size_bytes,
            .gate = quick_->gate,
            .grant = quick_->grant,
            .epoch = quick_->epoch,
            .completions = connection_.send_completions,
            .is_wide = moves_lines(),
            .other_entries = &link_->entries,
            .completion = Completions::all_but_id(completion)};
}

// A WRITE of a whole line and a FLUSH of it. Nothing here loads what was just stored in a larger
// piece than it was stored: such a load waits until all stores before it have drained, and those of
// the request before take as long as all of this.
[[gnu::noinline]] bool MappedLane::run_persistent_line(const SendWork& write,
                                                       const SendWork& flush) {
  const bool is_pair =
      flush.opcode == Opcode::flush && write.opcode == Opcode::write && write.pieces.size() == 1 &&
      !write.inline_data && write.pieces[0].size_bytes == cache_line_bytes &&
      flush.flush_bytes == cache_line_bytes && flush.flush_select == FlushSelect::range &&
      flush.flush_placement == FlushPlacement::persistence && flush.pieces.empty() &&
      !flush.inline_data && flush.remote.address == write.remote.address &&
      flush.remote.key == write.remote.key;
  if (!is_pair) {
    return false;
  }
  const Sge& piece = write.pieces[0];
  std::byte* at = reach_quickly(write, piece, false);
  if (at == nullptr && turn_to(write, piece)) [[unlikely]] {
    at = reach_quickly(write, piece, false);
  }
  if (at == nullptr || quick_->medium == nullptr || !is_aligned(at, cache_line_bytes)) {
    return false;
  }
  return move_if_open([&] {
    quick_->medium->copy_line(at, piece.address);
    (void)quick_->medium->drain();
    complete(write, 0);
    complete(flush, 0);
  });
}

// A READ of more, which is worth a call, and no more than that.
[[gnu::noinline]] bool MappedLane::run_one_large(const SendWork& work) {
  if (work.opcode != Opcode::read || work.pieces.size() != 1 || work.inline_data ||
      !is_fit(work.pieces[0].size_bytes)) {
    return false;
  }
  const Sge& piece = work.pieces[0];
  std::byte* at = reach_quickly(work, piece, true);
  if (at == nullptr) [[unlikely]] {
    at = turn_to(work, piece) ? reach_quickly(work, piece, true) : nullptr;
    if (at == nullptr) {
      return false;
    }
  }
  return move_if_open([&] {
    racy_copy_words(Bytes(piece.address, piece.size_bytes), ConstBytes(at, piece.size_bytes));
    complete(work, piece.size_bytes);
  });
}

// To what is known of these two regions, where that is in the other place. Where it is not, it is
// put there for the next time: this request takes the other way.
[[gnu::noinline]] bool MappedLane::turn_to(const SendWork& work, const Sge& piece) {
  const std::uint64_t keys = Quick::both(work.remote.key, piece.key);
  const std::uint64_t changes = connection_.engine.memory.changes();
  if (quick_->keys == keys && quick_->changes == changes) {
    return false;  // it is known, and not allowed
  }
  quick_ = &quicks_[quick_ == &quicks_[0] ? 1 : 0];
  if (quick_->keys == keys && quick_->changes == changes) {
    return true;
  }
  make_quick(work, piece);
  return false;
}

[[gnu::noinline, gnu::cold]] void MappedLane::make_quick(const SendWork& work, const Sge& piece) {
  *quick_ = {};
  Known* known = find(work.remote.key);
  const RegisteredMemory* local = connection_.engine.memory.find(connection_.domain, piece.key);
  if (link_ == nullptr || !link_->gate || known == nullptr ||
      known->state != Known::State::granted || local == nullptr || local->translation != nullptr ||
      owner_.options_.inside) {
    return;
  }
  Region* const medium = known->mapping->medium;
  const bool streams = known->medium == static_cast<std::uint8_t>(Granularity::cache_line) &&
                       (known->rights & flush_persistence) != 0 && medium != nullptr &&
                       medium->copies_lines();
  *quick_ = {.keys = Quick::both(work.remote.key, piece.key),
             .changes = connection_.engine.memory.changes(),
             .gate = &link_->gate->word(known->slot),
             .grant = known->grant,
             .remote_base = known->base,
             .remote_bytes = known->mapping->bytes.size(),
             .at = known->mapping->bytes.data(),
             .local_base = reinterpret_cast<std::uintptr_t>(local->bytes.data()),
             .local_bytes = local->bytes.size(),
             .epoch = &link_->epoch->word(0),
             .dirty = &known->dirty,
             .medium = streams ? medium : nullptr,
             .may_read = (known->rights & remote_read) != 0 && (local->access & local_write) != 0,
             .may_write = (known->rights & remote_write) != 0};
}

}  // namespace remora::fabric::nic::mapped
