// Every bound and tuning constant of the software RNIC, on one page.
#pragma once

#include <cstddef>
#include <cstdint>

namespace remora::fabric::nic::limits {

// Objects. Numbers and keys are an index and chance: the index bits must hold these.
inline constexpr std::uint32_t queue_pair_index_bits = 12;
inline constexpr std::uint32_t region_index_bits = 14;
inline constexpr std::uint32_t queue_pairs = (1U << queue_pair_index_bits) - 1;
inline constexpr std::uint32_t regions = (1U << region_index_bits) - 1;

// Per queue, and per completion queue. Some programs allocate exactly the maximum.
inline constexpr std::uint32_t work_requests = 16'384;
inline constexpr std::uint32_t completions = 65'536;
inline constexpr std::uint32_t pieces = 16;
// The parts in which the bytes of one packet may lie; of more, it is refused.
inline constexpr std::size_t parts = 32;
inline constexpr std::uint32_t inline_bytes = 512;
inline constexpr std::uint32_t reads_in_flight = 128;

// A message takes one sequence number per packet; half of the 2^24 numbers tell old from new.
inline constexpr std::uint32_t message_packets = 1U << 22;
inline constexpr std::uint32_t message_bytes = 1U << 30;

// Requester: packets that nobody acknowledged yet, and packets between two requests for an
// acknowledgement.
inline constexpr std::uint32_t unacknowledged_packets = 128;
inline constexpr std::uint32_t packets_per_acknowledgement = 64;
// So many keep a peer busy: what follows need not leave at once.
inline constexpr std::int32_t busy_packets = 8;
// How small losses make the window.
inline constexpr std::uint32_t smallest_window_packets = 4;
// How often a request is repeated on end because of rnr_retry 7.
inline constexpr std::uint8_t retry_for_ever = 7;

// Packets that one turn takes from the wire, and packets that one queue pair sends in one turn
// before the others have theirs.
inline constexpr std::size_t packets_per_turn = 64;
inline constexpr std::uint32_t responses_per_turn = 64;

// The same of what nobody acknowledges; a peer that has no time for more loses it.
inline constexpr std::uint32_t unreliable_packets_per_turn = 32;

// Address handles of a device: the index bits of their numbers must hold these.
inline constexpr std::uint32_t address_index_bits = 12;

// Turns that an answer which could be lent waits for the peer to take what it was lent before; then
// it is copied.
inline constexpr std::uint32_t turns_for_a_loan = 64;

// Packets that are expected at a time, and how much of the target of one is asked for ahead of it.
inline constexpr std::size_t expected_packets = 16;
inline constexpr std::uint64_t expected_bytes = 256;

// A WRITE from this size on is placed past the caches, on a wire that streams.
inline constexpr std::uint32_t streamed_bytes = 16 << 10;

// While one packet of a WRITE is placed, so much of where the next one goes is asked for.
inline constexpr std::size_t next_packet_bytes = 2048;

// How long a requester waits before it asks again for memory of its own that is not there.
inline constexpr std::uint64_t not_now_pause_ns = 20'000;
// How long an unreliable sender waits before it looks again for room on the way to a peer, and how
// often at most for one datagram, which others wait behind.
inline constexpr std::uint64_t no_room_pause_ns = 2'000;
inline constexpr std::uint64_t no_room_patience_ns = 1'000'000;

// Pin-down cache of page translations.
inline constexpr std::uint32_t cached_pages = 4096;
inline constexpr std::uint32_t cache_ways = 4;

// FLUSH to persistence on page media: how often the region is asked whether the commit is through,
// and when the responder gives up.
inline constexpr std::uint64_t persistence_poll_ns = 50'000;
inline constexpr std::uint64_t persistence_patience_ns = 10'000'000'000;
// How long a peer that asked again for it is to wait before it asks once more.
inline constexpr std::uint64_t persistence_pause_ns = 10'000'000;

// Wrong keys, bounds or rights that one link may show before it is cut off, and links that are
// remembered for it.
inline constexpr std::uint32_t access_violations = 16;
inline constexpr std::size_t offending_links = 1024;

}  // namespace remora::fabric::nic::limits
