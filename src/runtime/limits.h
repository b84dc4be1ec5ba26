// Every bound and tuning constant of the runtime, on one page.
#pragma once

#include <cstddef>
#include <cstdint>

namespace remora::limits {

// Coroutine frames: blocks of up to frame_largest_bytes are kept for reuse, at most
// frames_kept_per_class of each size, per thread.
inline constexpr std::size_t frame_class_bytes = 64;
inline constexpr std::size_t frame_largest_bytes = 2048;
inline constexpr std::uint32_t frames_kept_per_class = 1024;

// PollLoop: idle turns before it parks, unless its options say otherwise.
inline constexpr std::uint32_t spin_turns = 2000;
// PollLoop: a sleep that something other than a timer ends sooner than this was not worth its
// price: waking up takes a good part of it. After one the loop stays awake for the second number
// beyond its idle turns before it sleeps again, twice as long after each further one, up to the
// third; and not at all after a sleep that lasted, nor when it has fewer idle turns than usual.
inline constexpr std::uint64_t short_park_ns = 200'000;
inline constexpr std::uint64_t stay_awake_first_ns = 100'000;
inline constexpr std::uint64_t stay_awake_longest_ns = 400'000;
// PollLoop: idle turns between two questions to its pollers whether more of them are of use.
inline constexpr std::uint32_t turns_per_spin_question = 8;
// PollLoop: idle turns between two reads of the clock while timers are armed.
inline constexpr std::uint32_t turns_per_clock_read = 16;
// PollLoop: how long it parks when something that it serves cannot wake it (a watch, a poller with
// no descriptor). Starts at the first, doubles while nothing happens, ends at the second.
inline constexpr std::uint64_t blind_park_first_ns = 20'000;
inline constexpr std::uint64_t blind_park_longest_ns = 1'000'000;
// PollLoop: functions posted by other threads that have not run yet.
inline constexpr std::size_t posted_functions = 1024;

// VirtualLoop: events before a run is taken for a runaway, unless its options say otherwise.
inline constexpr std::uint64_t virtual_events = 1'000'000'000;

}  // namespace remora::limits
