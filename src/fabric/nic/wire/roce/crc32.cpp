#include "fabric/nic/wire/roce/crc32.h"

#include <isa-l/crc.h>

#include <array>

#include "base/racy_copy.h"
#include "base/wide_vectors.h"

#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
#include <immintrin.h>
#define REMORA_COPIES_WITH_CRC 1
#endif

namespace remora::fabric::nic::roce {

std::uint32_t crc32(ConstBytes bytes, std::uint32_t seed) {
  const std::uint32_t crc =
      crc32_gzip_refl(seed, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
  leave_wide_vectors();
  return crc;
}

#ifdef REMORA_COPIES_WITH_CRC

namespace {

#define REMORA_WIDE __attribute__((target("avx512f,vpclmulqdq")))

constexpr std::size_t vector_bytes = 64;
constexpr std::size_t stride_bytes = 4 * vector_bytes;

// x to this power, modulo the polynomial; bit 31 is the constant.
constexpr std::uint32_t x_to(std::size_t power) {
  std::uint32_t value = 0x80000000;
  for (; power != 0; --power) {
    value = (value & 1) != 0 ? value >> 1 ^ 0xedb88320 : value >> 1;
  }
  return value;
}

// What the two halves of 16 bytes are multiplied with, so that the sum of the products stands for
// them so many bytes further on. A product of reflected numbers is one bit short.
struct Fold {
  explicit constexpr Fold(std::size_t bytes)
      : low(static_cast<long long>(std::uint64_t{x_to(8 * bytes + 32)} << 1)),
        high(static_cast<long long>(std::uint64_t{x_to(8 * bytes - 32)} << 1)) {}
  long long low;
  long long high;
};

REMORA_WIDE inline __m512i by(const Fold& fold) {
  return _mm512_set_epi64(fold.high, fold.low, fold.high, fold.low, fold.high, fold.low, fold.high,
                          fold.low);
}

REMORA_WIDE inline __m512i folded(__m512i value, __m512i by, __m512i onto) {
  constexpr int exclusive_or = 0x96;
  return _mm512_ternarylogic_epi64(_mm512_clmulepi64_epi128(value, by, 0x00),
                                   _mm512_clmulepi64_epi128(value, by, 0x11), onto, exclusive_or);
}

REMORA_WIDE inline __m512i moved(std::byte* to, const std::byte* from) {
  const __m512i bytes = _mm512_loadu_si512(from);
  _mm512_storeu_si512(to, bytes);
  return bytes;
}

// Copies whole strides, one at least. What remains has their checksum, if nothing is inverted
// before it.
REMORA_WIDE void copy_strides(std::byte* to, const std::byte* from, std::size_t size_bytes,
                              std::uint32_t seed, std::array<std::byte, vector_bytes>& remains) {
  constexpr Fold stride(stride_bytes);
  constexpr Fold vector(vector_bytes);
  const __m512i by_stride = by(stride);
  const __m512i by_vector = by(vector);
  const __m128i inverted = _mm_cvtsi32_si128(static_cast<int>(~seed));
  __m512i a = _mm512_xor_si512(moved(to, from), _mm512_zextsi128_si512(inverted));
  __m512i b = moved(to + vector_bytes, from + vector_bytes);
  __m512i c = moved(to + 2 * vector_bytes, from + 2 * vector_bytes);
  __m512i d = moved(to + 3 * vector_bytes, from + 3 * vector_bytes);
  for (std::size_t at = stride_bytes; at < size_bytes; at += stride_bytes) {
    to += stride_bytes;
    from += stride_bytes;
    a = folded(a, by_stride, moved(to, from));
    b = folded(b, by_stride, moved(to + vector_bytes, from + vector_bytes));
    c = folded(c, by_stride, moved(to + 2 * vector_bytes, from + 2 * vector_bytes));
    d = folded(d, by_stride, moved(to + 3 * vector_bytes, from + 3 * vector_bytes));
  }
  b = folded(a, by_vector, b);
  c = folded(b, by_vector, c);
  d = folded(c, by_vector, d);
  _mm512_storeu_si512(remains.data(), d);
}

bool can_copy_strides() {
  static const bool can = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("vpclmulqdq");
  return can;
}

}  // namespace

#endif

std::uint32_t copy_with_crc32(Bytes to, ConstBytes bytes, std::uint32_t seed) {
#ifdef REMORA_COPIES_WITH_CRC
  constexpr std::size_t least_bytes = 2 * stride_bytes;
  if (bytes.size() >= least_bytes && can_copy_strides()) {
    const std::size_t whole = bytes.size() / stride_bytes * stride_bytes;
    std::array<std::byte, vector_bytes> remains;
    copy_strides(to.data(), bytes.data(), whole, seed, remains);
    seed = crc32(remains, ~std::uint32_t{0});
    to = to.subspan(whole);
    bytes = bytes.subspan(whole);
  }
#endif
  if (bytes.empty()) {
    return seed;
  }
  racy_copy(to, bytes);
  return crc32(to.first(bytes.size()), seed);
}

}  // namespace remora::fabric::nic::roce
