// Every bound of the Redis front end, on one page.
#pragma once

#include <cstddef>
#include <cstdint>

namespace remora::resp::limits {

// A request: arguments, and the lines that say how many and how long. As Redis has them.
inline constexpr std::int64_t arguments = 1024 * 1024;
inline constexpr std::size_t line_bytes = 64 * 1024;
// Of clients that have not said who they are.
inline constexpr std::int64_t stranger_arguments = 10;
inline constexpr std::int64_t stranger_bulk_bytes = 16 * 1024;
// An argument is a value at most, and a request a little more than a few of them.
inline constexpr std::int64_t bulk_bytes = 16 << 20;
inline constexpr std::size_t request_bytes = std::size_t{64} << 20;

// What is read at once, shared by all connections. Of a request that is not whole, so much is put
// in front of what is read next; what is longer stays where it is, and the rest is received behind
// it.
inline constexpr std::size_t read_bytes = 64 * 1024;
inline constexpr std::size_t front_bytes = 16 * 1024;
// How long such a request is to be is believed up to so many times what came of it: a value of 1 MB
// then has its room at once, and a promise alone costs nothing.
inline constexpr std::size_t believed_times = 64;
// Values from this size on leave from the pool, without a copy, when the socket takes them.
inline constexpr std::size_t gather_bytes = 16 * 1024;
// Replies that wait: above the first, no more requests are taken from the client until they have
// left; above the second, it is cut off.
inline constexpr std::size_t output_pause_bytes = 1 << 20;
inline constexpr std::size_t output_bytes = std::size_t{256} << 20;
// All that connections keep, requests that are not whole and replies that nobody takes: above this
// who keeps most is cut off. Four times what one may have, and what a machine that serves thousands
// of clients can spare.
inline constexpr std::size_t kept_bytes = std::size_t{1} << 30;
// Replies that are kept until all that is ready was read.
inline constexpr std::size_t postponed_bytes = 128 * 1024;
// Buffers that are larger than this are given back when they are empty: the one that all share, and
// those of one connection.
inline constexpr std::size_t kept_buffer_bytes = 256 * 1024;
inline constexpr std::size_t idle_buffer_bytes = 1024;
// Given back to be used again soon (buffer.h): so many bytes in all, in blocks from this size on.
inline constexpr std::size_t spare_bytes = 32 << 20;
inline constexpr std::size_t spare_least_bytes = 64 * 1024;
// When clients that left have kept so much, what the process holds of it goes back to the system:
// so long after the first of it, since that takes a while, and others may come.
inline constexpr std::size_t trim_bytes = 16 << 20;
inline constexpr std::uint64_t trim_wait_ns = 1'000'000'000;

// Bytes that commands look at whose replies do not tell how many those are (LCS, BITCOUNT, BITPOS,
// KEYS, SCAN): from the first on a client lets others have their turn, and in EXEC no more of them
// are run behind the second, which is as much as the largest LCS. A key counts as so many bytes.
inline constexpr std::uint64_t turn_search_bytes = 1 << 20;
inline constexpr std::uint64_t exec_search_bytes = 16 << 20;
inline constexpr std::uint64_t key_search_bytes = 128;

// TLS handshakes under way: in all, of one guest, and how long; who began first makes way. And how
// many go on in one turn, since one takes up to some milliseconds of processor time.
inline constexpr std::size_t handshakes = 256;
inline constexpr std::size_t handshakes_of_guest = 64;
inline constexpr std::uint64_t handshake_ns = 5'000'000'000;
inline constexpr std::uint32_t handshakes_per_turn = 8;

// Connections that end because of what they send are read from until they hang up (farewells.h): so
// many at a time, so long, and so many bytes: as many as the longest value that Redis takes.
inline constexpr std::size_t farewells = 256;
inline constexpr std::uint64_t farewell_ns = 30'000'000'000;
inline constexpr std::uint64_t farewell_bytes = std::uint64_t{512} << 20;

// Commands that there are.
inline constexpr std::size_t commands = 128;
// Of commands that are not likely to take long, one in so many is timed; others are slow from so
// many microseconds on, and so many of them are kept, as Redis has it (SLOWLOG). Of each, so many
// arguments, and so many bytes of each.
inline constexpr std::uint64_t timed_one_in = 64;
inline constexpr std::size_t timed_arguments = 64;
inline constexpr std::int64_t slow_from_us = 10'000;
inline constexpr std::size_t slow_kept = 128;
inline constexpr std::size_t slow_most_kept = 10'000;
inline constexpr std::size_t slow_arguments = 32;
inline constexpr std::size_t slow_argument_bytes = 128;

// Events that took long, of each kind (LATENCY), as Redis has it.
inline constexpr std::size_t latency_samples = 160;
// What a line of MONITOR shows of its arguments, before escapes; and lines that wait for the end of
// a turn, beyond which they are lost.
inline constexpr std::size_t monitor_line_bytes = 64 * 1024;
inline constexpr std::size_t monitor_text_bytes = 64 << 20;
// DEBUG SLEEP.
inline constexpr int debug_sleep_s = 24 * 60 * 60;

// A request that rests on a value which is on its way looks for it again after so long.
inline constexpr std::uint64_t value_look_ns = 100'000;

// Of the name that a client gives itself; it is kept with every slow command of it.
inline constexpr std::size_t client_name_bytes = 128;

// Clients at a time, as Redis has it.
inline constexpr std::uint32_t clients = 10'000;
inline constexpr std::size_t accepts_per_turn = 64;
inline constexpr int events_per_turn = 256;
// In a loop that others keep busy: turns between two looks at the sockets.
inline constexpr std::uint32_t turns_per_look = 16;
// Looks at the sockets before a sleep, where they are worth it (short_waits.h): so long, about what
// a sleep costs. A sleep that was not longer than the second, with the way back from it, would have
// been one of those.
inline constexpr std::uint64_t look_before_sleep_ns = 10'000;
inline constexpr std::uint64_t short_sleep_ns = 40'000;
// Naps in which requests gather (gathering.h): where at least so many clients are among so many
// that were served last; the first, the longest and the shortest; what must have come to make one
// worth it; and how often they are passed over after clients had to wait for them.
inline constexpr std::uint32_t gather_clients = 16;
inline constexpr std::uint32_t gather_window = 256;
inline constexpr std::uint64_t gather_first_ns = 32'000;
inline constexpr std::uint64_t gather_longest_ns = 100'000;
inline constexpr std::uint64_t gather_shortest_ns = 8'000;
inline constexpr std::size_t gather_least = 3;
inline constexpr std::uint32_t gather_rest = 256;

}  // namespace remora::resp::limits
