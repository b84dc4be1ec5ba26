#include "lab/workload/key_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "base/check.h"
#include "base/random.h"
#include "lab/workload/scatter.h"

namespace remora::workload {
namespace {

// In the order of their codes.
constexpr std::string_view digits =
    "-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz";
constexpr unsigned bits_per_digit = 6;
constexpr std::size_t digits_of_all = 11;  // hold any 64-bit number
static_assert(digits.size() == std::size_t{1} << bits_per_digit);

std::size_t digits_needed(std::uint64_t number) {
  const auto bits = static_cast<unsigned>(std::bit_width(number));
  return std::max(1u, (bits + bits_per_digit - 1) / bits_per_digit);
}

}  // namespace

KeyTexts::KeyTexts(SizeRange sizes) : sizes_(sizes) {
  REMORA_CHECK(sizes.low_bytes > 0 && sizes.low_bytes <= sizes.high_bytes &&
                   sizes.high_bytes <= largest_key_bytes,
               "no sizes for keys");
}

Result<KeyTexts> KeyTexts::parse(std::string_view text) {
  const Result<SizeRange> sizes = parse_size_range(text, {1, largest_key_bytes});
  if (!sizes.ok()) {
    return Status(Code::invalid_argument,
                  fmt::format("key size {}; write 16 or 8-64", sizes.status().message()));
  }
  return KeyTexts(*sizes);
}

std::uint64_t KeyTexts::capacity() const {
  return sizes_.low_bytes >= digits_of_all
             ? ~std::uint64_t{0}
             : std::uint64_t{1} << (bits_per_digit * sizes_.low_bytes);
}

// Texts of one size differ in the digits, which are a permutation of the numbers that fit. What is
// left of the size repeats them.
std::string_view KeyTexts::text_of(std::uint64_t number, KeyBuffer& buffer) const {
  std::size_t size = sizes_.low_bytes;
  if (sizes_.high_bytes != sizes_.low_bytes) {
    size += Random(number).below(sizes_.high_bytes - sizes_.low_bytes + 1);
  }
  size = std::max(size, digits_needed(number));
  const std::size_t count = std::min(size, digits_of_all);
  const unsigned bits = count == digits_of_all ? 64 : static_cast<unsigned>(count * bits_per_digit);
  std::uint64_t rest = permute(number, bits);
  for (std::size_t i = count; i > 0; --i) {
    buffer[i - 1] = digits[rest % digits.size()];
    rest /= digits.size();
  }
  for (std::size_t i = count; i < size; ++i) {
    buffer[i] = buffer[i - count];
  }
  return {buffer.data(), size};
}

}  // namespace remora::workload
