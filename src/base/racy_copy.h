// racy_copy: the one function that copies memory that a peer (another process, a device, another
// thread) may be changing or reading at the same time.
//
// What arrives may be torn at any byte: some of it old, some new. The caller finds out by a
// checksum, a version or a flag in what it copied; it must look at its copy and never again at the
// source. No order with other memory accesses is promised; code that needs one adds it.
//
// A plain copy is such a race by design, which ThreadSanitizer cannot know: under it the same bytes
// move by relaxed atomic accesses. Both sides of a race must go by this function to be silent.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/bytes.h"
#include "base/check.h"

namespace remora {

#if defined(__SANITIZE_THREAD__)

namespace racy {

template <typename T>
void copy_one(std::byte* to, const std::byte* from) {
  const T value = __atomic_load_n(reinterpret_cast<const T*>(from), __ATOMIC_RELAXED);
  __atomic_store_n(reinterpret_cast<T*>(to), value, __ATOMIC_RELAXED);
}

inline bool is_word_aligned(const std::byte* at) {
  return reinterpret_cast<std::uintptr_t>(at) % word_bytes == 0;
}

}  // namespace racy

#endif

// Copies all of `from` to the start of `to`, which must be as large; they must not overlap.
inline void racy_copy(Bytes to, ConstBytes from) {
  REMORA_CHECK(to.size() >= from.size(), "the copy does not fit its target");
#if defined(__SANITIZE_THREAD__)
  for (std::size_t at = 0; at < from.size();) {
    const bool word = from.size() - at >= word_bytes && racy::is_word_aligned(&to[at]) &&
                      racy::is_word_aligned(&from[at]);
    if (word) {
      racy::copy_one<std::uint64_t>(&to[at], &from[at]);
    } else {
      racy::copy_one<std::uint8_t>(&to[at], &from[at]);
    }
    at += word ? word_bytes : 1;
  }
#else
  if (from.empty()) {
    return;
  }
  std::memcpy(to.data(), from.data(), from.size());
  // Keeps the compiler from reading the source again where the program reads the copy.
  __asm__ volatile("" : : "r"(to.data()), "r"(from.data()) : "memory");
#endif
}

// The same, and no aligned word of the source is taken in two parts: what a peer stores to it by
// one store arrives whole, or not at all.
inline void racy_copy_words(Bytes to, ConstBytes from) {
  REMORA_CHECK(to.size() >= from.size(), "the copy does not fit its target");
  const std::size_t before = -reinterpret_cast<std::uintptr_t>(from.data()) % word_bytes;
#if !defined(__SANITIZE_THREAD__)
  // Loads of any size then begin and end between two words, also those that overlap.
  if (before == 0 && from.size() % word_bytes == 0 &&
      reinterpret_cast<std::uintptr_t>(to.data()) % word_bytes == 0) [[likely]] {
    racy_copy(to, from);
    return;
  }
#endif
  std::size_t at = std::min(before, from.size());
  racy_copy(to, from.first(at));
  for (; from.size() - at >= word_bytes; at += word_bytes) {
    const std::uint64_t word =
        __atomic_load_n(reinterpret_cast<const std::uint64_t*>(from.data() + at), __ATOMIC_RELAXED);
    racy_copy(to.subspan(at), object_bytes(word));
  }
  racy_copy(to.subspan(at), from.subspan(at));
}

}  // namespace remora
