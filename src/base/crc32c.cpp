#include "base/crc32c.h"

#include <isa-l/crc.h>

#include <algorithm>

#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

#include "base/wide_vectors.h"

namespace remora {

namespace {

// ISA-L takes its length as an int.
constexpr std::size_t library_bytes_max = std::size_t{1} << 30;

// The state of a checksum is its inverse; both of these turn one state into the next.
std::uint32_t by_library(ConstBytes bytes, std::uint32_t state) {
  while (!bytes.empty()) {
    const std::size_t taken = std::min(bytes.size(), library_bytes_max);
    auto* from = const_cast<std::byte*>(bytes.data());  // only read; the signature lacks a const
    state = crc32_iscsi(reinterpret_cast<unsigned char*>(from), static_cast<int>(taken), state);
    bytes = bytes.subspan(taken);
  }
  leave_wide_vectors();
  return state;
}

#if defined(__x86_64__)

// Below this the instruction wins, since ISA-L pays for its dispatch; from here on ISA-L folds
// blocks in parallel and wins by far (16 ns against 32 ns at 256 bytes on a Xeon with AVX-512).
constexpr std::size_t instruction_bytes_max = 255;

__attribute__((target("sse4.2"))) std::uint32_t by_instruction(ConstBytes bytes,
                                                               std::uint32_t state) {
  const std::byte* from = bytes.data();
  std::size_t left = bytes.size();
  std::uint64_t wide = state;
  for (; left >= 8; left -= 8, from += 8) {
    wide = _mm_crc32_u64(wide, load<std::uint64_t>(from));
  }
  state = static_cast<std::uint32_t>(wide);
  if (left & 4) {
    state = _mm_crc32_u32(state, load<std::uint32_t>(from));
    from += 4;
  }
  if (left & 2) {
    state = _mm_crc32_u16(state, load<std::uint16_t>(from));
    from += 2;
  }
  if (left & 1) {
    state = _mm_crc32_u8(state, load<std::uint8_t>(from));
  }
  return state;
}

// False until static initialisation has come here: a checksum taken earlier goes by the library.
const bool has_instruction = [] {
  __builtin_cpu_init();
  return __builtin_cpu_supports("sse4.2") != 0;
}();

#endif

}  // namespace

std::uint32_t crc32c(ConstBytes bytes, std::uint32_t seed) {
#if defined(__x86_64__)
  if (bytes.size() <= instruction_bytes_max && has_instruction) {
    return ~by_instruction(bytes, ~seed);
  }
#endif
  return ~by_library(bytes, ~seed);
}

}  // namespace remora
