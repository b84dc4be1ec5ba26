// Key numbers to the bytes of keys. A text is a function of the number and of the sizes alone, and
// no two numbers have the same. The texts are of letters, digits, '-' and '_'; neighbours in number
// are far apart in order, as with YCSB's hashed inserts.
//
// Any thread; nothing allocates.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "lab/workload/text.h"

namespace remora::workload {

inline constexpr std::size_t largest_key_bytes = 1024;

using KeyBuffer = std::array<char, largest_key_bytes>;

class KeyTexts {
 public:
  // Sizes are drawn uniformly from the range, by the number. It lies within 1 .. largest_key_bytes.
  explicit KeyTexts(SizeRange sizes);

  // "16" or "8-64"; invalid_argument with a message that says what would be right.
  static Result<KeyTexts> parse(std::string_view text);

  // The text of key `number`, in `buffer`. A number that does not fit the smallest size, being
  // capacity() or more, has a longer text than asked for, and is unique still.
  std::string_view text_of(std::uint64_t number, KeyBuffer& buffer) const;

  // How many keys fit the smallest size: 64 in one byte, 4096 in two.
  std::uint64_t capacity() const;

  const SizeRange& sizes() const { return sizes_; }
  std::string to_string() const { return workload::to_string(sizes_); }

 private:
  SizeRange sizes_;
};

}  // namespace remora::workload
