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
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/bytes.h"
#include "fabric/nic/core/completions.h"
#include "fabric/nic/core/work_shape.h"
#include "fabric/work.h"

#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
#include <emmintrin.h>
#define REMORA_HAS_WINDOWS 1
#endif

namespace remora::fabric::nic {

struct Window {
  static std::uint64_t size_and_key(const Sge& piece) {
    static_assert(offsetof(Sge, size_bytes) == 8 && offsetof(Sge, key) == 12);
    std::uint64_t both;
    std::memcpy(&both, reinterpret_cast<const std::byte*>(&piece) + 8, sizeof both);
    return both;
  }

  // Executes the request and reports it, or leaves all as it was.
  [[gnu::always_inline]] bool run(const SendWork& work) const {
    if (!matches(work)) [[unlikely]] {
      return false;
    }
    // Looked at once: the compiler takes it that a copy may have changed them.
    std::atomic<std::uint64_t>& word = *epoch;
    const std::uint64_t inside = enter(word);
    const bool is_open = opens();
    if (is_open) [[likely]] {
      move(work);
    } else {
      ++*idle_entries;
    }
    leave(word, inside);
    return is_open;
  }

  // The parts of run, for whoever executes several. Between enter and leave the target takes
  // nothing back; whether it has done so before is what opens() tells.
  [[gnu::always_inline]] bool matches(const SendWork& work) const {
    if (work_shape(work) != shape || work.pieces.size() != 1) [[unlikely]] {
      return false;
    }
    const Sge& at = work.pieces[0];
    const std::uint64_t local = reinterpret_cast<std::uintptr_t>(at.address) - local_base;
    const std::uint64_t offset = work.remote.address - remote_base;
    // One comparison for alignment and end: what is not aligned rotates to a number beyond any.
    return size_and_key(at) == piece && work.remote.key == remote_key && *changes == changes_then &&
           local <= local_last && std::rotr(offset, unit_bits) <= last_unit;
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
  [[gnu::always_inline]] void move(const SendWork& work) const {
    std::byte* const local = work.pieces[0].address;
    std::byte* const place = remote + (work.remote.address - remote_base);
#ifdef REMORA_HAS_WINDOWS
    if (way == Way::wide_read || way == Way::wide_write) [[likely]] {
      copy_line_at_once(way == Way::wide_read ? local : place,
                        way == Way::wide_read ? place : local);
      completions->push_wide(work.id, completion);
      return;
    }
#endif
    copy_line(is_read ? local : place, is_read ? place : local);
    if (is_signalled) {
      completions->push_words(work.id, completion[1], completion[2]);
    }
  }

  // Windows are for requests of one cache line: 64 bytes, aligned.
  static constexpr std::uint32_t size_bytes = cache_line_bytes;
  static constexpr int unit_bits = std::countr_zero(cache_line_bytes);

  std::uint64_t shape = ~std::uint64_t{0};  // matches no request
  std::uint64_t piece = 0;
  const std::uint64_t* changes = nullptr;  // of the device's memory: it is asked
  std::uint64_t changes_then = 0;
  std::uint64_t local_base = 0;
  std::uint64_t local_last = 0;  // the last offset at which such a piece begins
  // The part of the target's memory where such a request leaves nothing else to do.
  std::uint64_t remote_base = 0;
  std::uint64_t last_unit = 0;
  std::byte* remote = nullptr;
  const std::atomic<std::uint64_t>* gate = nullptr;
  std::uint64_t grant = 0;
  std::atomic<std::uint64_t>* epoch = nullptr;
  std::uint64_t* idle_entries = nullptr;  // into the epoch, where nothing is executed for a window
  Completions* completions = nullptr;
  RemoteKey remote_key = 0;
  // Signalled, by a processor that moves a line at once; or anything else.
  enum class Way : std::uint8_t { other, wide_read, wide_write } way = Way::other;
  bool is_read = false;
  bool is_signalled = false;
  // Its completion, but for the id: see Completions::push_wide.
  std::array<std::uint64_t, 4> completion = {};

  // Whether there are windows here.
  static constexpr bool is_possible() {
#ifdef REMORA_HAS_WINDOWS
    return true;
#else
    return false;
#endif
  }
  static bool is_wide_here();

 private:
#ifdef REMORA_HAS_WINDOWS
  [[gnu::always_inline]] static void copy_line_at_once(std::byte* to, const std::byte* from) {
    // A register that code for any x86-64 does not know of: nothing else is in it.
    asm volatile(
        "vmovdqu64 (%[from]), %%zmm16\n\t"
        "vmovdqu64 %%zmm16, (%[to])"
        :
        : [to] "r"(to), [from] "r"(from)
        :
#ifdef __AVX512F__
        "xmm16",
#endif
        "memory");
  }
#endif
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

inline bool Window::is_wide_here() {
#ifdef REMORA_HAS_WINDOWS
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl");
#else
  return false;
#endif
}

}  // namespace remora::fabric::nic
