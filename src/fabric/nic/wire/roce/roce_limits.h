// Every bound and tuning constant of the roce wire, on one page.
#pragma once

#include <cstddef>
#include <cstdint>

#include "fabric/nic/wire.h"

namespace remora::fabric::nic::roce::limits {

// Where RoCEv2 is spoken.
inline constexpr std::uint16_t udp_port = 4791;

// The payloads of one packet that the standard knows.
inline constexpr std::uint32_t mtu_bytes_min = 256;
inline constexpr std::uint32_t mtu_bytes_max = 4096;
inline constexpr std::size_t icrc_bytes = 4;
// What an IP packet has around such a payload, at most: the headers of IPv6 and UDP, those of RoCE,
// and the checksum.
inline constexpr std::uint32_t around_bytes = 40 + 8 + max_header_bytes + icrc_bytes;

// Links of one wire; slots of the table take 10 bits of a LinkId, the generation the rest.
inline constexpr std::uint32_t slot_bits = 10;
inline constexpr std::uint32_t links_max = 1u << slot_bits;
inline constexpr std::uint32_t links = 256;

// One call sends so many packets at most, and so many bytes: what the kernel takes for one datagram
// that it cuts into segments.
inline constexpr std::size_t batch_packets = 64;
inline constexpr std::size_t batch_bytes = 65'000;
// So much is sent at once to a peer that waits for it, while more is being made ready: it works on
// it meanwhile. Each call costs both sides a microsecond or two, so a busy one has all at once.
inline constexpr std::size_t eager_bytes = 30'000;
// Whoever has sent so much and finds nothing to do has some microseconds until the answer.
inline constexpr std::size_t let_go_bytes = 16 << 10;
// One call may bring as many bytes as a datagram can have.
inline constexpr std::size_t receive_bytes = 1 << 16;

// What is asked for as the socket's buffers. The kernel gives an ordinary user less.
inline constexpr int socket_buffer_bytes = 8 << 20;
// The kernel charges a socket for more than the payload: so small a part of the buffer may be on
// its way to it in the packets of one queue pair.
inline constexpr std::uint32_t buffer_parts = 4;
// Four calls' worth: one is made ready, one is received, and neither side waits. More on the way is
// no faster, and leaves the caches before the receiver has copied it.
inline constexpr std::uint32_t window_bytes = 256 << 10;
inline constexpr std::uint32_t window_packets_min = 8;
inline constexpr std::uint32_t window_packets_max = 128;

// After so many polls that found nothing, a poll asks the socket (a system call) once in some, and
// less often while there is no link: what comes then is of no use.
inline constexpr std::uint32_t polls_until_idle = 4096;
inline constexpr std::uint32_t polls_per_idle_look = 8;
inline constexpr std::uint32_t polls_per_unlinked_look = 1024;

}  // namespace remora::fabric::nic::roce::limits
