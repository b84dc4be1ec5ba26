// Every bound and tuning constant of the ring wire, on one page.
#pragma once

#include <cstddef>
#include <cstdint>

namespace remora::fabric::nic::ring::limits {

// Rings: what a peer may ask for. A packet takes at most 3/8 of its ring, so that one always fits
// into a ring whose consumer has caught up, wherever the wrap is and however lazily it says so.
inline constexpr std::uint32_t ring_bytes_min = 4096;
inline constexpr std::uint32_t ring_bytes_max = 16 << 20;
inline constexpr std::uint32_t ring_bytes = 1 << 20;
inline constexpr std::uint32_t mtu_bytes_min = 256;
inline constexpr std::uint32_t mtu_bytes_max = 1 << 20;
// Pieces of this size stream as fast as larger ones, and the receiver copies one out while the
// sender fills the next.
inline constexpr std::uint32_t mtu_bytes = 16 << 10;
// The consumer tells its position once in this part of the ring.
inline constexpr std::size_t positions_per_lap = 8;

// Links of one wire; slots of the table take 8 bits of a LinkId, the generation the rest.
inline constexpr std::uint32_t links_max = 256;
inline constexpr std::uint32_t links = 64;
// The most packets taken from one link before the next has its turn.
inline constexpr std::size_t packets_per_link = 16;
// The lines of the next packet that a producer asks for when it has published one.
inline constexpr std::size_t lines_owned_ahead = 2;
// And those that it asks for each time that it finds nothing to do.
inline constexpr std::size_t lines_owned_idly = 8;

// Payload from this size on is lent, in whole lines (lending.h): of less, the second copy costs
// less than to look for it elsewhere.
inline constexpr std::uint32_t lent_bytes_min = 2048;
// Packets of one ring whose payload may be lent at a time, and the part of the ring that they may
// take: of a long queue, one side then copies some while the other takes what was lent.
inline constexpr std::size_t loans = 64;
inline constexpr std::size_t lent_part = 4;
// Memory files that one side may show, and what they may take of the other's address space.
inline constexpr std::size_t shown_memories = 64;
inline constexpr std::uint64_t shown_bytes = std::uint64_t{1} << 38;
// Requests by copies before memory is shown again to a peer that left its messages unread.
inline constexpr std::uint32_t shows_again_after = 1024;

// Handshakes under way at a time, and how long each may take.
inline constexpr std::size_t handshakes = 64;
inline constexpr std::uint64_t handshake_ns = 2'000'000'000;
inline constexpr int listen_backlog = 64;

// Polls of the loop between two looks at the sockets (a system call), while nobody sleeps.
inline constexpr std::uint32_t polls_per_socket_look = 512;
// Socket events and messages of one link that one look serves.
inline constexpr int socket_events = 32;
inline constexpr std::size_t messages_per_look = 16;

// Bytes of the reason in a refusal.
inline constexpr std::size_t refusal_text_bytes = 192;

}  // namespace remora::fabric::nic::ring::limits
