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

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/bytes.h"
#include "fabric/nic/core/completions.h"
#include "fabric/work.h"

#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
#include <emmintrin.h>
#define REMORA_HAS_WINDOWS 1
#endif

namespace remora::fabric::nic {

struct Window {
  // The first bytes of a request behind its id: what it is, and how it is to be done.
  static std::uint64_t shape_of(const SendWork& work) {
    constexpr std::uint64_t flags = 0xff'ffff'ffff;
    static_assert(offsetof(SendWork, opcode) == 8 && offsetof(SendWork, solicited) == 12);
    std::uint64_t shape;
    std::memcpy(&shape, reinterpret_cast<const std::byte*>(&work) + 8, sizeof shape);
    return shape & flags;
  }
  static std::uint64_t size_and_key(const Sge& piece) {
    static_assert(offsetof(Sge, size_bytes) == 8 && offsetof(Sge, key) == 12);
    std::uint64_t both;
    std::memcpy(&both, reinterpret_cast<const std::byte*>(&piece) + 8, sizeof both);
    return both;
  }

  // Executes the request and reports it, or leaves all as it was.
  [[gnu::always_inline]] bool run(const SendWork& work) const {
    std::byte* const place = find(work);
    if (place == nullptr) [[unlikely]] {
      return false;
    }
    const std::uint64_t inside = enter();
    const bool is_open = opens();
    if (is_open) [[likely]] {
      move(work, place);
    }
    leave(inside);
    return is_open;
  }

  // The parts of run, for whoever executes several. Between enter and leave the target takes
  // nothing back; whether it has done so before is what opens() tells.
  [[gnu::always_inline]] std::byte* find(const SendWork& work) const {
    if (shape_of(work) != shape || work.pieces.size() != 1) [[unlikely]] {
      return nullptr;
    }
    const Sge& at = work.pieces[0];
    const std::uint64_t local = reinterpret_cast<std::uintptr_t>(at.address) - local_base;
    const std::uint64_t offset = work.remote.address - remote_base;
    // One comparison for alignment and end: what is not aligned rotates to a number beyond any.
    const bool is_fine = size_and_key(at) == piece && work.remote.key == remote_key &&
                         *changes == changes_then && local <= local_last &&
                         std::rotr(offset, unit_bits) <= last_unit;
    return is_fine ? remote + offset : nullptr;
  }
  [[gnu::always_inline]] std::uint64_t enter() const {
    const std::uint64_t inside = epoch->load(std::memory_order_relaxed) + 1;
    epoch->store(inside, std::memory_order_relaxed);
    // For the compiler alone: the target, who takes rights back, makes it a full fence.
    std::atomic_signal_fence(std::memory_order_seq_cst);
    return inside;
  }
  [[gnu::always_inline]] bool opens() const {
    return gate->load(std::memory_order_acquire) == grant;
  }
  [[gnu::always_inline]] void leave(std::uint64_t inside) const {
    epoch->store(inside + 1, std::memory_order_release);
  }
  [[gnu::always_inline]] void move(const SendWork& work, std::byte* place) const {
    std::byte* const local = work.pieces[0].address;
    copy_line(is_read ? local : place, is_read ? place : local);
    if (is_signalled) {
      completions->push_words(work.id, how, what);
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
  Completions* completions = nullptr;
  std::uint64_t how = 0;  // the second and the third word of its completion
  std::uint64_t what = 0;
  RemoteKey remote_key = 0;
  bool is_read = false;
  bool is_signalled = false;

  bool is_wide = false;  // this processor moves a line at once

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
  // In ascending order, and no word is ever seen torn.
  [[gnu::always_inline]] void copy_line(std::byte* to, const std::byte* from) const {
#ifdef REMORA_HAS_WINDOWS
    if (is_wide) [[likely]] {
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
      return;
    }
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
  return __builtin_cpu_supports("avx512f");
#else
  return false;
#endif
}

}  // namespace remora::fabric::nic
