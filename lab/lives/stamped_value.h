// A value that tells whose it is and which version: "key version filler checksum". So a reader
// knows that it is whole, of that key, and which of the puts it comes from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace remora::lab {

// Of about that size; at least as long as its stamp.
std::string stamped_value(std::string_view key, std::uint64_t version, std::size_t size_bytes);

// The version, or nothing if the value is torn or another key's.
std::optional<std::uint64_t> stamp_of(std::string_view key, std::string_view value);

}  // namespace remora::lab
