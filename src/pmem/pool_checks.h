// The checks that a pool's structures carry, so that no damage of them is taken for what was
// written: a checksum in every entry of the block table and in every root, a check in each word of
// log control, and one total over all entries and roots, which notices those that are missing or
// stale. docs/formats/pool.md says the same.
//
// Any thread; no state.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "pmem/pool_format.h"

namespace remora {

// What is wrong in a pool that is opened all the same, and where.
struct PoolFinding {
  Offset place = 0;
  std::string what;
};
using PoolFindings = std::vector<PoolFinding>;

}  // namespace remora

namespace remora::pool_format {

// What to do about a pool that is damaged: the end of every message about it.
inline const std::string remedy =
    "; restore the pool from a backup, or save what is whole with: remora pool salvage FROM TO";

// The head of a chunk's entry, with its checksum.
std::uint64_t head_word(const ChunkHead& head, std::uint64_t block, std::uint64_t detail);

// A root in use, with its checksum: the word `in_use`.
std::uint64_t in_use_word(std::size_t index, std::uint64_t value, const std::array<char, 48>& name);

// What an entry or a root in use adds to the total. Entries that are zero, and roots that are not
// in use, add nothing.
std::uint64_t share_of(Offset place, const BlockEntry& entry);
std::uint64_t share_of(Offset place, const Root& root);

inline Offset total_place(const Header& header) {
  return header.log_control + offsetof(LogControl, total);
}

enum class ControlWord : std::uint8_t { epoch = 1, retired = 2 };

// Epochs and sequence numbers have 48 bits.
inline constexpr std::uint64_t control_limit = std::uint64_t{1} << 48;

// The value with its check, which is never zero: so a word of version 1 is told from one of
// version 2.
std::uint64_t control_word(ControlWord which, std::uint64_t value);
// Nothing when the check is wrong. A word of version 1 has none, and is taken only from a pool that
// says that it is of that version.
std::optional<std::uint64_t> control_value(ControlWord which, std::uint64_t word,
                                           std::uint32_t found_version);

// What version 1 had instead, for those who bring a pool up to date.
namespace version_one {

inline constexpr bool is_head(std::uint64_t word) {
  return (word & 0xff) == 1 || (word & 0xff) == 2;
}
// Requires is_head. Nothing when it has bits that meant nothing, or more blocks than a chunk.
std::optional<ChunkHead> from(std::uint64_t word, Account account);
// Version 1 knew no accounts.
std::uint64_t head_word(const ChunkHead& head);

}  // namespace version_one

}  // namespace remora::pool_format
