// Copies into memory that others watch meanwhile: bytes appear in ascending order, and no aligned
// word is ever seen torn.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/bytes.h"

#if defined(__SSE2__) && !defined(__SANITIZE_THREAD__)
#include <emmintrin.h>
#define REMORA_COPIES_PAIRS 1
#endif
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
#define REMORA_COPIES_LINES 1
#endif

#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
#define REMORA_MOVES_LINES 1
#endif

namespace remora::fabric::nic {

#ifdef REMORA_MOVES_LINES
// A line by one load and one store, where this processor can.
inline bool moves_lines() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl");
}
[[gnu::always_inline]] inline void move_line(std::byte* to, const std::byte* from) {
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
#else
inline bool moves_lines() {
  return false;
}
#endif

inline std::atomic_ref<std::uint64_t> word_at(std::byte* word) {
  return std::atomic_ref<std::uint64_t>(*reinterpret_cast<std::uint64_t*>(word));
}

inline void store_byte(std::byte* to, std::byte value) {
  std::atomic_ref<std::byte>(*to).store(value, std::memory_order_release);
}

// memcpy may store the end before the middle. Whoever watches the last byte must find all the
// others in place, so each store releases those before it; on x86 that costs nothing.
inline void copy_ascending(std::byte* to, ConstBytes from) {
  const std::byte* at = from.data();
  const std::byte* const end = at + from.size();
#ifdef REMORA_COPIES_PAIRS
  // One line, of which there are more than of anything else.
  if (from.size() == cache_line_bytes &&
      reinterpret_cast<std::uintptr_t>(to) % (2 * word_bytes) == 0) [[likely]] {
    for (std::size_t pair = 0; pair < cache_line_bytes; pair += 2 * word_bytes) {
      _mm_store_si128(reinterpret_cast<__m128i*>(to + pair),
                      _mm_loadu_si128(reinterpret_cast<const __m128i*>(at + pair)));
      asm volatile("" ::: "memory");
    }
    return;
  }
#endif
  for (; at < end && reinterpret_cast<std::uintptr_t>(to) % word_bytes != 0; ++at, ++to) {
    store_byte(to, *at);
  }
#ifdef REMORA_COPIES_PAIRS
  // Two words at once, which x86 stores together: a cold line then takes half of the places in the
  // store buffer. The barrier keeps the compiler from changing the order; the processor does not.
  if (static_cast<std::size_t>(end - at) >= 3 * word_bytes) {
    if (reinterpret_cast<std::uintptr_t>(to) % (2 * word_bytes) != 0) {
      word_at(to).store(load<std::uint64_t>(at), std::memory_order_release);
      at += word_bytes;
      to += word_bytes;
    }
    // Lines ahead are asked for, so that cold ones do not keep each other waiting.
    constexpr std::size_t ahead_bytes = 16 * cache_line_bytes;
    for (std::size_t line = cache_line_bytes;
         line < ahead_bytes && line < static_cast<std::size_t>(end - at);
         line += cache_line_bytes) {
      __builtin_prefetch(to + line, 1);
    }
    for (; static_cast<std::size_t>(end - at) > ahead_bytes;
         at += cache_line_bytes, to += cache_line_bytes) {
      __builtin_prefetch(to + ahead_bytes, 1);
      for (std::size_t pair = 0; pair < cache_line_bytes; pair += 2 * word_bytes) {
        _mm_store_si128(reinterpret_cast<__m128i*>(to + pair),
                        _mm_loadu_si128(reinterpret_cast<const __m128i*>(at + pair)));
        asm volatile("" ::: "memory");
      }
    }
    for (; static_cast<std::size_t>(end - at) >= 2 * word_bytes;
         at += 2 * word_bytes, to += 2 * word_bytes) {
      const __m128i pair = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
      _mm_store_si128(reinterpret_cast<__m128i*>(to), pair);
      asm volatile("" ::: "memory");
    }
  }
#endif
  for (; static_cast<std::size_t>(end - at) >= word_bytes; at += word_bytes, to += word_bytes) {
    word_at(to).store(load<std::uint64_t>(at), std::memory_order_release);
  }
  for (; at < end; ++at, ++to) {
    store_byte(to, *at);
  }
}

// The same of whole lines, to memory that is in the cache: as many as this processor moves at once,
// and returns how many bytes those were. What they come from then keeps fewer places of the
// processor waiting, so that more of it is under way.
inline std::size_t copy_lines_ascending(std::byte* to, ConstBytes from) {
  std::size_t at = 0;
#ifdef REMORA_COPIES_LINES
  constexpr std::size_t least_bytes = 1024;
  if (from.size() < least_bytes || reinterpret_cast<std::uintptr_t>(to) % cache_line_bytes != 0 ||
      !__builtin_cpu_supports("avx512f")) {
    return 0;
  }
  for (; from.size() - at >= 4 * cache_line_bytes; at += 4 * cache_line_bytes) {
    // Registers that code for any x86-64 does not know of: nothing else is in them.
    asm volatile(
        "vmovdqu64 (%[from]), %%zmm16\n\t"
        "vmovdqu64 64(%[from]), %%zmm17\n\t"
        "vmovdqu64 128(%[from]), %%zmm18\n\t"
        "vmovdqu64 192(%[from]), %%zmm19\n\t"
        "vmovdqu64 %%zmm16, (%[to])\n\t"
        "vmovdqu64 %%zmm17, 64(%[to])\n\t"
        "vmovdqu64 %%zmm18, 128(%[to])\n\t"
        "vmovdqu64 %%zmm19, 192(%[to])"
        :
        : [to] "r"(to + at), [from] "r"(from.data() + at)
        :
#ifdef __AVX512F__
        "xmm16", "xmm17", "xmm18", "xmm19",
#endif
        "memory");
  }
#else
  (void)to;
  (void)from;
#endif
  return at;
}

}  // namespace remora::fabric::nic
