// Values that say who wrote them. The workload writes value_for(key, id, size); whatever a get
// returns is handed to identify, which tells a whole value from a torn one and from bytes that no
// workload wrote. Pure functions: any thread, no blocking, no failure but a broken contract.
//
// Every 8-byte word of a value is made from the key, the id and its own place, and can be turned
// back into the id. So a torn value tells which puts its pieces come from, and a word that was
// moved to another place, or lost, is noticed. Two values of one key agree in one word only, the
// second, which names the key. A tail shorter than a word may agree by chance (one byte: 1 in 256).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"

namespace remora {

// A value is at least its three first words: the id, the key, and the id mixed with the size.
inline constexpr std::size_t smallest_value_bytes = 3 * word_bytes;

// What one put writes. The id is unique among the puts of one key, and never 0.
struct Value {
  std::uint64_t id = 0;
  std::uint64_t size_bytes = 0;
  std::uint32_t checksum = 0;  // crc32c of the content

  bool operator==(const Value&) const = default;
};

enum class Wholeness : std::uint8_t {
  whole,    // exactly what value_for made for some key, id and size
  torn,     // made from pieces of values, or a piece of one
  foreign,  // not a value: its second word names no key
};

// What a reader got.
struct Identity {
  Wholeness wholeness = Wholeness::foreign;
  Value value;                    // the id means nothing unless whole
  std::uint64_t hash_of_key = 0;  // key_hash of the key it was written for; 0 when foreign
  std::string note;               // for a person: what the pieces are, unless whole
};

// A hash that also marks the second word of a value as such.
std::uint64_t key_hash(std::string_view key);

// The content of value `id` of `key`. size_bytes must be at least smallest_value_bytes.
std::vector<std::byte> value_for(std::string_view key, std::uint64_t id, std::size_t size_bytes);

// The same in place, with nothing allocated: value_for(key, id, into.size()).
void fill_value(std::string_view key, std::uint64_t id, Bytes into);

// Id, size and checksum of value_for(key, id, size_bytes): what a History records of a put.
Value describe_value(std::string_view key, std::uint64_t id, std::size_t size_bytes);

Identity identify(ConstBytes bytes);

}  // namespace remora
