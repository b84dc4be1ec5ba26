// Window: the shortest of the short ways. A program that waits for each of its requests posts the
// same one again and again: one opcode, one size, one piece of the same region, somewhere in the
// same memory of the peer's. A lane that has executed such a request writes down here what all of
// them have in common, and the queue pair executes the next ones itself.
//
// What counts is how few instructions and stores one request takes, from post to poll. The
// processor has some hundred instructions under way at a time, and some dozen stores; the fewer of
// them a request needs, the more requests to cold memory wait side by side, though each is complete
// before the next one is posted.
//
// All that is asked of a request is asked here too. Whatever does not match goes to the lane.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/bytes.h"
#include "fabric/nic/completions.h"
#include "fabric/nic/dma/ascending_copy.h"
#include "fabric/nic/work_shape.h"
#include "fabric/work.h"

#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
#include <emmintrin.h>
#define REMORA_HAS_WINDOWS 1
#endif

namespace remora::fabric::nic {

struct Window {
  // Windows are for requests of one cache line; a WRITE is of an aligned one.
  static constexpr std::uint32_t size_bytes = cache_line_bytes;

  static std::uint64_t size_and_key(const Sge& piece) {
    static_assert(offsetof(Sge, size_bytes) == 8 && offsetof(Sge, key) == 12);
    std::uint64_t both;
    std::memcpy(&both, reinterpret_cast<const std::byte*>(&piece) + 8, sizeof both);
    return both;
  }

#ifdef REMORA_HAS_WINDOWS
  // Executes the request, a signalled one of the window's opcode, and reports it; or leaves all as
  // it was. Where moves_lines(). Its line is asked for before anything else, and looked at behind
  // everything else: what is between takes no room from the requests that come after it.
  template <bool is_read>
  [[gnu::always_inline]] bool run(const SendWork& work) const {
    std::byte* const place = place_of(work);
    if constexpr (is_read) {
      __builtin_prefetch(place);
    }
    if (!matches<is_read>(work, place) || !completions->is_idle()) [[unlikely]] {
      return false;
    }
    // Looked at once: the compiler takes it that a copy may have changed them.
    Completions& queue = *completions;
    std::byte* const local = work.pieces[0].address;
    std::atomic<std::uint64_t>& word = *epoch;
    const std::uint64_t inside = enter(word);
    if (!opens()) [[unlikely]] {
      ++*other_entries;
      leave(word, inside);
      return false;
    }
    queue.push_wide_alone(work.id, completion);
    move_line(is_read ? local : place, is_read ? place : local);
    leave(word, inside);
    return true;
  }
#endif
  // The same of one that need not be signalled, wherever windows are possible. It counts as an
  // entry of another's.
  template <bool is_read>
  bool run_any(const SendWork& work) const {
    std::byte* const place = place_of(work);
    if (!matches<is_read>(work, place)) [[unlikely]] {
      return false;
    }
    ++*other_entries;
    std::atomic<std::uint64_t>& word = *epoch;
    const std::uint64_t inside = enter(word);
    const bool is_open = opens();
    if (is_open) [[likely]] {
      move<is_read>(work, place);
    }
    leave(word, inside);
    return is_open;
  }
  // The same for whoever has entered, of one that need not be signalled.
  template <bool is_read>
  [[gnu::always_inline]] bool run_inside(const SendWork& work) const {
    std::byte* const place = place_of(work);
    if (!matches<is_read>(work, place) || !opens()) [[unlikely]] {
      return false;
    }
    move<is_read>(work, place);
    return true;
  }

  // The parts of that, for whoever executes others, or several. Between enter and leave the target
  // takes nothing back; whether it has done so before is what opens() tells.
  [[gnu::always_inline]] std::byte* place_of(const SendWork& work) const {
    return reinterpret_cast<std::byte*>(work.remote.address + shift);  // anywhere, if it is wrong
  }
  template <bool is_read>
  [[gnu::always_inline]] bool matches(const SendWork& work, const std::byte* place) const {
    if (work.pieces.size() != 1) [[unlikely]] {
      return false;
    }
    const Sge& at = work.pieces[0];
    const auto begin = reinterpret_cast<std::uintptr_t>(place);
    return size_and_key(at) == piece && work.remote.key == remote_key &&
           reinterpret_cast<std::uintptr_t>(at.address) - local_base <= local_last &&
           begin - remote_base <= remote_last && (is_read || begin % cache_line_bytes == 0);
  }
  [[gnu::always_inline]] static std::uint64_t enter(std::atomic<std::uint64_t>& word) {
    const std::uint64_t inside = word.load(std::memory_order_relaxed) + 1;
    word.store(inside, std::memory_order_relaxed);
    // For the compiler alone: the target, who takes rights back, makes it a full fence.
    std::atomic_signal_fence(std::memory_order_seq_cst);
    return inside;
  }
  [[gnu::always_inline]] bool opens() const {
    return gate->load(std::memory_order_acquire) == grant;
  }
  [[gnu::always_inline]] static void leave(std::atomic<std::uint64_t>& word, std::uint64_t inside) {
    word.store(inside + 1, std::memory_order_release);
  }
  template <bool is_read>
  [[gnu::always_inline]] void move(const SendWork& work, std::byte* place) const {
    std::byte* const to = is_read ? work.pieces[0].address : place;
    const std::byte* const from = is_read ? place : work.pieces[0].address;
#ifdef REMORA_HAS_WINDOWS
    if (is_wide) [[likely]] {
      move_line(to, from);
      if (work.signalled) [[likely]] {
        completions->push_wide(work.id, completion);
      }
      return;
    }
#endif
    copy_line(to, from);
    if (work.signalled) [[likely]] {
      completions->push_words(work.id, completion[1], completion[2]);
    }
  }

  std::uint64_t piece = 0;                       // its size and key
  std::uint64_t remote_key = ~std::uint64_t{0};  // none that a request could have
  std::uint64_t shift = 0;                       // from the peer's addresses to those here
  // The part of the target's memory, by addresses here, where such a request leaves nothing else to
  // do; the last offset at which one begins.
  std::uint64_t remote_base = 0;
  std::uint64_t remote_last = 0;
  std::uint64_t local_base = 0;
  std::uint64_t local_last = 0;
  const std::atomic<std::uint64_t>* gate = nullptr;
  std::uint64_t grant = 0;
  std::atomic<std::uint64_t>* epoch = nullptr;
  Completions* completions = nullptr;
  bool is_wide = false;                          // this processor moves a line at once
  std::uint64_t* other_entries = nullptr;        // into the epoch, but for those that `run` makes
  std::array<std::uint64_t, 4> completion = {};  // see Completions::all_but_id

  // Whether there are windows here.
  static constexpr bool is_possible() {
#ifdef REMORA_HAS_WINDOWS
    return true;
#else
    return false;
#endif
  }

 private:
  // In ascending order, and no word is ever seen torn.
  [[gnu::always_inline]] static void copy_line(std::byte* to, const std::byte* from) {
#ifdef REMORA_HAS_WINDOWS
    for (std::size_t at = 0; at < size_bytes; at += sizeof(__m128i)) {
      const __m128i part = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + at));
      _mm_storeu_si128(reinterpret_cast<__m128i*>(to + at), part);
      asm volatile("" ::: "memory");
    }
#else
    std::memcpy(to, from, size_bytes);
#endif
  }
};

// A window for each of the opcodes that have one.
struct Windows {
  // Executes the request, a signalled one, and reports it; or leaves all as it was. Where
  // moves_lines().
  [[gnu::always_inline]] bool run(const SendWork& work) const {
#ifdef REMORA_HAS_WINDOWS
    const std::uint32_t way = work_way(work);
    if (way == work_way(Opcode::read, true)) {
      return reads.run<true>(work);
    }
    return way == work_way(Opcode::write, true) && writes.run<false>(work);
#else
    (void)work;
    return false;
#endif
  }
  // The same of one that need not be signalled: see Window::run_any.
  bool run_any(const SendWork& work) const {
    const std::uint32_t way = work_way(work);
    if (way == work_way(Opcode::read, work.signalled)) {
      return reads.run_any<true>(work);
    }
    return way == work_way(Opcode::write, work.signalled) && writes.run_any<false>(work);
  }
  // The same for whoever has entered.
  [[gnu::always_inline]] bool run_inside(const SendWork& work) const {
    const std::uint32_t way = work_way(work);
    if (way == work_way(Opcode::read, work.signalled)) {
      return reads.run_inside<true>(work);
    }
    return way == work_way(Opcode::write, work.signalled) && writes.run_inside<false>(work);
  }

  // The line of a request that will be executed soon, so that it comes meanwhile. An address that
  // is wrong does no harm.
  [[gnu::always_inline]] void ask_for(const SendWork& work) const {
    __builtin_prefetch((work.opcode == Opcode::read ? reads : writes).place_of(work));
  }

  Window reads;
  Window writes;
};

}  // namespace remora::fabric::nic
