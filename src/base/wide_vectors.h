// leave_wide_vectors: to be called after a library that may use AVX and does not clean up behind it
// (ISA-L's checksums do not). As long as the upper halves of vector registers hold something, every
// ordinary SSE instruction waits for the one before it that wrote the same register: code that
// copies runs at a fraction of its speed.
#pragma once

namespace remora {

inline void leave_wide_vectors() {
#if defined(__x86_64__) && !defined(__AVX__)
  if (__builtin_cpu_supports("avx")) {
    asm volatile("vzeroupper");
  }
#endif
}

}  // namespace remora
