// CommandStats: how often each command was run, failed and was refused, and how long some of its
// runs took: those that may take long, and one in `limits::timed_one_in` of all others, since to
// look at the clock twice costs more than many a command. For INFO and SLOWLOG.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/histogram.h"
#include "front/resp/limits.h"

namespace remora::resp {

struct CommandCounts {
  std::uint64_t calls = 0;
  std::uint64_t failed = 0;
  std::uint64_t refused = 0;
  std::uint64_t timed = 0;
  std::uint64_t timed_ns = 0;
};

// One that took long.
struct SlowCommand {
  std::uint64_t id = 0;
  std::uint64_t when_ms = 0;
  std::uint64_t took_ns = 0;
  std::vector<std::string> args;
  std::string peer;
  std::string name;
};

class CommandStats {
 public:
  // By place in the table.
  CommandCounts& of(std::size_t command) { return counts_[command]; }
  const CommandCounts& of(std::size_t command) const { return counts_[command]; }
  // Null where no run was timed.
  const Histogram* times(std::size_t command) const { return times_[command].get(); }
  void add_time(std::size_t command, std::uint64_t took_ns);
  // Whether the call of this number is one to be timed: one in so many, or every one.
  bool is_timed(std::uint64_t call) const { return (call & untimed_) == 0; }
  void time_every_call(bool is_every) { untimed_ = is_every ? 0 : limits::timed_one_in - 1; }

  // An error, by its first word.
  void add_error(std::string_view text);
  const std::map<std::string, std::uint64_t, std::less<>>& errors() const { return errors_; }

  // What INFO counts begins at nothing; slow commands stay.
  void reset();

  // --- Slow commands ---
  // From so many microseconds on; negative: none. And so many of them are kept.
  std::int64_t slow_from_us = limits::slow_from_us;
  std::size_t most_slow = limits::slow_kept;
  bool is_slow(std::uint64_t took_ns) const {
    return slow_from_us >= 0 && took_ns >= static_cast<std::uint64_t>(slow_from_us) * 1000;
  }
  void add_slow(SlowCommand&& slow);
  // The newest first.
  const std::deque<SlowCommand>& slow() const { return slow_; }
  void forget_slow() { slow_.clear(); }
  // How many there ever were.
  std::uint64_t slow_count() const { return last_slow_; }

 private:
  static constexpr std::size_t most_errors = 64;
  static_assert(std::has_single_bit(limits::timed_one_in));

  std::uint64_t untimed_ = limits::timed_one_in - 1;
  std::array<CommandCounts, limits::commands> counts_;
  std::array<std::unique_ptr<Histogram>, limits::commands> times_;
  std::map<std::string, std::uint64_t, std::less<>> errors_;
  std::uint64_t last_slow_ = 0;
  std::deque<SlowCommand> slow_;
};

}  // namespace remora::resp
