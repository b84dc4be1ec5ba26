// Every bound and tuning constant of the mapped wire, on one page.
#pragma once

#include <cstddef>
#include <cstdint>

namespace remora::fabric::nic::mapped::limits {

// Rights that one peer may hold at a time: one for each queue pair and region.
inline constexpr std::uint32_t grants = 4096;
// Keys that one queue pair remembers. Those beyond go by the wire.
inline constexpr std::size_t keys = 64;
// Requests by the wire before a question that was not answered, or answered with no, is asked
// again: the target may not have been ready. Four times as many each time, up to the second number.
inline constexpr std::uint32_t asks_again_after = 16;
inline constexpr std::uint32_t asks_again_at_most_after = 65'536;

// Requests that one entry into the epoch covers: whoever takes rights back waits for no more.
inline constexpr std::size_t requests_per_entry = 64;
// So far ahead of the one that is executed, lines of those that were posted with it are asked for.
inline constexpr std::size_t requests_ahead = 8;

// From this size on a WRITE goes past the caches, or to page media by the file: a cold line that is
// stored to in part is read first, and from here on that costs more than the fence that
// past-the-cache stores need.
inline constexpr std::size_t past_cache_bytes = 2048;
// Up to this size words are stored one by one; from there on memcpy is faster.
inline constexpr std::size_t by_word_bytes = 256;

// Requests of several pieces go this way up to this size: they are put together first.
inline constexpr std::size_t gathered_bytes = 1 << 20;

// Ranges of one key that were written and not flushed; more are taken together.
inline constexpr std::size_t dirty_ranges = 8;

// Mappings up to this size get their page tables when they are made. The loop stands still
// meanwhile, and memory that nobody has touched is made too: of more, that can take longer than a
// peer waits for an acknowledgement.
inline constexpr std::uint64_t populated_bytes = std::uint64_t{256} << 20;

// A peer that stands still in the middle of an operation for so long while its rights are taken
// back is ended.
inline constexpr std::uint64_t stall_ns = 5'000'000'000;
// Between two looks at such a peer.
inline constexpr int look_ms = 1;

}  // namespace remora::fabric::nic::mapped::limits
