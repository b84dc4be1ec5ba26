// Copies what is large into memory past the caches: whoever brings that much cold memory into them
// waits for it, and drives out what others need. Bytes appear in no order, but for the last line of
// the last part, which is stored when all the rest is visible.
#pragma once

#include "fabric/nic/dma/ascending_copy.h"

namespace remora::fabric::nic {

// Whole lines, to where a line begins; returns how many bytes those were. One store to a line: it
// takes no turn in a buffer where others have to complete it.
inline std::size_t stream_lines(std::byte* to, const std::byte* from, std::size_t size_bytes) {
  std::size_t at = 0;
#ifdef REMORA_COPIES_LINES
  if (!__builtin_cpu_supports("avx512f")) {
    return 0;
  }
  for (; size_bytes - at >= 4 * cache_line_bytes; at += 4 * cache_line_bytes) {
    // The registers are those of copy_lines_ascending.
    asm volatile(
        "vmovdqu64 (%[from]), %%zmm16\n\t"
        "vmovdqu64 64(%[from]), %%zmm17\n\t"
        "vmovdqu64 128(%[from]), %%zmm18\n\t"
        "vmovdqu64 192(%[from]), %%zmm19\n\t"
        "vmovntdq %%zmm16, (%[to])\n\t"
        "vmovntdq %%zmm17, 64(%[to])\n\t"
        "vmovntdq %%zmm18, 128(%[to])\n\t"
        "vmovntdq %%zmm19, 192(%[to])"
        :
        : [to] "r"(to + at), [from] "r"(from + at)
        :
#ifdef __AVX512F__
        "xmm16", "xmm17", "xmm18", "xmm19",
#endif
        "memory");
  }
#else
  (void)to;
  (void)from;
  (void)size_bytes;
#endif
  return at;
}

// One part of a message, from the first to the last; of one that is not the last, others may see
// the bytes no earlier than those of the last. No aligned word is ever seen torn.
inline void copy_streaming(std::byte* to, ConstBytes from, bool last) {
#ifdef REMORA_COPIES_PAIRS
  constexpr std::size_t line = cache_line_bytes;
  const std::size_t to_line = (line - reinterpret_cast<std::uintptr_t>(to) % line) % line;
  if (from.size() >= to_line + 2 * line) {
    copy_ascending(to, from.first(to_line));
    to += to_line;
    from = from.subspan(to_line);
    const std::size_t kept = from.size() % line + (last ? line : 0);
    const std::byte* at = from.data();
    const std::byte* const end = at + (from.size() - kept);
    const std::size_t done = stream_lines(to, at, from.size() - kept);
    at += done;
    to += done;
    for (; at < end; at += line, to += line) {
      for (std::size_t pair = 0; pair < line; pair += 2 * word_bytes) {
        _mm_stream_si128(reinterpret_cast<__m128i*>(to + pair),
                         _mm_loadu_si128(reinterpret_cast<const __m128i*>(at + pair)));
      }
    }
    from = from.last(kept);
  }
  if (last) {
    _mm_sfence();
  }
#else
  (void)last;
#endif
  copy_ascending(to, from);
}

}  // namespace remora::fabric::nic
