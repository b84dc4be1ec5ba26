// Area: the memory that one line between two processes uses, on one side. What may happen to each
// of its bytes is known beforehand, so that a byte which is wrong is seen:
//
//   own      a pattern, the same in every process: read by peers, source of what is sent
//   target   peers WRITE here, each byte of their own area to the same place: it is blank or that
//   words    for atomics
//   landing  a slot for each request in flight: what a READ or an atomic brings
//   inbox    a slot for each receive
//
// Between these lie guards, which nobody writes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/bytes.h"

namespace remora::fabric::lives {

inline constexpr std::size_t slots = 16;
inline constexpr std::size_t transfer_bytes_max = 40 << 10;  // more than two packets
inline constexpr std::size_t message_bytes_max = 20 << 10;

struct Part {
  std::size_t begin;
  std::size_t size_bytes;
  constexpr std::size_t end() const { return begin + size_bytes; }
};

namespace area {
inline constexpr std::size_t guard_bytes = page_bytes;
inline constexpr Part own = {0, 64 << 10};
inline constexpr Part target = {own.end() + guard_bytes, own.size_bytes};
inline constexpr Part words = {target.end() + guard_bytes, page_bytes};
inline constexpr Part landing = {words.end() + guard_bytes, slots* transfer_bytes_max};
inline constexpr Part inbox = {landing.end() + guard_bytes, slots* message_bytes_max};
inline constexpr std::size_t size_bytes = inbox.end() + guard_bytes;

inline constexpr std::size_t add_word = words.begin;
inline constexpr std::size_t swap_word = words.begin + word_bytes;
inline constexpr std::size_t write_word = words.begin + 2 * word_bytes;
}  // namespace area

// The bytes of every own area.
ConstBytes own_pattern();

class Area {
 public:
  // `begin` is where it lies in the registered memory.
  Area(Bytes memory, std::size_t begin)
      : begin_(begin), bytes_(memory.subspan(begin, area::size_bytes)) {}

  std::size_t begin() const { return begin_; }
  std::byte* at(std::size_t offset) const { return bytes_.data() + offset; }
  std::uint64_t word(std::size_t offset) const { return load<std::uint64_t>(at(offset)); }

  // As it is before a load.
  void reset() const;
  // Empty, or which byte is not what a load may have left.
  std::string flaw() const;

  // Takes the memory for something else, all of it.
  void fill(std::byte value) const;
  // Empty, or where it is not that any more.
  std::string change_from(std::byte value) const;

 private:
  std::size_t begin_;
  Bytes bytes_;
};

}  // namespace remora::fabric::lives
