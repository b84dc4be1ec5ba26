// How the mapped wire moves bytes to and from memory that others watch. Everything here is inline:
// the processor has so many instructions under way at a time, and the fewer a request takes, the
// more requests to cold memory wait side by side.
#pragma once

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include <cstring>

#include "base/racy_copy.h"
#include "fabric/nic/dma/ascending_copy.h"
#include "fabric/nic/wire/mapped/mapped_limits.h"

namespace remora::fabric::nic::mapped {

inline bool is_aligned(const std::byte* at, std::size_t size_bytes) {
  return reinterpret_cast<std::uintptr_t>(at) % size_bytes == 0;
}

// All but the last word in any order, then that.
inline void copy_last_word_last(std::byte* to, ConstBytes from) {
#if !defined(__SANITIZE_THREAD__)
  if (from.size() > limits::by_word_bytes) {
    const std::size_t head = -reinterpret_cast<std::uintptr_t>(to) % word_bytes;
    const std::size_t body = round_down(from.size() - head - word_bytes, word_bytes);
    copy_ascending(to, from.first(head));
    // Aligned and a multiple of words: no vector store splits one.
    std::memcpy(to + head, from.data() + head, body);
    __asm__ volatile("" : : : "memory");
    to += head + body;
    from = from.subspan(head + body);
  }
#endif
  copy_ascending(to, from);
}

// racy_copy_words, where a call would cost more than the copy; of what begins at no word, some may
// be taken in two parts.
inline void copy_out(std::byte* to, ConstBytes from) {
#if defined(REMORA_MOVES_LINES) && !defined(__SANITIZE_ADDRESS__)  // which does not see such moves
  if (from.size() <= limits::by_word_bytes && from.size() % cache_line_bytes == 0 &&
      moves_lines()) {
    for (std::size_t at = 0; at < from.size(); at += cache_line_bytes) {
      move_line(to + at, from.data() + at);
    }
    return;
  }
#endif
#if defined(__SSE2__) && !defined(__SANITIZE_THREAD__)
  constexpr std::size_t pair_bytes = 2 * word_bytes;
  if (from.size() <= limits::by_word_bytes && from.size() % pair_bytes == 0) {
    for (std::size_t at = 0; at < from.size(); at += pair_bytes) {
      const __m128i pair = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from.data() + at));
      _mm_storeu_si128(reinterpret_cast<__m128i*>(to + at), pair);
    }
    __asm__ volatile("" : : : "memory");
    return;
  }
#endif
  racy_copy_words(Bytes(to, from.size()), from);
}

}  // namespace remora::fabric::nic::mapped
