#include "bench/bare_memory.h"

#include <cpuid.h>
#include <immintrin.h>

#include <cstring>

#include "base/bytes.h"

namespace remora::bench {
namespace {

// Intrinsics that lose their const on the way.
template <typename T>
const T* vector_at(const std::byte* from) {
  return reinterpret_cast<const T*>(from);
}
template <typename T>
T* vector_at(std::byte* to) {
  return reinterpret_cast<T*>(to);
}

__attribute__((target("clwb"), noinline)) void write_back_clwb(std::byte* from,
                                                               std::size_t size_bytes) {
  for (std::size_t at = 0; at < size_bytes; at += cache_line_bytes) {
    _mm_clwb(from + at);
  }
}

__attribute__((target("clflushopt"), noinline)) void write_back_clflushopt(std::byte* from,
                                                                           std::size_t size_bytes) {
  for (std::size_t at = 0; at < size_bytes; at += cache_line_bytes) {
    _mm_clflushopt(from + at);
  }
}

__attribute__((noinline)) void write_back_clflush(std::byte* from, std::size_t size_bytes) {
  for (std::size_t at = 0; at < size_bytes; at += cache_line_bytes) {
    _mm_clflush(from + at);
  }
}

template <void (*write_back)(std::byte* from, std::size_t size_bytes)>
void persist_by(std::byte* to, const std::byte* from, std::size_t size_bytes) {
  std::memcpy(to, from, size_bytes);
  write_back(to, size_bytes);
  _mm_sfence();
}

__attribute__((target("clwb"))) void persist_clwb_in_line(std::byte* to, const std::byte* from,
                                                          std::size_t size_bytes) {
  std::memcpy(to, from, size_bytes);
  for (std::size_t at = 0; at < size_bytes; at += cache_line_bytes) {
    _mm_clwb(to + at);
  }
  _mm_sfence();
}

__attribute__((target("avx512f"))) void stream_avx512(std::byte* to, const std::byte* from,
                                                      std::size_t size_bytes) {
  for (std::size_t at = 0; at < size_bytes; at += cache_line_bytes) {
    _mm512_stream_si512(vector_at<__m512i>(to + at), _mm512_loadu_si512(from + at));
  }
  _mm_sfence();
}

__attribute__((target("avx2"))) void stream_avx2(std::byte* to, const std::byte* from,
                                                 std::size_t size_bytes) {
  for (std::size_t at = 0; at < size_bytes; at += sizeof(__m256i)) {
    _mm256_stream_si256(vector_at<__m256i>(to + at),
                        _mm256_loadu_si256(vector_at<__m256i>(from + at)));
  }
  _mm_sfence();
}

void stream_sse2(std::byte* to, const std::byte* from, std::size_t size_bytes) {
  for (std::size_t at = 0; at < size_bytes; at += sizeof(__m128i)) {
    _mm_stream_si128(vector_at<__m128i>(to + at), _mm_loadu_si128(vector_at<__m128i>(from + at)));
  }
  _mm_sfence();
}

// The features that cpuid lists in the second word of leaf 7.
unsigned extended_features() {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  return __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) != 0 ? ebx : 0;
}

}  // namespace

std::vector<BareWay> ways_to_persist() {
  std::vector<BareWay> ways;
  if ((extended_features() & bit_CLWB) != 0) {
    ways.push_back(
        {"clwb_by_call", "memcpy + clwb by a call + sfence", persist_by<write_back_clwb>});
    ways.push_back({"clwb_in_line", "memcpy + clwb in line + sfence", persist_clwb_in_line});
  }
  if ((extended_features() & bit_CLFLUSHOPT) != 0) {
    ways.push_back(
        {"clflushopt", "memcpy + clflushopt + sfence", persist_by<write_back_clflushopt>});
  }
  ways.push_back({"clflush", "memcpy + clflush + sfence", persist_by<write_back_clflush>});
  return ways;
}

std::vector<BareWay> ways_to_stream() {
  __builtin_cpu_init();
  std::vector<BareWay> ways;
  if (__builtin_cpu_supports("avx512f")) {
    ways.push_back({"avx512", "AVX-512 non-temporal stores + sfence", stream_avx512});
  }
  if (__builtin_cpu_supports("avx2")) {
    ways.push_back({"avx2", "AVX2 non-temporal stores + sfence", stream_avx2});
  }
  ways.push_back({"sse2", "SSE2 non-temporal stores + sfence", stream_sse2});
  return ways;
}

}  // namespace remora::bench
